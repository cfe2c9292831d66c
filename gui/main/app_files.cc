// SPDX-License-Identifier: Apache-2.0
//
// Opening, comparing and exporting files, and the dialogs for them.
#include <algorithm>
#include <span>
#include <utility>

#include "gui/main/app.h"
#include "gui/main/view_command.h"
#include "gui/widgets/keys.h"
#include "traces/base/file.h"

namespace penstock::gui {

namespace fs = std::filesystem;

void App::UseNativeDialogs(const std::string& search_path) {
  dialogs_.native = std::make_unique<NativeDialog>(search_path, wake_);
}

void App::ShowSweep(Sweep sweep) {
  jobs_.error.reset();
  workspace_.sweep.Show(std::move(sweep));
  workspace_.view = ViewId::kSweep;
  style_.stale = true;  // the sweep's texts may need characters that are not loaded
}

void App::ShowOther(Document document) {
  workspace_.compare.other = std::move(document);
  style_.stale = true;
}

void App::OpenOther(const fs::path& path) {
  jobs_.error.reset();
  workspace_.view = ViewId::kCompare;
  if (jobs_.other) {
    jobs_.other->Cancel();
    jobs_.retired.push_back(std::move(jobs_.other));
  }
  jobs_.other = std::make_unique<LoadJob>(path, wake_);
}

void App::PollOther() {
  if (!jobs_.other) return;
  if (jobs_.other->following() && jobs_.other->document().complete()) {
    // A trace that is being written is compared in its present state.
    settings_.Remember(jobs_.other->path());
    ShowOther(jobs_.other->document());
    jobs_.other->Cancel();
    jobs_.retired.push_back(std::move(jobs_.other));
    return;
  }
  if (!jobs_.other->finished()) return;
  if (const auto error = jobs_.other->error()) {
    jobs_.error = error;
    jobs_.failed = jobs_.other->path();
  } else {
    settings_.Remember(jobs_.other->path());
    ShowOther(jobs_.other->document());
  }
  jobs_.other.reset();
}

void App::Dropped(const std::vector<fs::path>& paths) {
  const fs::path* first = nullptr;
  const fs::path* second = nullptr;
  for (const fs::path& path : paths) {
    if (KindOf(path) == FileKind::kJson) {
      Open(path);
    } else if (first == nullptr) {
      first = &path;
    } else if (second == nullptr) {
      second = &path;
    }
  }
  // In the compare view a single dropped trace becomes the one to compare with.
  const bool compare = workspace_.view == ViewId::kCompare && workspace_.document.open();
  if (first != nullptr && second == nullptr && compare) return OpenOther(*first);
  if (first != nullptr) Opened(*first, false);
  if (second != nullptr) OpenOther(*second);
}

bool App::waiting() const {
  const auto busy = [](const auto& job) { return job && !job->finished(); };
  const bool comparing = busy(workspace_.compare.job) || busy(workspace_.compare.next);
  return comparing || (notice_.shown() && !notice_.failed());
}

fs::path App::Folder() const {
  std::error_code error;
  if (!settings_.folder.empty() && fs::is_directory(settings_.folder, error)) {
    return settings_.folder;
  }
  if (workspace_.document.open()) return workspace_.document.path.parent_path();
  return fs::current_path(error);
}

void App::Choose(bool other) {
  dialogs_.choosing_other = other;
  const Text title = other ? Text::kOpenToCompare : Text::kChooseFile;
  if (dialogs_.native && dialogs_.native->running()) return;
  if (dialogs_.native && dialogs_.native->available()) {
    dialogs_.exporting.reset();
    dialogs_.native->Start(DialogPurpose::kOpen, ui_.T(title), Folder());
  } else {
    dialogs_.chooser.Show(Folder() / "file", title);
  }
}

void App::Opened(const fs::path& path, bool other) {
  settings_.folder = fs::absolute(path).parent_path();
  const bool trace = KindOf(path) != FileKind::kJson;
  if (other && trace) return OpenOther(path);
  // A person who opens a trace wants to see it.
  if (trace && workspace_.view == ViewId::kSweep) workspace_.view = ViewId::kOverview;
  Open(path);
}

void App::GrantWish() {
  const FileWish wish = std::exchange(workspace_.wish, FileWish{});
  switch (wish.kind) {
    case WishKind::kNone:
      return;
    case WishKind::kChoose:
      return Choose(false);
    case WishKind::kChooseOther:
      return Choose(true);
    case WishKind::kOpen:
      workspace_.view = ViewId::kOverview;
      return Open(wish.path);
    case WishKind::kCompare:
      Open(wish.path);
      return OpenOther(wish.other);
    case WishKind::kSwap:
      if (Reading() != nullptr) return;  // one of the two traces is still being loaded
      break;
  }
  StopFollowing();  // a followed trace, now B, is not read any further
  Document a = std::exchange(workspace_.compare.other, workspace_.document);
  // The trace that becomes A is not followed either. It is shown as it was when it was read.
  if (a.live == Live::kWriting) a.live = Live::kNo;
  Show(std::move(a));
}

void App::Export(ExportKind kind) {
  if (!CanExport(workspace_, kind)) return;
  const fs::path proposed = ProposedExport(workspace_, kind);
  const auto infos = Exports();
  const auto info = std::find_if(infos.begin(), infos.end(),
                                 [&](const ExportInfo& one) { return one.kind == kind; });
  const std::string title =
      std::string(ui_.T(Text::kSaveAs)) + ui_.T(Text::kColon) + ui_.T(info->title);
  if (dialogs_.native && dialogs_.native->running()) return;
  dialogs_.exporting = kind;
  if (dialogs_.native && dialogs_.native->available()) {
    dialogs_.native->Start(DialogPurpose::kSave, title, fs::absolute(proposed));
  } else {
    dialogs_.save.Show(proposed, title);
  }
}

void App::Write(ExportKind kind, const fs::path& path) {
  settings_.folder = fs::absolute(path).parent_path();
  if (kind == ExportKind::kPicture) {
    notice_.Clear();
    return picture_.Want(path);
  }
  const Result<std::string> text = ExportText(workspace_, kind, ui_.language);
  if (!text) return Saved(path, Result<void>(tl::unexpected<Error>(text.error())));
  Saved(path, WriteWhole(path, std::as_bytes(std::span(*text))));
}

void App::CopyCommand() {
  const std::string command = ViewCommand(workspace_);
  if (command.empty()) return;
  workspace_.CopyText(command);
  notice_.Say(ui_.F(Text::kCommandCopied, command), false);
}

void App::Saved(const fs::path& path, const Result<void>& done) {
  notice_.Say(
      done ? ui_.F(Text::kSaved, path.string()) : ui_.F(Text::kNotSaved, done.error().message),
      !done);
  wake_();
}

void App::FileKeys() {
  const ImGuiIO& io = ImGui::GetIO();
  if (!io.KeyCtrl || dialogs_.chooser.open() || dialogs_.save.open()) return;
  if (Pressed(Key::kO)) Choose(io.KeyShift && workspace_.document.open());
  if (Pressed(Key::kR)) dialogs_.recent.Open();
  if (Pressed(Key::kE)) dialogs_.export_menu = true;
  if (!io.KeyShift && Pressed(Key::kP)) dialogs_.commands.Open();
  if (io.KeyShift && Pressed(Key::kP)) Export(ExportKind::kPicture);
  if (io.KeyShift && Pressed(Key::kH)) Export(ExportKind::kReport);
  if (io.KeyShift && Pressed(Key::kC)) CopyCommand();
}

// Draws the buttons of the bar and their lists.
void App::DrawFileMenus() {
  if (ImGui::Button(ui_.T(Text::kOpen))) Choose(false);
  Tip(ui_, ui_.T(Text::kOpenTip));
  ImGui::SameLine(0, ui_.Px(1));
  if (ImGui::ArrowButton("##recent", ImGuiDir_Down)) dialogs_.open_menu = true;
  Tip(ui_, ui_.T(Text::kOpenMenuTip));
  const ImVec2 below_open{ImGui::GetItemRectMin().x, ImGui::GetItemRectMax().y + ui_.Px(4)};
  ImGui::SameLine(0, ui_.Px(6));
  if (ImGui::Button(ui_.T(Text::kExport))) dialogs_.export_menu = true;
  Tip(ui_, ui_.T(Text::kExportTip));
  const ImVec2 below_export{ImGui::GetItemRectMin().x, ImGui::GetItemRectMax().y + ui_.Px(4)};
  const ImVec2 after = ImGui::GetItemRectMax();
  const float top = ImGui::GetItemRectMin().y;
  if (std::exchange(dialogs_.open_menu, false)) ImGui::OpenPopup("open menu");
  if (std::exchange(dialogs_.export_menu, false)) ImGui::OpenPopup("export menu");

  ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, ImVec2(ui_.Px(10), ui_.Px(8)));
  ImGui::SetNextWindowPos(below_open, ImGuiCond_Always, {0.5F, 0});
  if (ImGui::BeginPopup("open menu")) {
    if (Pressed(Key::kEscape)) ImGui::CloseCurrentPopup();
    if (ImGui::MenuItem(ui_.T(Text::kOpenDots), "Ctrl+O")) Choose(false);
    if (ImGui::MenuItem(ui_.T(Text::kOpenCompareDots), "Ctrl+Shift+O", false,
                        workspace_.document.open())) {
      Choose(true);
    }
    ImGui::Separator();
    if (settings_.recent.empty()) {
      ImGui::TextColored(Tint(ui_.palette().dim), "%s", ui_.T(Text::kNoRecent));
    }
    std::optional<fs::path> chosen;
    for (const fs::path& path : settings_.recent) {
      ImGui::PushID(path.c_str());
      if (ImGui::MenuItem(Elided(ui_.body, path.filename().string(), ui_.Px(300)).c_str())) {
        chosen = path;
      }
      Tip(ui_, path.string());
      ImGui::PopID();
    }
    if (chosen) Opened(*chosen, false);
    ImGui::EndPopup();
  }
  ImGui::SetNextWindowPos(below_export, ImGuiCond_Always, {0.5F, 0});
  if (ImGui::BeginPopup("export menu")) {
    if (Pressed(Key::kEscape)) ImGui::CloseCurrentPopup();
    for (const ExportInfo& info : Exports()) {
      if (ImGui::MenuItem(ui_.T(info.title), ExportKeys(info.kind), false,
                          CanExport(workspace_, info.kind))) {
        Export(info.kind);
      }
    }
    ImGui::Separator();
    if (ImGui::MenuItem(ui_.T(Text::kCopyCommand), kCopyCommandKeys, false,
                        HasViewCommand(workspace_))) {
      CopyCommand();
    }
    ImGui::EndPopup();
  }
  ImGui::PopStyleVar();
  // The next item on this line begins after the last button.
  ImGui::SetCursorScreenPos({after.x, top});
  ImGui::Dummy({0, after.y - top});
}

void App::DrawDialogs() {
  if (const auto chosen = dialogs_.chooser.Draw(ui_)) Opened(*chosen, dialogs_.choosing_other);
  if (const auto name = dialogs_.save.Draw(ui_)) {
    if (dialogs_.exporting) Write(*dialogs_.exporting, *name);
    dialogs_.exporting.reset();
  }
  if (dialogs_.native) {
    if (const auto outcome = dialogs_.native->Take()) {
      const auto exporting = std::exchange(dialogs_.exporting, std::nullopt);
      if (outcome->kind == DialogOutcome::Kind::kFailed) {
        // The desktop's dialog failed, so the window's own one opens.
        if (exporting) {
          Export(*exporting);
        } else {
          Choose(dialogs_.choosing_other);
        }
      } else if (outcome->kind == DialogOutcome::Kind::kChosen) {
        if (exporting) {
          Write(*exporting, outcome->path);
        } else {
          Opened(outcome->path, dialogs_.choosing_other);
        }
      }
    }
    if (dialogs_.native->running() && !picture_.pending()) {
      const Area foot{{0, ImGui::GetIO().DisplaySize.y - ui_.Px(30)}, ImGui::GetIO().DisplaySize};
      DrawTextCentred(ImGui::GetForegroundDrawList(), ui_.body, foot, Ink(ui_.palette().dim),
                      ui_.T(Text::kChoosing));
    }
  }
  GrantWish();
  if (!picture_.pending()) notice_.Draw(ui_);
}

}  // namespace penstock::gui
