// SPDX-License-Identifier: Apache-2.0
//
// The timeline view: toolbar, strips, rows, and the panel below them.
#include <imgui.h>
#include <imgui_stdlib.h>

#include <algorithm>
#include <ctime>
#include <span>
#include <string>

#include <fmt/core.h>

#include "analyzer/words/format.h"
#include "gui/model/words/stage_words.h"
#include "gui/views/panel_parts.h"
#include "gui/views/timeline/timeline_canvas.h"
#include "gui/widgets/keys.h"

namespace penstock::gui {
namespace {

// The CPU time of this thread in milliseconds. Other programs on the cores do not change it.
double ThreadTime() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return 1e3 * static_cast<double>(now.tv_sec) + 1e-6 * static_cast<double>(now.tv_nsec);
}

void GoToHit(Workspace& workspace, int step) {
  workspace.RunSearch();
  SearchState& search = workspace.search;
  if (!search.found || search.found->hits().empty()) return;
  const Timeline& timeline = *workspace.document.timeline;
  const TimelineState& state = workspace.timeline;
  const TimeRange visible = state.view.range();
  // Goes on from the present hit if it is the chosen span, else from the visible interval.
  const auto& hits = search.found->hits();
  const bool on_hit = state.span && search.hit < hits.size() && hits[search.hit] == *state.span;
  if (on_hit) {
    const std::size_t size = hits.size();
    search.hit = step > 0 ? (search.hit + 1) % size : (search.hit + size - 1) % size;
  } else {
    const auto found = step > 0 ? search.found->Next(timeline, visible.from - 1)
                                : search.found->Previous(timeline, visible.to);
    if (found) search.hit = *found;
  }
  workspace.timeline.Go(timeline, hits[search.hit]);
}

// Draws the search field with its buttons. Returns whether a hit was chosen.
bool DrawSearch(const Ui& ui, Workspace& workspace) {
  SearchState& search = workspace.search;
  ImGui::SetNextItemWidth(ui.Px(300));
  if (search.focus) {
    ImGui::SetKeyboardFocusHere();
    search.focus = false;
  }
  // Enter keeps the keyboard in the field, so that the next Enter goes to the next hit.
  const bool enter = ImGui::InputTextWithHint("##search", ui.T(Text::kSearchHint), &search.text,
                                              ImGuiInputTextFlags_EnterReturnsTrue);
  bool moved = false;
  if (enter) {
    GoToHit(workspace, ImGui::GetIO().KeyShift ? -1 : 1);
    search.focus = true;
    moved = true;
  }
  workspace.RunSearch();
  if (search.text.empty()) return moved;
  ImGui::SameLine();
  const bool found = search.found && !search.found->hits().empty();
  if (!found && SearchTerms(search.text).empty()) return moved;  // the text is no search for spans
  if (!found) {
    ImGui::AlignTextToFramePadding();
    ImGui::TextColored(Tint(ui.palette().warn), "%s", ui.T(Text::kNoHits));
    return moved;
  }
  if (ImGui::Button("◂")) {
    GoToHit(workspace, -1);
    moved = true;
  }
  ImGui::SameLine(0, ui.Px(3));
  if (ImGui::Button("▸")) {
    GoToHit(workspace, 1);
    moved = true;
  }
  ImGui::SameLine();
  ImGui::AlignTextToFramePadding();
  ImGui::TextDisabled("%s", ui.F(Text::kHits, search.hit + 1,
                                 fmt::format("{}{}", search.found->hits().size(),
                                             search.found->truncated() ? "+" : ""))
                                .c_str());
  return moved;
}

// Draws a button for each of the longest calls that a finding is about, beside the small map.
void DrawLongest(const Ui& ui, Workspace& workspace, Area area) {
  const SearchState& search = workspace.search;
  if (search.longest.empty() || search.text != search.longest_of) return;
  const auto stage = StageOfWord(search.longest_of);
  const std::string what = stage ? std::string(WordOf(*stage, ui.language)) : search.longest_of;
  DrawText(ImGui::GetWindowDrawList(), ui.small, {area.min.x + ui.Px(4), area.min.y},
           Ink(ui.palette().dim),
           Elided(ui.small, ui.F(Text::kLongestOf, what), area.width() - ui.Px(8)));
  ImGui::PushFont(ui.small);
  ImGui::SetCursorScreenPos({area.min.x + ui.Px(4), area.min.y + FontPixels(ui.small) + ui.Px(4)});
  float x = area.min.x;
  for (std::size_t i = 0; i < search.longest.size(); ++i) {
    const SpanRef span = search.longest[i];
    const Timeline& timeline = *workspace.document.timeline;
    const auto length = static_cast<double>(timeline.end(span) - timeline.start(span)) * 1e-9;
    const std::string text = analyzer::DurationText(length);
    x += TextWidth(ui.small, text) + ui.Px(12);
    if (x > area.max.x) break;
    ImGui::PushID(static_cast<int>(i));
    const bool chosen = workspace.timeline.span == span;
    if (chosen) ImGui::PushStyleColor(ImGuiCol_Text, Tint(ui.palette().accent));
    if (ImGui::SmallButton(text.c_str())) workspace.ShowSpan(span);
    if (chosen) ImGui::PopStyleColor();
    Tip(ui, ui.T(Text::kLongestTip));
    ImGui::PopID();
    ImGui::SameLine(0, ui.Px(4));
  }
  ImGui::PopFont();
}

// What is drawn below the rows.
enum class Below : std::uint8_t { kGroups, kSelection, kSpan, kWindow, kHint };

// The height of all rows, in pixels.
float HeightOfRows(const Ui& ui, const Workspace& workspace,
                   std::span<const CounterTrack> counters) {
  const std::vector<Row> rows =
      LayOutRows(*workspace.document.timeline, counters, workspace.timeline);
  float height = 0;
  for (const Row& row : rows) {
    if (!row.pinned) height = std::max(height, row.top + row.height);
  }
  return ui.Px(height + PinnedHeight(rows));
}

// `room`: the height, in pixels, that is left for the rows if a panel is shown.
Below BelowRows(const Workspace& workspace, float rows, float room) {
  const TimelineState& state = workspace.timeline;
  const bool spans = workspace.document.trace != nullptr && !workspace.document.timeline->preview;
  if (spans && AsksForTable(workspace.search.text)) {
    return state.panel_hidden ? Below::kHint : Below::kGroups;
  }
  if (state.selection) return state.panel_hidden ? Below::kHint : Below::kSelection;
  if (state.span) return state.panel_hidden ? Below::kHint : Below::kSpan;
  const Document& document = workspace.document;
  if (!spans) return Below::kHint;
  if (state.table) return *state.table ? Below::kWindow : Below::kHint;
  // The table of the visible window is shown by itself if all rows still fit above it. It is not
  // shown while the trace grows, because each new state would have to be counted anew.
  if (document.live == Live::kWriting) return Below::kHint;
  return rows <= room ? Below::kWindow : Below::kHint;
}

// A line about the mouse, and the button that shows what is hidden.
void DrawHint(const Ui& ui, Workspace& workspace, Area area) {
  TimelineState& state = workspace.timeline;
  const bool table = !state.selection && !state.span && !AsksForTable(workspace.search.text);
  const bool offered = table ? workspace.document.trace != nullptr : state.panel_hidden;
  float right = area.max.x;
  if (offered) {
    const char* label = ui.T(table ? Text::kTableShow : Text::kPanelShow);
    right -= TextWidth(ui.small, label) + 2 * ImGui::GetStyle().FramePadding.x;
    ImGui::SetCursorScreenPos({right, area.min.y - ui.Px(2)});
    if (SmallPill(ui, label)) state.TogglePanel(false);
  }
  DrawShortened(ui, ui.small, {area.min.x + ui.Px(4), area.min.y}, Ink(ui.palette().dim),
                ui.T(Text::kDragHint), right - area.min.x - ui.Px(16));
}

}  // namespace

void DrawTimeline(const Ui& ui, Workspace& workspace, Area area) {
  const double began = ThreadTime();
  const Timeline& timeline = *workspace.document.timeline;
  const Palette& p = ui.palette();
  if (timeline.lanes.empty()) {
    return DrawNothing(ui, workspace, NothingRecorded(workspace), area);
  }
  ImGui::SetCursorScreenPos(area.min);
  const bool jumped = DrawSearch(ui, workspace);
  ImGui::SameLine();
  if (ImGui::Button(ui.T(Text::kFit))) workspace.timeline.JumpToAll();
  Tip(ui, ui.T(Text::kFitTip));
  ImGui::SameLine();
  DrawLegend(ui, workspace, ImGui::GetCursorScreenPos().x, area.max.x, area.min.y);

  const float labels = LabelsWidth(ui, workspace, area.width());
  const float top = area.min.y + ImGui::GetFrameHeight() + ui.Px(8);
  const float map = ui.Px(30);
  const float axis = ui.Px(22);
  const auto& analysis = workspace.document.analysis;
  const std::span<const CounterTrack> counters =
      analysis ? std::span<const CounterTrack>(analysis->counters)
               : std::span<const CounterTrack>();
  const bool groups = AsksForTable(workspace.search.text);
  const float below_rows =
      std::clamp(area.height() * (groups ? 0.4F : 0.26F), ui.Px(158), ui.Px(groups ? 460 : 260));
  const float whole = area.max.y - (top + map + ui.Px(6) + axis);
  const float needed = HeightOfRows(ui, workspace, counters);
  const Below what = BelowRows(workspace, needed, whole - below_rows);
  workspace.panel_shown = what != Below::kHint;
  float panel_height = workspace.panel_shown ? below_rows : FontPixels(ui.small) + ui.Px(11);
  if (what == Below::kWindow || what == Below::kSelection) {
    // The table takes what the rows leave free, down to its last whole row.
    const float free = whole - needed - ui.Px(16);
    panel_height =
        TableHeight(ui, timeline.stages.size(), std::max(below_rows, free) - ui.Px(6)) + ui.Px(6);
  }
  const Area rows{{area.min.x, top + map + ui.Px(6) + axis},
                  {area.max.x, area.max.y - panel_height}};
  const Area card{{area.min.x, top + map + ui.Px(6)}, rows.max};
  ImDrawList* list = ImGui::GetWindowDrawList();
  list->AddRectFilled(card.min, card.max, Ink(p.panel), ui.Px(6));
  list->AddRect(card.min, card.max, Ink(p.line, 0.8), ui.Px(6));

  TimelineCanvas canvas{ui,
                        workspace,
                        timeline,
                        {},
                        {rows.min, {rows.min.x + labels, rows.max.y}},
                        {{rows.min.x + labels, rows.min.y}, rows.max},
                        {0, 1, static_cast<double>(std::max(1.0F, rows.width() - labels)), 1}};
  canvas.Place(counters);
  if ((jumped || workspace.reveal) && workspace.timeline.span) {
    workspace.timeline.scroll = ScrollTo(canvas.rows, *workspace.timeline.span,
                                         workspace.timeline.scroll, canvas.RowsRoom());
  }
  workspace.reveal = false;
  DrawMiniMap(canvas, {{canvas.plot.min.x, top}, {area.max.x, top + map}});
  DrawLongest(ui, workspace, {{area.min.x, top}, {canvas.plot.min.x, rows.min.y}});
  const std::optional<SpanRef> hovered = HandleInput(canvas);
  canvas.Place(counters);  // input has moved the view, so rows are placed again
  DrawAxis(canvas, {{canvas.plot.min.x, rows.min.y - axis}, {rows.max.x, rows.min.y}});
  DrawRows(canvas);
  const bool menu = workspace.menu.timeline == workspace.document.timeline;
  DrawOverlays(canvas, hovered || !menu ? hovered : workspace.menu.span);
  if (workspace.timeline.marks_open) DrawMarks(canvas, canvas.plot);
  const ImVec2 mouse = ImGui::GetIO().MousePos;
  if (hovered) {
    DrawSpanCard(canvas, *hovered);
  } else if (ImGui::IsMouseHoveringRect(canvas.plot.min, canvas.plot.max)) {
    const Row* row = canvas.RowAt(mouse.y);
    if (row != nullptr && row->kind == RowKind::kCounter) DrawCounterCard(canvas, *row);
  }
  const Area below{{area.min.x, rows.max.y + ui.Px(6)}, area.max};
  switch (what) {
    case Below::kGroups:
      DrawGroupsPanel(canvas, below);
      break;
    case Below::kSelection:
      DrawSelectionPanel(canvas, below);
      break;
    case Below::kSpan:
      DrawSpanPanel(canvas, below);
      break;
    case Below::kWindow:
      DrawWindowPanel(canvas, below);
      break;
    case Below::kHint:
      DrawHint(ui, workspace, below);
      break;
  }
  DrawMenu(canvas);
  workspace.build_ms = ThreadTime() - began;
}

}  // namespace penstock::gui
