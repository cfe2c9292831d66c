// SPDX-License-Identifier: Apache-2.0
#include "gui/views/dialogs/file_chooser.h"

#include <algorithm>
#include <array>
#include <system_error>

#include "analyzer/words/format.h"
#include "gui/widgets/draw.h"
#include "gui/widgets/keys.h"

namespace penstock::gui {
namespace {

namespace fs = std::filesystem;

bool LooksLikeTrace(const std::string& name) {
  const auto ends = [&](std::string_view end) {
    return name.size() >= end.size() &&
           name.compare(name.size() - end.size(), end.size(), end) == 0;
  };
  constexpr std::array<std::string_view, 10> kEndings = {
      ".penstock", ".recording",      ".part", ".json",   ".json.gz",
      ".sqlite",   ".perfetto-trace", ".pfw",  ".pfw.gz", ".pftrace"};
  return std::any_of(kEndings.begin(), kEndings.end(), ends);
}

}  // namespace

void FileChooser::Show(const fs::path& near, Text title) {
  open_ = true;
  title_ = title;
  appear_ = true;
  std::error_code error;
  const fs::path folder = near.has_parent_path() ? near.parent_path() : fs::current_path(error);
  Enter(folder.empty() ? fs::path("/") : folder);
}

void FileChooser::Enter(const fs::path& folder) {
  std::error_code error;
  const fs::path whole = fs::canonical(folder, error);
  if (error) return;
  std::vector<Entry> entries;
  fs::directory_iterator it(whole, fs::directory_options::skip_permission_denied, error);
  if (error) return;
  for (const fs::directory_iterator end; it != end; it.increment(error)) {
    if (error) break;
    std::error_code ignored;
    Entry entry;
    entry.name = it->path().filename().string();
    entry.folder = it->is_directory(ignored);
    if (entry.name.empty() || entry.name[0] == '.') continue;
    if (!entry.folder) {
      if (!it->is_regular_file(ignored)) continue;
      entry.size = it->file_size(ignored);
    }
    entries.push_back(std::move(entry));
  }
  std::sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) {
    return a.folder != b.folder ? a.folder : a.name < b.name;
  });
  folder_ = whole;
  entries_ = std::move(entries);
}

void FileChooser::DrawEntries(const Ui& ui, std::optional<fs::path>& chosen) {
  const Palette& p = ui.palette();
  std::optional<fs::path> enter;
  bool any = false;
  const float width = ImGui::GetContentRegionAvail().x;
  for (const Entry& entry : entries_) {
    if (!entry.folder && !all_ && !LooksLikeTrace(entry.name)) continue;
    any = any || !entry.folder;
    ImGui::PushID(entry.name.c_str());
    if (ImGui::Selectable("##entry", false, kStaysOpen, {width, ui.Px(22)})) {
      (entry.folder ? enter : chosen) = folder_ / entry.name;
    }
    ImDrawList* list = ImGui::GetWindowDrawList();
    const ImVec2 min = ImGui::GetItemRectMin();
    const std::string size = entry.folder ? "" : analyzer::BytesText(entry.size);
    const float room = width - ui.Px(20) - TextWidth(ui.small, size);
    DrawText(list, entry.folder ? ui.body : ui.strong, {min.x + ui.Px(6), min.y + ui.Px(3)},
             Ink(entry.folder ? p.dim : p.text),
             Elided(ui.body, entry.folder ? entry.name + "/" : entry.name, room));
    DrawTextRight(list, ui.small, min.x + width - ui.Px(8), min.y + ui.Px(4), Ink(p.dim), size);
    ImGui::PopID();
  }
  if (!any) Paragraph(ui, ui.body, p.dim, ui.T(Text::kNoFiles), width);
  if (enter) Enter(*enter);
}

std::optional<fs::path> FileChooser::Draw(const Ui& ui) {
  if (!open_) return std::nullopt;
  const char* title = "##choose";
  if (appear_) {
    ImGui::OpenPopup(title);
    appear_ = false;
  }
  const ImVec2 screen = ImGui::GetIO().DisplaySize;
  const ImVec2 size{std::min(ui.Px(640), screen.x - ui.Px(40)),
                    std::min(ui.Px(520), screen.y - ui.Px(40))};
  ImGui::SetNextWindowPos({(screen.x - size.x) / 2, (screen.y - size.y) / 2});
  ImGui::SetNextWindowSize(size);
  std::optional<fs::path> chosen;
  if (ImGui::BeginPopupModal(title, nullptr,
                             ImGuiWindowFlags_NoTitleBar | ImGuiWindowFlags_NoResize |
                                 ImGuiWindowFlags_NoMove | ImGuiWindowFlags_NoSavedSettings)) {
    const float width = ImGui::GetContentRegionAvail().x;
    Paragraph(ui, ui.title, ui.palette().text, ui.T(title_), width);
    if (ImGui::Button((std::string("↑ ") + ui.T(Text::kParent)).c_str())) {
      Enter(folder_.parent_path());
    }
    ImGui::SameLine();
    const ImVec2 at = ImGui::GetCursorScreenPos();
    DrawText(ImGui::GetWindowDrawList(), ui.small, {at.x, at.y + ui.Px(6)}, Ink(ui.palette().dim),
             Elided(ui.small, folder_.string(), ImGui::GetContentRegionAvail().x));
    ImGui::NewLine();
    const float foot = ImGui::GetFrameHeightWithSpacing() + ui.Px(4);
    ImGui::BeginChild("entries", {0, -foot}, true);
    DrawEntries(ui, chosen);
    ImGui::EndChild();
    TickBox(ui, ui.T(Text::kAllFiles), &all_);
    ImGui::SameLine(width - ImGui::CalcTextSize(ui.T(Text::kCancel)).x - ui.Px(6));
    if (ImGui::Button(ui.T(Text::kCancel)) || Pressed(Key::kEscape) || chosen) {
      open_ = false;
      ImGui::CloseCurrentPopup();
    }
    ImGui::EndPopup();
  } else {
    open_ = false;
  }
  return chosen;
}

}  // namespace penstock::gui
