// SPDX-License-Identifier: Apache-2.0
//
// The menu of the right button, for the span under the pointer, the selection, and the row.
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include "gui/model/timeline/place.h"
#include "gui/views/timeline/timeline_canvas.h"
#include "gui/widgets/keys.h"

namespace penstock::gui {
namespace {

// Searches for `text`, and leaves the view and the selection as they are.
void FindSpans(Workspace& workspace, std::string text) {
  SearchState& search = workspace.search;
  search.Forget();
  search.longest.clear();
  search.text = std::move(text);
}

// From the begin of the first stop to the end of the last stop of the batch of `span`.
TimeRange RangeOfBatch(const Timeline& timeline, SpanRef span) {
  TimeRange range{timeline.length, 0};
  for (const SpanRef stop : OwnStopsOf(timeline, span)) {
    range.from = std::min(range.from, timeline.start(stop));
    range.to = std::max(range.to, timeline.end(stop));
  }
  return range;
}

// The text of a search that finds the spans of the batch of `span`, but not those of other ranks'
// and other epochs' batches with its number.
std::string SearchOfBatch(const Ui& ui, const Timeline& timeline, SpanRef span) {
  const SpanDetail& detail = timeline.detail(span);
  const Group* group = timeline.GroupOf(span.lane);
  const bool ranks = timeline.groups.front().rank != timeline.groups.back().rank;
  const std::string rank =
      ranks && group != nullptr && group->rank >= 0 ? fmt::format("rank {} ", group->rank) : "";
  if (timeline.epochs.several_loaders()) {
    return fmt::format("{}batch:{}@{}", rank, detail.batch, detail.generation);
  }
  const std::string batch = fmt::format("{} {}", ui.T(Text::kSpanBatch), detail.batch);
  if (!timeline.epochs.several()) return rank + batch;
  return fmt::format("{}epoch {} {}", rank, timeline.epochs.NumberOf(detail.generation), batch);
}

// Adds the lines that zoom to a span, select its time, and find spans of its batch or sample. A
// key acts on the chosen span, so a line shows its key only if `span` is the chosen one.
void AddPlaces(const TimelineCanvas& canvas, SpanRef span, std::vector<MenuLine>& lines) {
  const Ui& ui = canvas.ui;
  Workspace& workspace = canvas.workspace;
  TimelineState& state = workspace.timeline;
  const Timeline& timeline = canvas.timeline;
  const SpanDetail& detail = timeline.detail(span);
  const bool chosen = state.span == span;
  lines.push_back(
      {ui.T(Text::kMenuZoomSpan), chosen && !state.selection ? "F" : "", [&state, &timeline, span] {
         state.span = span;
         state.selection.reset();
         state.Focus(timeline);
       }});
  lines.push_back({ui.T(Text::kMenuSelectSpan), chosen ? "M" : "", [&state, &timeline, span] {
                     state.span = span;
                     state.MarkSpan(timeline);
                   }});
  if (detail.key().valid()) {
    const TimeRange range = RangeOfBatch(timeline, span);
    const std::string name = workspace.BatchNameOf(detail, ui.language);
    lines.push_back({ui.F(Text::kMenuSelectBatch, name), "",
                     [&state, span, range] {
                       state.span = span;
                       state.selection = range;
                     },
                     !range.empty()});
    lines.push_back(
        {ui.F(Text::kMenuFindBatch, name), "",
         [&workspace, find = SearchOfBatch(ui, timeline, span)] { FindSpans(workspace, find); }});
  }
  if (detail.sample != SpanDetail::kNoSample) {
    lines.push_back(
        {ui.F(Text::kMenuFindSample, detail.sample), "", [&workspace, &ui, sample = detail.sample] {
           FindSpans(workspace, fmt::format("{} {}", ui.T(Text::kSpanSample), sample));
         }});
  }
}

MenuPart PartOfSpan(const TimelineCanvas& canvas, SpanRef span) {
  const Ui& ui = canvas.ui;
  Workspace& workspace = canvas.workspace;
  TimelineState& state = workspace.timeline;
  const Timeline& timeline = canvas.timeline;
  const traces::Trace& trace = *workspace.document.trace;
  const traces::StageId stage = timeline.stage(span);
  const std::string word(WordOf(stage, ui.language));
  std::string name(trace.String(timeline.detail(span).name));
  // For a span without a name, the search is for its stage.
  const std::string find =
      name.empty() ? std::string(traces::StageName(stage)) : QuotedPhrase(name);
  if (name.empty()) name = word;
  MenuPart part{SpanLabel(ui, workspace, span), {}};
  AddPlaces(canvas, span, part.lines);
  const auto add = [&](std::string label, std::string keys, std::function<void()> run) {
    part.lines.push_back({std::move(label), std::move(keys), std::move(run)});
  };
  add(ui.T(Text::kMenuFindName), "", [&workspace, find] { FindSpans(workspace, find); });
  const bool same = state.span && timeline.stage(*state.span) == stage;
  add(ui.F(Text::kGoToLongest, word), same ? "L" : "", [&canvas, &workspace, stage] {
    const TimeRange range = workspace.timeline.selection.value_or(workspace.timeline.view.range());
    if (const auto longest = Longest(canvas.timeline, stage, range)) {
      workspace.timeline.Go(canvas.timeline, *longest);
      workspace.reveal = true;
    }
  });
  add(ui.T(Text::kMenuCopyName), "", [&workspace, name] { workspace.CopyText(name); });
  const std::string file(trace.String(timeline.detail(span).object));
  if (!file.empty()) {
    add(ui.T(Text::kMenuCopyFile), "", [&workspace, file] { workspace.CopyText(file); });
  }
  add(ui.F(Text::kMenuHideStage, word), "", [&state, stage] {
    if (state.Shows(stage)) state.Toggle(stage);
  });
  const std::string only = std::string("Ctrl+") + ui.T(Text::kMouseClick);
  const bool alone = state.hidden_stages == ~(1u << static_cast<unsigned>(stage));
  if (!alone) add(ui.F(Text::kShowOnly, word), only, [&state, stage] { state.Solo(stage); });
  if (state.hidden_stages != 0) {
    add(ui.T(Text::kMenuShowStages), "", [&state] { state.hidden_stages = 0; });
  }
  return part;
}

MenuPart PartOfSelection(const TimelineCanvas& canvas, TimeRange range) {
  const Ui& ui = canvas.ui;
  Workspace& workspace = canvas.workspace;
  TimelineState& state = workspace.timeline;
  MenuPart part{ui.T(Text::kSelection), {}};
  const auto add = [&](Text label, std::string keys, std::function<void()> run, bool enabled) {
    part.lines.push_back({ui.T(label), std::move(keys), std::move(run), enabled});
  };
  add(
      Text::kMenuZoomSelection, "F", [&state, &canvas] { state.Focus(canvas.timeline); }, true);
  add(
      Text::kMenuSelectionSums, "Q", [&state] { state.panel_hidden = false; }, state.panel_hidden);
  add(
      Text::kMenuSelectionStages, "", [&workspace] { workspace.view = ViewId::kStages; }, true);
  // A selection that comes from a note may begin before the trace.
  const TimeRange inside = Inside(canvas.timeline, range);
  const std::string times =
      fmt::format("--from {} --to {}", SecondsText(inside.from), SecondsText(inside.to));
  add(
      Text::kMenuCopyTimes, "", [&workspace, times] { workspace.CopyText(times); },
      !inside.empty());
  add(
      Text::kMenuNote, "Shift+M", [&state, &canvas] { state.KeepNote(canvas.timeline); }, true);
  add(
      Text::kMenuClear, "Esc", [&state] { state.selection.reset(); }, true);
  return part;
}

// The name of the row, or of its process.
std::string NameOfRow(const TimelineCanvas& canvas, const Row& row) {
  const Ui& ui = canvas.ui;
  if (row.kind == RowKind::kCounter) {
    const Analysis& analysis = *canvas.workspace.document.analysis;
    return CounterTitle(analysis.counters[row.counter], analysis.report, ui.language);
  }
  if (row.group == Row::kAllGroups) return ui.T(Text::kWholeMachine);
  const auto& groups = canvas.timeline.groups;
  const std::string group = GroupLabel(ui, canvas.workspace, groups[row.group]);
  if (row.kind == RowKind::kGroup) return group;
  return group + " · " + LaneLabel(ui, canvas.timeline.lanes[row.lane]);
}

MenuPart PartOfRow(const TimelineCanvas& canvas, const Row& row) {
  const Ui& ui = canvas.ui;
  TimelineState& state = canvas.workspace.timeline;
  MenuPart part{NameOfRow(canvas, row), {}};
  const auto add = [&](Text label, std::string keys, std::function<void()> run) {
    part.lines.push_back({ui.T(label), std::move(keys), std::move(run)});
  };
  if (const auto pin = PinOf(row)) {
    add(state.IsPinned(*pin) ? Text::kMenuUnpin : Text::kMenuPin, "P",
        [&state, pin = *pin] { state.TogglePin(pin); });
  }
  const bool folded = state.folded.contains(row.group);
  const bool machine = row.group == Row::kAllGroups;
  const Text fold = machine ? Text::kMenuFoldMachine : Text::kMenuFold;
  const Text unfold = machine ? Text::kMenuUnfoldMachine : Text::kMenuUnfold;
  add(folded ? unfold : fold, "", [&state, group = row.group] { state.ToggleFold(group); });
  const Timeline& timeline = canvas.timeline;
  if (machine || timeline.groups.size() > 1) {
    add(machine ? Text::kMenuFoldProcesses : Text::kMenuFoldOthers, "",
        [&state, &timeline, group = row.group] { state.FoldOthers(timeline, group); });
  }
  add(Text::kFoldAll, "", [&state, &timeline] { state.FoldAll(timeline, true); });
  add(Text::kUnfoldAll, "", [&state, &timeline] { state.FoldAll(timeline, false); });
  return part;
}

void DrawMenuPart(const Ui& ui, const MenuPart& part, bool first) {
  if (!first) ImGui::Separator();
  ImGui::PushFont(ui.small);
  ImGui::TextColored(Tint(ui.palette().dim), "%s",
                     Elided(ui.small, part.heading, ui.Px(320)).c_str());
  ImGui::PopFont();
  ImGui::PushID(part.heading.c_str());
  for (const MenuLine& line : part.lines) {
    const char* keys = line.keys.empty() ? nullptr : line.keys.c_str();
    if (ImGui::MenuItem(line.label.c_str(), keys, false, line.enabled)) line.run();
  }
  ImGui::PopID();
}

}  // namespace

std::vector<MenuPart> MenuOf(const TimelineCanvas& canvas) {
  const TimelineMenu& menu = canvas.workspace.menu;
  const auto& selection = canvas.workspace.timeline.selection;
  std::vector<MenuPart> parts;
  if (menu.selection && selection) parts.push_back(PartOfSelection(canvas, *selection));
  if (menu.span) parts.push_back(PartOfSpan(canvas, *menu.span));
  if (menu.row) parts.push_back(PartOfRow(canvas, *menu.row));
  return parts;
}

void DrawMenu(const TimelineCanvas& canvas) {
  constexpr const char* kName = "timeline menu";
  TimelineMenu& menu = canvas.workspace.menu;
  if (menu.asked) ImGui::OpenPopup(kName);
  menu.asked = false;
  // Without this, the popup would take over the padding of the timeline's window, which is zero.
  ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, ImVec2(canvas.ui.Px(12), canvas.ui.Px(9)));
  const bool open = ImGui::BeginPopup(kName);
  ImGui::PopStyleVar();
  if (!open) {
    menu = {};
    return;
  }
  // If a trace has grown, its spans and rows have other indices than when the menu was opened.
  const bool stale = menu.timeline != canvas.workspace.document.timeline;
  if (stale || Pressed(Key::kEscape)) {
    ImGui::CloseCurrentPopup();
  } else {
    bool first = true;
    for (const MenuPart& part : MenuOf(canvas)) {
      DrawMenuPart(canvas.ui, part, first);
      first = false;
    }
  }
  ImGui::EndPopup();
}

}  // namespace penstock::gui
