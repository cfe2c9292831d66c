// SPDX-License-Identifier: Apache-2.0
//
// Draws the time of each stage below the rows: in the selection, or in the visible window.
#include <algorithm>
#include <cmath>
#include <memory>
#include <span>
#include <vector>

#include <fmt/core.h>

#include "analyzer/words/format.h"
#include "gui/model/timeline/ticks.h"
#include "gui/views/timeline/timeline_canvas.h"

namespace penstock::gui {
namespace {

using analyzer::DurationText;

// Draws the table. `old`: `sums` belong to an earlier interval, because those of `range` are not
// ready yet. Returns the stage whose button was clicked to go to its longest span.
std::optional<traces::StageId> DrawSums(const Ui& ui, const Timeline& timeline,
                                        std::span<const StageSum> sums, TimeRange range, bool old) {
  std::optional<traces::StageId> longest;
  constexpr ImGuiTableFlags kFlags =
      ImGuiTableFlags_ScrollY | ImGuiTableFlags_RowBg | ImGuiTableFlags_SizingStretchProp;
  if (!ImGui::BeginTable("sums", 6, kFlags)) return longest;
  ImGui::TableSetupScrollFreeze(0, 1);
  ImGui::TableSetupColumn(ui.T(Text::kStage), 0, 2);
  ImGui::TableSetupColumn(ui.T(Text::kCount), 0, 1);
  ImGui::TableSetupColumn(ui.T(Text::kTime), 0, 1);
  ImGui::TableSetupColumn(ui.T(Text::kAtOnce), 0, 1);
  ImGui::TableSetupColumn(ui.T(Text::kMeanWhole), 0, 1);
  ImGui::TableSetupColumn("##longest", ImGuiTableColumnFlags_WidthFixed, ui.Px(80));
  ImGui::TableHeadersRow();
  if (old) ImGui::PushStyleColor(ImGuiCol_Text, Tint(ui.palette().dim));
  for (const StageSum& sum : sums) {
    ImGui::TableNextRow();
    ImGui::TableNextColumn();
    const ImVec2 at = ImGui::GetCursorScreenPos();
    DrawSwatch(ui, timeline, sum.stage, {at.x, at.y + ui.Px(2)});
    ImGui::Dummy({ui.Px(12), 1});
    ImGui::SameLine();
    ImGui::TextUnformatted(WordOf(sum.stage, ui.language).data());
    ImGui::TableNextColumn();
    ImGui::Text("%s", CountText(static_cast<double>(sum.count)).c_str());
    ImGui::TableNextColumn();
    ImGui::TextUnformatted(DurationText(Seconds(TimeNs{sum.time})).c_str());
    ImGui::TableNextColumn();
    const std::optional<double> threads = sum.threads(range);
    ImGui::TextUnformatted(threads ? fmt::format("{:.2f}", *threads).c_str() : "–");
    ImGui::TableNextColumn();
    const std::optional<double> mean = sum.mean();
    ImGui::TextUnformatted(mean ? DurationText(*mean).c_str() : "–");
    ImGui::TableNextColumn();
    ImGui::PushID(static_cast<int>(sum.stage));
    if (SmallPill(ui, ui.T(Text::kLongest))) longest = sum.stage;
    ImGui::PopID();
  }
  if (old) ImGui::PopStyleColor();
  ImGui::EndTable();
  return longest;
}

void GoToLongest(const TimelineCanvas& canvas, traces::StageId stage, TimeRange range) {
  TimelineState& state = canvas.workspace.timeline;
  const auto span = Longest(canvas.timeline, stage, range);
  if (!span) return;
  state.selection.reset();
  state.Go(canvas.timeline, *span);
  state.scroll = ScrollTo(canvas.rows, *span, state.scroll, canvas.RowsRoom());
}

std::string RangeTimes(TimeRange range) {
  const std::int64_t resolution = range.length() / 1000 + 1;
  return fmt::format("{} – {}", TimeText(range.from, resolution), TimeText(range.to, resolution));
}

// Draws the table of the stages in `range` once it is ready.
void DrawSumsOf(const TimelineCanvas& canvas, TimeRange range, Area area) {
  const Ui& ui = canvas.ui;
  Workspace& workspace = canvas.workspace;
  const std::shared_ptr<const OwnTimes> times = workspace.Times();
  const std::vector<StageSum>* found = nullptr;
  bool old = false;
  if (times != nullptr) {
    const SumsKey key{times, range};
    found = workspace.sums.Get(key, workspace.at_once, [key](const std::stop_token& stop) {
      return key.times->Of(key.range, stop);
    });
    old = found != nullptr && !(workspace.sums.key() == key);
  }
  if (found == nullptr) {
    DrawTextCentred(ImGui::GetWindowDrawList(), ui.body, area, Ink(ui.palette().dim),
                    ui.T(Text::kAnalysing));
    return;
  }
  BeginArea("sums", area, false);
  const auto longest = DrawSums(ui, canvas.timeline, *found, range, old);
  EndArea();
  if (longest) GoToLongest(canvas, *longest, range);
}

}  // namespace

float TableHeight(const Ui& ui, std::size_t stages, float most) {
  const float row = std::max(ImGui::GetTextLineHeight(), FontPixels(ui.small) + ui.Px(4)) +
                    2 * ImGui::GetStyle().CellPadding.y;
  const float head = ui.Px(22) + FontPixels(ui.strong) + ui.Px(6) + row;
  const float fit = std::max(1.0F, std::floor((most - head) / row));
  return head + std::min(static_cast<float>(stages), fit) * row + 1;
}

void DrawSelectionPanel(const TimelineCanvas& canvas, Area area) {
  const Ui& ui = canvas.ui;
  const Palette& p = ui.palette();
  Workspace& workspace = canvas.workspace;
  const TimeRange range = *workspace.timeline.selection;
  ImDrawList* list = ImGui::GetWindowDrawList();
  const Area inside = Panel(ui, area);
  DrawText(list, ui.strong, inside.min, Ink(p.text),
           ui.F(Text::kSelectedTime, DurationText(Seconds(TimeNs{range.length()}))));
  DrawTextRight(list, ui.small, inside.max.x, inside.min.y, Ink(p.dim), RangeTimes(range));
  const Area below{{inside.min.x, inside.min.y + FontPixels(ui.strong) + ui.Px(6)}, inside.max};
  DrawSumsOf(canvas, workspace.Range().value_or(TimeRange{}), below);
}

void DrawWindowPanel(const TimelineCanvas& canvas, Area area) {
  const Ui& ui = canvas.ui;
  const Palette& p = ui.palette();
  Workspace& workspace = canvas.workspace;
  TimelineState& state = workspace.timeline;
  TimeRange range = state.view.range();
  range = {std::max<std::int64_t>(range.from, 0), std::min(range.to, canvas.timeline.length)};
  if (range.empty()) range = {0, canvas.timeline.length};
  ImDrawList* list = ImGui::GetWindowDrawList();
  const Area inside = Panel(ui, area);
  DrawText(list, ui.strong, inside.min, Ink(p.text),
           ui.F(Text::kInView, DurationText(Seconds(TimeNs{range.length()}))));
  const char* hide = ui.T(Text::kTableHide);
  const float button = TextWidth(ui.small, hide) + 2 * ImGui::GetStyle().FramePadding.x;
  ImGui::SetCursorScreenPos({inside.max.x - button, inside.min.y - ui.Px(3)});
  if (SmallPill(ui, hide)) state.table = false;
  DrawTextRight(list, ui.small, inside.max.x - button - ui.Px(12), inside.min.y, Ink(p.dim),
                RangeTimes(range));
  const Area below{{inside.min.x, inside.min.y + FontPixels(ui.strong) + ui.Px(6)}, inside.max};
  DrawSumsOf(canvas, range, below);
}

}  // namespace penstock::gui
