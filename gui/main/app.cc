// SPDX-License-Identifier: Apache-2.0
#include "gui/main/app.h"

#include <algorithm>
#include <utility>

#include "gui/model/timeline/carry.h"
#include "gui/views/dialogs/help_panel.h"
#include "gui/views/panels/overview_parts.h"
#include "gui/views/timeline/place_strip.h"
#include "gui/widgets/keys.h"

namespace penstock::gui {
namespace {

// Texts of a trace that may hold characters beyond ASCII. The fonts must hold these characters.
std::string TextsOf(const Document& document) {
  std::string texts;
  if (document.trace) {
    for (const traces::ProcessInfo& process : document.trace->processes()) texts += process.comm;
    for (const traces::ThreadInfo& thread : document.trace->threads()) texts += thread.name;
  }
  texts += document.path.string();
  if (document.timeline) texts += document.timeline->unusual_text;
  if (document.analysis) texts += document.analysis->functions.unusual_text;
  return texts;
}

// The same for a sweep and a second trace.
std::string TextsOfOthers(const Workspace& workspace) {
  std::string texts = workspace.compare.other.path.string();
  if (!workspace.sweep.file) return texts;
  const Sweep& sweep = *workspace.sweep.file;
  for (const std::string& word : sweep.subject) texts += word;
  for (const SweepAxis& axis : sweep.axes) {
    texts += axis.name;
    for (const std::string& value : axis.values) texts += value;
  }
  for (const SweepCell& cell : sweep.cells) texts += cell.error;
  return texts;
}

}  // namespace

App::App(Settings settings, float screen_scale, std::function<void()> wake)
    : settings_(std::move(settings)), wake_(std::move(wake)) {
  style_.screen_scale = screen_scale;
  ui_.theme = settings_.theme;
  ui_.language = settings_.language;
  ui_.scale = style_.screen_scale * static_cast<float>(settings_.scale);
  workspace_.ranges = std::make_unique<RangeAnalyst>(wake_);
  workspace_.of_loader = std::make_unique<RangeAnalyst>(wake_);
  workspace_.wake = wake_;
}

void App::Open(const std::filesystem::path& path) {
  if (KindOf(path) == FileKind::kJson) {
    auto sweep = ReadSweep(path);
    if (sweep) {
      settings_.Remember(path);
      ShowSweep(std::move(*sweep));
    } else {
      jobs_.error =
          Error{ErrorKind::kInput, ProblemText(sweep.error(), path.string(), ui_.language)};
      jobs_.failed = path;
    }
    return;
  }
  StopFollowing();
  KeepPlaceFor(path);
  jobs_.error.reset();
  jobs_.own = std::make_unique<LoadJob>(path, wake_);
}

void App::Show(Document document) {
  KeepPlaceFor(document.path);
  workspace_.Reset();
  workspace_.document = std::move(document);
  if (workspace_.document.timeline) ShowTimeline();
  CheckLoader();
  marks_.Find(workspace_.document, workspace_.timeline);
  style_.stale = style_.stale || LacksGlyphs();
}

// Takes a newer state of the document: more of it is loaded, or the trace has grown.
void App::Replace(Document document) {
  const std::shared_ptr<const Timeline> old = workspace_.document.timeline;
  const std::shared_ptr<const Timeline> now = document.timeline;
  workspace_.document = std::move(document);
  // ShowTimeline() sets the wanted loader, and CheckLoader() then checks it. The analysis may be
  // ready before the first timeline or after it.
  if (!old && now) ShowTimeline();
  CheckLoader();
  style_.stale = style_.stale || LacksGlyphs();
  if (now == old || !now) return;
  if (!old) return marks_.Find(workspace_.document, workspace_.timeline);
  const bool live = workspace_.document.live != Live::kNo;
  workspace_.timeline =
      CarryOver(*old, *now, workspace_.timeline, live ? Following::kYes : Following::kNo);
  marks_.Find(workspace_.document, workspace_.timeline);
  // Indices of spans have changed: what was computed from them must be computed again.
  workspace_.search.Forget();
  workspace_.ForgetUnseen();
  ShowPlace();
}

// Whether the fonts lack characters. Only then are they made anew, which takes a while.
bool App::LacksGlyphs() const {
  const std::string texts = Texts();
  const bool unusual = !IsPlain(texts) && texts != style_.glyphs;
  return unusual || (WantsCommonGlyphs() && !style_.common_glyphs);
}

std::string App::Texts() const {
  std::string texts = TextsOf(workspace_.document) + TextsOfOthers(workspace_);
  for (const std::filesystem::path& path : settings_.recent) {
    if (!IsPlain(path.string())) texts += path.string();
  }
  return texts;
}

// Whether the window shows Chinese sentences about a file. They need further characters.
bool App::WantsCommonGlyphs() const {
  const bool said = workspace_.document.analysis || workspace_.compare.other.open() ||
                    workspace_.sweep.file != nullptr;
  return settings_.language == Language::kChinese && said;
}

bool App::TakeStyleChange() {
  return std::exchange(style_.stale, false);
}

void App::RebuildStyle() {
  ui_.theme = settings_.theme;
  ui_.language = settings_.language;
  ui_.scale = style_.screen_scale * static_cast<float>(settings_.scale);
  style_.glyphs = Texts();
  style_.common_glyphs = WantsCommonGlyphs();
  const Glyphs which = style_.common_glyphs ? Glyphs::kCommon : Glyphs::kNeeded;
  const bool given = style_.fonts != nullptr && style_.fonts->Give(ui_, style_.glyphs, which);
  if (!given) LoadFonts(ui_, style_.glyphs, which);
  ApplyTheme(ui_);
}

void App::PollJob() {
  PollOther();
  std::erase_if(jobs_.retired, [](const auto& job) { return job->finished(); });
  if (!jobs_.own) return;
  const bool finished =
      jobs_.own->finished();  // read first, so that nothing published later is lost
  const Document document = jobs_.own->document();
  // The previous frame, which is on the screen, has shown this document.
  if (workspace_.document.timeline && document.serial == workspace_.document.serial)
    jobs_.own->Shown();
  const bool fresh = document.serial != workspace_.document.serial;
  // A view appears as soon as its part of the document is there.
  if (fresh && (document.timeline || document.analysis)) {
    settings_.Remember(jobs_.own->path());
    Show(document);
  } else if (!fresh && document.open() && (!paused_ || finished)) {
    // A paused job that has finished is shown too: no later frame would show what it has read.
    Replace(document);
  }
  if (!finished) return;
  jobs_.error = jobs_.own->error();
  jobs_.failed = jobs_.own->path();
  if (jobs_.error) jobs_.wanted.reset();
  jobs_.own.reset();
  StopFollowing();
}

void App::SetScreenScale(float scale) {
  style_.stale = style_.stale || scale != style_.screen_scale;
  style_.screen_scale = scale;
}

void App::SwitchLanguage() {
  const bool english = settings_.language == Language::kEnglish;
  if (english && !HasChineseFont()) return notice_.Say(ui_.T(Text::kNoChineseFont), true);
  settings_.language = english ? Language::kChinese : Language::kEnglish;
  style_.stale = true;
}

void App::SetScale(double scale) {
  settings_.scale = std::clamp(scale, 0.75, 3.0);
  style_.stale = true;
}

// Shows a view, also in place of the message that a file could not be opened.
void App::GoTo(ViewId view) {
  workspace_.view = view;
  jobs_.error.reset();
}

void App::GlobalKeys() {
  const ImGuiIO& io = ImGui::GetIO();
  if (io.KeyCtrl) {
    if (Pressed(Key::kQ)) quit_ = true;
    if (Pressed(Key::kPlus)) SetScale(settings_.scale + 0.125);
    if (Pressed(Key::kMinus)) SetScale(settings_.scale - 0.125);
    if (Pressed(Key::k0)) SetScale(1);
  }
  FileKeys();
  if (Pressed(Key::kF6) && !Typing()) workspace_.walking = !workspace_.walking;
  if (ImGui::IsMouseClicked(0) || ImGui::IsMouseClicked(1)) workspace_.walking = false;
  const bool question = io.KeyShift && Pressed(Key::kSlash) && !Typing();
  if (Pressed(Key::kF1) || question) workspace_.help = !workspace_.help;
  // An open menu belongs to the present view. In another view it would take the keys.
  const bool menu = ImGui::IsPopupOpen("", ImGuiPopupFlags_AnyPopupId);
  for (std::size_t v = 0; v < kViews.size() && !menu; ++v) {
    if (io.KeyAlt && Pressed(Digit((static_cast<int>(v) + 1) % 10))) GoTo(kViews[v].id);
  }
}

void App::Frame() {
  PollJob();
  workspace_.TakeFinished();
  const ImGuiIO& io = ImGui::GetIO();
  workspace_.covered = workspace_.help || commands_open() || menu_open_;
  workspace_.wheel = settings_.wheel;
  JobKeys();
  GlobalKeys();
  ImGui::SetNextWindowPos({0, 0});
  ImGui::SetNextWindowSize(io.DisplaySize);
  ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, ImVec2(0, 0));
  ImGui::Begin("##root", nullptr,
               ImGuiWindowFlags_NoDecoration | ImGuiWindowFlags_NoMove |
                   ImGuiWindowFlags_NoSavedSettings | ImGuiWindowFlags_NoBringToFrontOnFocus |
                   ImGuiWindowFlags_NoNavFocus | ImGuiWindowFlags_NoScrollWithMouse);
  const float bar = ui_.Px(46);
  Area area{{0, 0}, io.DisplaySize};
  ImGui::PushID("bar");  // pages below have buttons of the same names, such as "Open"
  DrawTopBar({area.min, {area.max.x, bar}});
  ImGui::PopID();
  const float pad = ui_.Px(14);
  area = {{pad, bar + ui_.Px(10)}, {area.max.x - pad, area.max.y - ui_.Px(8)}};
  area.min.y += DrawWarnings(area);
  if (jobs_.error) {
    DrawError(area);
  } else {
    DrawView(area);
  }
  GrowToCursor();
  ImGui::End();
  ImGui::PopStyleVar();
  if (workspace_.help) DrawHelp(ui_, &workspace_.help, &settings_.wheel);
  if (dialogs_.commands.open()) dialogs_.commands.Draw(ui_, Commands());
  if (dialogs_.recent.open()) dialogs_.recent.Draw(ui_, RecentCommands());
  DrawDialogs();
  LetKeyboardWalk();
  // While a note is typed, nothing is saved: otherwise each letter would write the file.
  if (!ImGui::IsAnyItemActive()) KeepMarks();
}

// Lets the arrow keys move from item to item in menus, and after the person has asked for it (F6).
// At other times the views use the arrow keys.
void App::LetKeyboardWalk() {
  // A key that closes the menu in the next frame belongs to the menu.
  menu_open_ = ImGui::IsPopupOpen("", ImGuiPopupFlags_AnyPopupId);
  ImGuiConfigFlags& flags = ImGui::GetIO().ConfigFlags;
  const bool walks = (flags & ImGuiConfigFlags_NavEnableKeyboard) != 0;
  if (walks == (workspace_.walking || menu_open_)) return;
  flags ^= ImGuiConfigFlags_NavEnableKeyboard;
}

void App::KeepMarks() {
  const Result<void> saved = marks_.Keep(workspace_.document, workspace_.timeline);
  if (!saved) notice_.Say(ui_.F(Text::kNotSaved, saved.error().message), true);
}

void App::DrawView(Area area) {
  const Document& document = workspace_.document;
  workspace_.part = nullptr;
  if (workspace_.view == ViewId::kSweep) return DrawSweep(ui_, workspace_, area);
  if (workspace_.view == ViewId::kCompare && (document.open() || !jobs_.own)) {
    return DrawCompare(ui_, workspace_, area);
  }
  if (!document.open()) {
    if (jobs_.own) {
      DrawLoading(area);
    } else {
      DrawWelcome(area);
    }
    return;
  }
  const bool overview = workspace_.view == ViewId::kOverview;
  const bool timeline = workspace_.view == ViewId::kTimeline;
  // These views need only the analysis, which may be ready before the timeline.
  const bool alone =
      (overview || workspace_.view == ViewId::kWhatIf) && !workspace_.PartFor(workspace_.view);
  const bool analysed = document.analysis != nullptr && (alone || document.trace != nullptr);
  if (timeline ? document.timeline == nullptr : !analysed) {
    if (overview && document.timeline) {
      DrawPreview(ui_, workspace_, ui_.T(Text::kAnalysing), area);
    } else if (jobs_.own) {
      DrawLoading(area);
    }
    return;
  }
  area.min.y += DrawPlaceStrip(ui_, workspace_, area);
  if (!workspace_.Prepare(workspace_.view)) {
    DrawTextCentred(ImGui::GetWindowDrawList(), ui_.title, area, Ink(ui_.palette().dim),
                    ui_.T(Text::kAnalysing));
    return;
  }
  switch (workspace_.view) {
    case ViewId::kOverview:
      return DrawOverview(ui_, workspace_, area);
    case ViewId::kTimeline:
      return DrawTimeline(ui_, workspace_, area);
    case ViewId::kStages:
      return DrawStages(ui_, workspace_, area);
    case ViewId::kWhatIf:
      return DrawWhatIf(ui_, workspace_, area);
    case ViewId::kWorkers:
      return DrawWorkers(ui_, workspace_, area);
    case ViewId::kIo:
      return DrawIo(ui_, workspace_, area);
    case ViewId::kGpu:
      return DrawGpu(ui_, workspace_, area);
    case ViewId::kSql:
      return DrawSql(ui_, workspace_, area);
    case ViewId::kSweep:
    case ViewId::kCompare:
      return;  // handled above, without a trace
  }
}

}  // namespace penstock::gui
