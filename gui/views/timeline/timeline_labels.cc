// SPDX-License-Identifier: Apache-2.0
//
// Draws the names of rows, spans and values, and the column for the names of rows.
#include <algorithm>
#include <string>

#include <fmt/core.h>

#include "analyzer/words/format.h"
#include "gui/model/timeline/group_name.h"
#include "gui/views/timeline/timeline_canvas.h"

namespace penstock::gui {
namespace {

using traces::StageId;

// Draws a drawing pin if the row is pinned or the pointer is over it.
void DrawPin(const TimelineCanvas& canvas, const Row& row) {
  const auto pin = PinOf(row);
  const bool head = row.kind == RowKind::kCounter || row.first_of_lane;
  if (!pin || !head) return;
  const Ui& ui = canvas.ui;
  const bool pinned = canvas.workspace.timeline.IsPinned(*pin);
  const Row* hovered = ImGui::IsMouseHoveringRect(canvas.labels.min, canvas.labels.max)
                           ? canvas.RowAt(ImGui::GetIO().MousePos.y)
                           : nullptr;
  const bool asked = hovered != nullptr && hovered->pinned == row.pinned && PinOf(*hovered) == pin;
  if (!row.pinned && !asked) return;
  const Area area = PinArea(canvas, row);
  const bool over = ImGui::IsMouseHoveringRect(area.min, area.max);
  const ImU32 colour =
      Ink(pinned ? ui.palette().accent : ui.palette().dim, over || pinned ? 1 : 0.75);
  ImDrawList* list = ImGui::GetWindowDrawList();
  const ImVec2 c{(area.min.x + area.max.x) / 2, (area.min.y + area.max.y) / 2};
  list->AddRectFilled({c.x - ui.Px(3), c.y - ui.Px(5)}, {c.x + ui.Px(3), c.y}, colour, ui.Px(1));
  list->AddRectFilled({c.x - ui.Px(5), c.y}, {c.x + ui.Px(5), c.y + ui.Px(1.5F)}, colour);
  list->AddLine({c.x, c.y + ui.Px(1)}, {c.x, c.y + ui.Px(6)}, colour, ui.Px(1.2F));
}

// The process of a pinned row, which is not drawn below the name of its process: "worker 0 · ".
std::string OwnerOf(const TimelineCanvas& canvas, const Row& row) {
  const auto& groups = canvas.timeline.groups;
  const auto label = [&canvas](const Group& group) {
    return GroupLabel(canvas.ui, canvas.workspace, group) + " · ";
  };
  if (row.kind == RowKind::kLevel) return label(groups[row.group]);
  const CounterTrack& track = canvas.workspace.document.analysis->counters[row.counter];
  for (const Group& group : groups) {
    if (group.process.value == track.process) return label(group);
  }
  return "";
}

// "max 1.5", or "limit 4".
std::string MostText(const Ui& ui, const CounterTrack& track) {
  return ui.F(track.limit ? Text::kLimitOf : Text::kMostOf, CounterText(track, track.most));
}

}  // namespace

void DrawGroupLabel(const TimelineCanvas& canvas, const Row& row) {
  const Ui& ui = canvas.ui;
  const Palette& p = ui.palette();
  ImDrawList* list = ImGui::GetWindowDrawList();
  const bool folded = canvas.workspace.timeline.folded.contains(row.group);
  const float y = canvas.Top(row) + (ui.Px(row.height - 2) - FontPixels(ui.strong)) / 2;
  const float x = canvas.labels.min.x + ui.Px(6);
  // A triangle. It points right if the group is folded, else down.
  const ImVec2 c{x + ui.Px(4), y + FontPixels(ui.strong) / 2 + ui.Px(0.5F)};
  const float r = ui.Px(4);
  if (folded) {
    list->AddTriangleFilled({c.x - r * 0.6F, c.y - r}, {c.x - r * 0.6F, c.y + r}, {c.x + r, c.y},
                            Ink(p.dim));
  } else {
    list->AddTriangleFilled({c.x - r, c.y - r * 0.6F}, {c.x + r, c.y - r * 0.6F}, {c.x, c.y + r},
                            Ink(p.dim));
  }
  const float left = x + ui.Px(14);
  if (row.group == Row::kAllGroups) {
    DrawText(list, ui.strong, {left, y}, Ink(p.text), ui.T(Text::kWholeMachine));
    return;
  }
  const Group& group = canvas.timeline.groups[row.group];
  const std::string pid = std::to_string(group.pid);
  const float room = canvas.labels.max.x - left - ui.Px(8) - TextWidth(ui.small, pid);
  // The files of loaders are shortened first.
  const std::string brief =
      group.other_loader ? GroupName(canvas.timeline, group,
                                     WithoutFiles(canvas.workspace.LoadersById()), ui.language)
                         : "";
  DrawShortened(ui, ui.strong, {left, y}, Ink(p.text), GroupLabel(ui, canvas.workspace, group),
                room - ui.Px(6), brief);
  DrawTextRight(list, ui.small, canvas.labels.max.x - ui.Px(8), y + ui.Px(1.5F), Ink(p.dim), pid);
}

void DrawRowLabel(const TimelineCanvas& canvas, const Row& row) {
  const Ui& ui = canvas.ui;
  const Palette& p = ui.palette();
  ImDrawList* list = ImGui::GetWindowDrawList();
  const float left = canvas.labels.min.x + ui.Px(20);
  const float right = canvas.labels.max.x - ui.Px(8);
  const float y = canvas.Top(row) + (ui.Px(row.height) - FontPixels(ui.small)) / 2;
  DrawPin(canvas, row);
  const std::string owner = row.pinned ? OwnerOf(canvas, row) : "";
  if (row.kind == RowKind::kCounter) {
    const Analysis& analysis = *canvas.workspace.document.analysis;
    const CounterTrack& track = analysis.counters[row.counter];
    const std::string most = MostText(ui, track);
    const float top = canvas.Top(row) + ui.Px(2);
    DrawTextRight(list, ui.small, right, top, Ink(p.dim), most);
    DrawShortened(ui, ui.small, {left, y}, Ink(p.text),
                  owner + CounterTitle(track, analysis.report, ui.language),
                  right - left - TextWidth(ui.small, most) - ui.Px(6));
  } else if (row.first_of_lane) {
    DrawShortened(ui, ui.small, {left, y}, Ink(p.dim),
                  owner + LaneLabel(ui, canvas.timeline.lanes[row.lane]), right - left - ui.Px(12));
  }
}

std::optional<Pin> PinOf(const Row& row) {
  if (row.kind == RowKind::kGroup) return std::nullopt;
  return row.name;
}

Area PinArea(const TimelineCanvas& canvas, const Row& row) {
  const Ui& ui = canvas.ui;
  const float right = canvas.labels.max.x - ui.Px(3);
  const float top = canvas.Top(row) + (row.kind == RowKind::kCounter ? ui.Px(17) : 0);
  return {{right - ui.Px(17), top}, {right, top + ui.Px(17)}};
}

std::string GroupLabel(const Ui& ui, const Workspace& workspace, const Group& group) {
  return GroupName(*workspace.document.timeline, group, workspace.LoadersById(), ui.language);
}

float LabelsWidth(const Ui& ui, const Workspace& workspace, float width) {
  // The names of a run with thousands of processes and threads are alike. Measuring all of them
  // would take milliseconds in each frame.
  constexpr std::size_t kMeasured = 64;
  const Document& document = workspace.document;
  const std::vector<Group>& groups = document.timeline->groups;
  float most = ui.Px(190);
  for (std::size_t g = 0; g < std::min(groups.size(), kMeasured); ++g) {
    most = std::max(most, TextWidth(ui.strong, GroupLabel(ui, workspace, groups[g])) +
                              TextWidth(ui.small, std::to_string(groups[g].pid)) + ui.Px(35));
  }
  std::size_t lanes = 0;
  for (const Group& group : groups) {
    for (const std::size_t lane : group.lanes) {
      if (lanes++ >= kMeasured) break;
      const std::string label = LaneLabel(ui, document.timeline->lanes[lane]);
      most = std::max(most, TextWidth(ui.small, label) + ui.Px(41));
    }
  }
  const auto* analysis = document.analysis.get();
  for (std::size_t c = 0; analysis != nullptr && c < analysis->counters.size(); ++c) {
    const CounterTrack& track = analysis->counters[c];
    if (track.process != CounterTrack::kAll) continue;
    const std::string title = CounterTitle(track, analysis->report, ui.language);
    most = std::max(
        most, TextWidth(ui.small, title) + TextWidth(ui.small, MostText(ui, track)) + ui.Px(35));
  }
  return std::min(most, std::max(ui.Px(190), 0.22F * width));
}

std::string LaneLabel(const Ui& ui, const Lane& lane) {
  if (lane.main) return ui.T(Text::kLaneMain);
  if (lane.stream && lane.rank_of_device >= 0) {
    return ui.F(Text::kLaneStreamOfRank, lane.rank_of_device, lane.stream->stream);
  }
  if (lane.stream) return ui.F(Text::kLaneStream, lane.stream->device, lane.stream->stream);
  if (lane.role == LaneRole::kQueueFeeder) return ui.T(Text::kLaneFeeder);
  if (lane.role == LaneRole::kPinThread) return ui.T(Text::kLanePin);
  if (lane.role == LaneRole::kBackward) return ui.T(Text::kLaneBackward);
  if (lane.label.empty()) return ui.F(Text::kLaneThread, lane.tid);
  if (!lane.alike) return lane.label;
  return lane.label + analyzer::InParentheses(std::to_string(lane.tid), ui.language);
}

std::string SpanLabel(const Ui& ui, const Workspace& workspace, SpanRef span) {
  const Timeline& timeline = *workspace.document.timeline;
  const SpanDetail& detail = timeline.detail(span);
  const StageId stage = timeline.stage(span);
  const std::string name(WordOf(stage, ui.language));
  switch (stage) {
    case StageId::kFetch:
    case StageId::kWait:
    case StageId::kStep:
    case StageId::kPut:
    case StageId::kGet:
    case StageId::kPin:
      return detail.key().valid() ? fmt::format("{} {}", name, detail.batch) : name;
    case StageId::kIdle:
      return name;
    case StageId::kSample:
      if (detail.sample != SpanDetail::kNoSample) return fmt::format("{} {}", name, detail.sample);
      return name;
    case StageId::kRead: {
      const std::string_view path = workspace.document.trace->String(detail.object);
      const std::size_t slash = path.rfind('/');
      return path.empty() ? name : name + " " + std::string(path.substr(slash + 1));
    }
    default:
      break;
  }
  const std::string_view own = workspace.document.trace->String(detail.name);
  return own.empty() ? name : std::string(own);
}

}  // namespace penstock::gui
