// SPDX-License-Identifier: Apache-2.0
#include "tests/gui/layout/looker.h"

#include <GLFW/glfw3.h>
#include <imgui_internal.h>

#include <algorithm>
#include <cctype>
#include <chrono>
#include <thread>
#include <utility>

#include <fmt/core.h>

#include "gui/widgets/keys.h"
#include "tests/gui/files/sweep_samples.h"

namespace penstock::gui::testing {
namespace {

const ImVec2 kNowhere{-1000, -1000};

// The text with 0 for each digit: two looks may show different numbers in the same text.
std::string WithoutDigits(std::string text) {
  for (char& c : text) {
    if (std::isdigit(static_cast<unsigned char>(c)) != 0) c = '0';
  }
  return text;
}

// The names that a view may show. The SQL view shows what the database holds: its stages and
// columns have the same names in all languages.
std::vector<std::string> NamesIn(const Subject& subject, ViewId view) {
  std::vector<std::string> names = subject.names;
  if (view != ViewId::kSql) return names;
  for (std::uint8_t stage = 0; stage < wire::kStageCount; ++stage) {
    names.emplace_back(traces::StageName(static_cast<traces::StageId>(stage)));
  }
  names.insert(names.end(), {"stage", "count", "bytes"});
  return names;
}

}  // namespace

std::string NameOf(const Look& look) {
  return fmt::format("{}x{}{} {} {}", look.width, look.height, look.scale > 1 ? "@2" : "",
                     look.theme == Theme::kDark ? "dark" : "light",
                     look.language == Language::kChinese ? "zh" : "en");
}

bool Looker::Wanted(const Subject& subject, std::string_view view) const {
  return subject.name.find(subject_) != std::string::npos && view.find(view_) != view.npos;
}

void Looker::LookAt(std::vector<Subject>& subjects, const Look& look) {
  look_ = look;
  Headless window(static_cast<float>(look.width), static_cast<float>(look.height));
  KnowKeys();
  window_ = &window;
  App& app = window.app();
  app.settings().theme = look.theme;
  app.settings().language = look.language;
  app.settings().scale = look.scale;
  app.RebuildStyle();
  if (subject_.empty()) {
    for (const ViewId view : {ViewId::kOverview, ViewId::kSweep, ViewId::kCompare}) {
      app.workspace().view = view;
      SettleAndCheck({"nothing open", kViews[static_cast<std::size_t>(view)].name, {}});
    }
  }
  for (Subject& subject : subjects) {
    if (subject.name.find(subject_) != std::string::npos) Visit(subject);
  }
  window_ = nullptr;
}

void Looker::Visit(Subject& subject) {
  App& app = window_->app();
  app.Show(subject.document);
  app.workspace().at_once = true;
  if (subject.other) app.ShowOther(*subject.other);
  if (subject.sweep) {
    app.ShowSweep(SampleSweep());
    subject.names.insert(subject.names.begin(), {"status 1: out of memory", "Test CPU"});
  }
  for (const ViewInfo& view : kViews) {
    if (view.id == ViewId::kSweep && !subject.sweep) continue;
    if (Wanted(subject, view.name)) VisitView(subject, view);
  }
  VisitDialogs(subject);
}

void Looker::VisitView(const Subject& subject, const ViewInfo& view) {
  Workspace& workspace = window_->app().workspace();
  workspace.view = view.id;
  SettleAndCheck({subject.name, view.name, NamesIn(subject, view.id)});
  if (view.id == ViewId::kStages) {
    workspace.functions = true;
    SettleAndCheck({subject.name + ", functions", view.name, subject.names});
    workspace.functions = false;
  }
  const bool live = subject.document.live != Live::kNo;
  const std::int64_t length = subject.document.timeline->length;
  if (subject.document.timeline->spans < 100 || live) return;
  const TimeRange whole = workspace.timeline.view.range();
  workspace.timeline.selection = TimeRange{length / 3, length / 2};
  if (view.id == ViewId::kTimeline) {
    workspace.timeline.view.Show(
        {length / 3, length / 3 + std::min(length / 12, std::int64_t{100'000'000})});
    const Lane& lane = subject.document.timeline->lanes.front();
    const bool spans = !lane.levels.empty() && lane.levels[0].size() > 1;
    if (spans) workspace.timeline.span = SpanRef{0, 0, 1};
    SettleAndCheck({subject.name + ", near", view.name, subject.names});
    workspace.timeline.selection.reset();
    VisitPanels(subject, view);
    workspace.timeline.span.reset();
  } else if (ObeysRange(view.id)) {
    SettleAndCheck({subject.name + ", a part", view.name, subject.names});
  }
  workspace.timeline.selection.reset();
  workspace.timeline.view.Show(whole);
}

// Checks the panels below the timeline's rows (for a span, and for the visible window) and the menu
// of a span.
void Looker::VisitPanels(const Subject& subject, const ViewInfo& view) {
  Workspace& workspace = window_->app().workspace();
  const Timeline& timeline = *subject.document.timeline;
  TimelineState& state = workspace.timeline;
  const TimeRange visible = state.view.range();
  for (const traces::StageId stage : {traces::StageId::kSample, traces::StageId::kDecode,
                                      traces::StageId::kFetch, traces::StageId::kKernel}) {
    const auto span = Longest(timeline, stage, {0, timeline.length});
    if (!span) continue;
    state.Go(timeline, *span);
    SettleAndCheck(
        {subject.name + ", " + std::string(traces::StageName(stage)), view.name, subject.names});
  }
  if (state.span) {
    workspace.menu = {true, subject.document.timeline, state.span, std::nullopt, false};
    for (const Row& row : LayOutRows(timeline, {}, state)) {
      if (row.lane == state.span->lane && row.kind == RowKind::kLevel) workspace.menu.row = row;
    }
    SettleAndCheck({subject.name + ", menu", view.name, subject.names});
    Press(GLFW_KEY_ESCAPE, 0);
    Frames(2);
  }
  state.span.reset();
  state.table = true;
  SettleAndCheck({subject.name + ", window", view.name, subject.names});
  state.table.reset();
  state.view.Show(visible);
}

// Checks the dialogs, which lie over the view, once for each look.
void Looker::VisitDialogs(const Subject& subject) {
  if (subject.name != "demo") return;
  Workspace& workspace = window_->app().workspace();
  workspace.view = ViewId::kOverview;
  if (Wanted(subject, "help")) {
    workspace.help = true;
    SettleAndCheck({"demo", "help", subject.names});
    workspace.help = false;
    Frames(2);
  }
  const auto dialog = [&](std::string_view name, int key) {
    if (!Wanted(subject, name)) return;
    Press(key, GLFW_MOD_CONTROL);
    SettleAndCheck({"demo", name, subject.names});
    Press(GLFW_KEY_ESCAPE, 0);
    Frames(2);
  };
  dialog("commands", GLFW_KEY_P);
  dialog("export", GLFW_KEY_E);
}

void Looker::Press(int key, int mods) {
  if (mods != 0) SendKey(nullptr, {GLFW_KEY_LEFT_CONTROL, 0, GLFW_PRESS, mods});
  SendKey(nullptr, {key, 0, GLFW_PRESS, mods});
  Frames(1);
  SendKey(nullptr, {key, 0, GLFW_RELEASE, mods});
  if (mods != 0) SendKey(nullptr, {GLFW_KEY_LEFT_CONTROL, 0, GLFW_RELEASE, 0});
  Frames(1);
}

void Looker::Frames(int count) {
  for (int i = 0; i < count; ++i) {
    static_cast<void>(TakeTextCalls());
    window_->Frame();
  }
}

void Looker::SettleAndCheck(const Place& place) {
  ImGui::GetIO().MousePos = kNowhere;
  App& app = window_->app();
  Frames(3);
  // A selected interval and a comparison are computed on threads of their own.
  while (app.workspace().ranges->busy() || app.waiting()) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    Frames(1);
  }
  Frames(2);
  const Scene scene = Check(place);
  Hover(place, Shortened(scene));
  Scroll(place);
}

// Scrolls all windows page by page to the end, and checks each page.
void Looker::Scroll(const Place& place) {
  for (int page = 1; page < 8; ++page) {
    bool moved = false;
    for (ImGuiWindow* window : ImGui::GetCurrentContext()->Windows) {
      if (!window->WasActive || (window->Flags & ImGuiWindowFlags_NoScrollbar) != 0) continue;
      if (window->Scroll.y >= window->ScrollMax.y) continue;
      ImGui::SetScrollY(window, window->Scroll.y + 0.8F * window->InnerRect.GetHeight());
      moved = true;
    }
    if (!moved) break;
    Frames(3);
    Hover(place, Shortened(Check(place)));
  }
  for (ImGuiWindow* window : ImGui::GetCurrentContext()->Windows) ImGui::SetScrollY(window, 0);
}

void Looker::Hover(const Place& place, const std::vector<SeenText>& shortened) {
  constexpr int kAnyPopup = ImGuiPopupFlags_AnyPopupId | ImGuiPopupFlags_AnyPopupLevel;
  const bool popup = ImGui::IsPopupOpen(nullptr, kAnyPopup);
  for (const SeenText& text : shortened) {
    // An open popup takes the mouse from all other texts.
    if (popup && !text.root.starts_with("##Popup")) continue;
    const std::string key = fmt::format("{} {} {}", place.view, text.call.text, look_.scale);
    if (!explained_.insert(key).second) continue;
    const Box& ink = text.glyphs.front().seen;
    ImGui::GetIO().MousePos = {(ink.x0 + ink.x1) / 2 + 1, (ink.y0 + ink.y1) / 2};
    Frames(3);
    const Scene scene = Check({place.name + ", tip", place.view, place.names});
    if (!Explained(scene, text)) {
      Add(place, {FaultKind::kUnexplained, text.call.text,
                  "over it: \"" + TextOver(scene, text) + "\"", ink});
    }
  }
  ImGui::GetIO().MousePos = kNowhere;
  Frames(2);
}

Scene Looker::Check(const Place& place) {
  const Scene scene(*ImGui::GetDrawData(), TakeTextCalls(), place.view == "timeline");
  const Ui& ui = window_->app().ui();
  Looked how;
  how.scale = ui.scale;
  how.language = ui.language;
  how.names = place.names;
  how.code = ui.mono;
  how.bold = ui.strong;
  for (auto& faults :
       {Clipped(scene), Overlapping(scene, how), Faint(scene, how), Untranslated(scene, how)}) {
    for (const Fault& fault : faults) Add(place, fault);
  }
  ++frames_;
  texts_ += scene.texts().size();
  return scene;
}

void Looker::Add(const Place& place, Fault fault) {
  const std::string key = fmt::format("{} {} {} {}", place.view, NameOf(fault.kind), place.name,
                                      WithoutDigits(fault.text));
  Report& report = reports_[key];
  if (report.looks.empty()) {
    report.first = std::move(fault);
    report.place = fmt::format("{}, {}", place.view, place.name);
  }
  const std::string look = NameOf(look_);
  if (report.looks.empty() || report.looks.back() != look) report.looks.push_back(look);
}

}  // namespace penstock::gui::testing
