// SPDX-License-Identifier: Apache-2.0
//
// Draws the rows of the timeline: spans, counters, names.
#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>

#include <fmt/core.h>

#include "analyzer/report/format.h"
#include "gui/model/ticks.h"
#include "gui/views/timeline_canvas.h"

namespace penstock::gui {
namespace {

using traces::StageId;

struct Colours {
  std::array<ImU32, wire::kStageCount> stage;
};

Colours ColoursOf(const Ui& ui) {
  Colours colours;
  for (std::size_t s = 0; s < colours.stage.size(); ++s) {
    colours.stage[s] = ui.Stage(static_cast<StageId>(s));
  }
  return colours;
}

void DrawBoxes(const TimelineCanvas& canvas, const Row& row, const Level& level,
               const Colours& colours, std::vector<Box>& boxes) {
  const Ui& ui = canvas.ui;
  ImDrawList* list = ImGui::GetWindowDrawList();
  boxes.clear();
  LayOut(level, canvas.timeline.length, canvas.window, boxes);
  const float top = canvas.Top(row);
  const float height = ui.Px(row.height) - 1;
  const float left = canvas.plot.min.x;
  const ImVec2 white =
      ImGui::GetDrawListSharedData() != nullptr ? ImGui::GetFontTexUvWhitePixel() : ImVec2(0, 0);
  const TimelineState& state = canvas.workspace.timeline;
  // All rectangles of a row at once: some 64,000 indices are the most that one reservation takes.
  constexpr std::size_t kMost = 8'000;
  for (std::size_t begin = 0; begin < boxes.size(); begin += kMost) {
    const std::size_t end = std::min(boxes.size(), begin + kMost);
    const auto count = static_cast<int>(end - begin);
    list->PrimReserve(6 * count, 4 * count);
    int unused = 0;
    for (std::size_t i = begin; i < end; ++i) {
      const Box& box = boxes[i];
      if (!state.Shows(box.stage)) {
        ++unused;
        continue;
      }
      const float x0 = left + box.x0;
      // A gap between neighbours that are wide enough to have one; a density has no gaps but its
      // own.
      const bool gap = box.span != Box::kMany && box.x1 - box.x0 > 3;
      const float x1 = left + box.x1 - (gap ? 1.0F : 0.0F);
      const ImVec2 a{x0, top + (1 - box.top) * height};
      const ImVec2 b{std::max(x1, x0 + 0.5F), top + (1 - box.bottom) * height};
      list->PrimRectUV(a, b, white, white, colours.stage[StageIndex(box.stage)]);
    }
    list->PrimUnreserve(6 * unused, 4 * unused);
  }
}

// "fetch 12" -> "12"; anything else stays.
std::string ShortLabel(const std::string& label) {
  const std::size_t space = label.rfind(' ');
  if (space == std::string::npos || space + 1 == label.size()) return label;
  const auto digit = [](char c) { return c >= '0' && c <= '9'; };
  const bool number =
      std::all_of(label.begin() + static_cast<std::ptrdiff_t>(space) + 1, label.end(), digit);
  return number ? label.substr(space + 1) : label;
}

void DrawBoxLabels(const TimelineCanvas& canvas, const Row& row, const std::vector<Box>& boxes) {
  const Ui& ui = canvas.ui;
  ImDrawList* list = ImGui::GetWindowDrawList();
  const float pad = ui.Px(4);
  const float y = canvas.Top(row) + (ui.Px(row.height) - 1 - ui.small->FontSize) / 2;
  for (const Box& box : boxes) {
    if (box.span == Box::kMany || box.x1 - box.x0 < ui.Px(22)) continue;
    if (!canvas.workspace.timeline.Shows(box.stage)) continue;
    const std::string label = SpanLabel(canvas.workspace, SpanRef{row.lane, row.level, box.span});
    const float room = box.x1 - box.x0 - 2 * pad;
    // What does not fit: the number alone, else as much as says something.
    std::string text = label;
    if (TextWidth(ui.small, text) > room) text = ShortLabel(label);
    if (TextWidth(ui.small, text) > room) {
      if (room < ui.Px(44)) continue;
      text = Elided(ui.small, label, room);
    }
    DrawText(list, ui.small, {canvas.plot.min.x + box.x0 + pad, y},
             Ink(InkOn(StageColour(box.stage, ui.theme))), text);
  }
}

void DrawCounter(const TimelineCanvas& canvas, const Row& row) {
  const Ui& ui = canvas.ui;
  const Palette& p = ui.palette();
  ImDrawList* list = ImGui::GetWindowDrawList();
  const CounterTrack& track = canvas.workspace.document.analysis->counters[row.counter];
  const float top = canvas.Top(row) + ui.Px(3);
  const float bottom = canvas.Top(row) + ui.Px(row.height) - ui.Px(2);
  const auto columns = static_cast<std::size_t>(std::max(1.0F, canvas.plot.width()));
  const std::vector<float> values = Resample(track, canvas.window.from, canvas.window.to, columns);
  const Rgb colour = track.kind == CounterKind::kCpu      ? StageColour(StageId::kAugment, ui.theme)
                     : track.kind == CounterKind::kMemory ? StageColour(StageId::kCollate, ui.theme)
                                                          : StageColour(StageId::kRead, ui.theme);
  const double most = std::max(track.most, 1e-12);
  list->AddLine({canvas.plot.min.x, bottom}, {canvas.plot.max.x, bottom}, Ink(p.line));
  // Columns of one height are one rectangle.
  for (std::size_t c = 0; c < values.size();) {
    std::size_t end = c + 1;
    while (end < values.size() && values[end] == values[c]) ++end;
    if (values[c] >= 0) {
      const float y = bottom - static_cast<float>(values[c] / most) * (bottom - top);
      const float x0 = canvas.plot.min.x + static_cast<float>(c);
      const float x1 = canvas.plot.min.x + static_cast<float>(end);
      list->AddRectFilled({x0, y}, {x1, bottom}, Ink(colour, 0.35));
      list->AddRectFilled({x0, y}, {x1, std::min(y + ui.Px(1.5F), bottom)}, Ink(colour));
    }
    c = end;
  }
}

void DrawGroupHead(const TimelineCanvas& canvas, const Row& row, const Colours& colours,
                   std::vector<Box>& boxes) {
  const Ui& ui = canvas.ui;
  const Palette& p = ui.palette();
  ImDrawList* list = ImGui::GetWindowDrawList();
  const float top = canvas.Top(row);
  const float height = ui.Px(row.height);
  const bool folded = canvas.workspace.timeline.folded.contains(row.group);
  list->AddRectFilled({canvas.labels.min.x, top}, {canvas.plot.max.x, top + height - ui.Px(2)},
                      Ink(p.raised, 0.55));
  if (folded && row.group != Row::kAllGroups && !canvas.timeline.lanes[row.lane].levels.empty()) {
    Row thin = row;
    thin.top += 4;
    thin.height -= 9;
    DrawBoxes(canvas, thin, canvas.timeline.lanes[row.lane].levels[0], colours, boxes);
  }
}

void DrawGroupLabel(const TimelineCanvas& canvas, const Row& row) {
  const Ui& ui = canvas.ui;
  const Palette& p = ui.palette();
  ImDrawList* list = ImGui::GetWindowDrawList();
  const bool folded = canvas.workspace.timeline.folded.contains(row.group);
  const float y = canvas.Top(row) + (ui.Px(row.height - 2) - ui.strong->FontSize) / 2;
  const float x = canvas.labels.min.x + ui.Px(6);
  // A triangle that points at what it unfolds.
  const ImVec2 c{x + ui.Px(4), y + ui.strong->FontSize / 2 + ui.Px(0.5F)};
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
  const bool ranks = canvas.timeline.groups.front().rank != canvas.timeline.groups.back().rank;
  const std::string pid = std::to_string(group.pid);
  const float room = canvas.labels.max.x - left - ui.Px(8) - TextWidth(ui.small, pid);
  DrawText(list, ui.strong, {left, y}, Ink(p.text),
           Elided(ui.strong, GroupLabel(ui, group, ranks), room - ui.Px(6)));
  DrawTextRight(list, ui.small, canvas.labels.max.x - ui.Px(8), y + ui.Px(1.5F), Ink(p.dim), pid);
}

void DrawRowLabel(const TimelineCanvas& canvas, const Row& row) {
  const Ui& ui = canvas.ui;
  const Palette& p = ui.palette();
  ImDrawList* list = ImGui::GetWindowDrawList();
  const float left = canvas.labels.min.x + ui.Px(20);
  const float right = canvas.labels.max.x - ui.Px(8);
  const float y = canvas.Top(row) + (ui.Px(row.height) - ui.small->FontSize) / 2;
  if (row.kind == RowKind::kCounter) {
    const CounterTrack& track = canvas.workspace.document.analysis->counters[row.counter];
    const std::string most = CounterText(track, track.most);
    const float top = canvas.Top(row) + ui.Px(2);
    DrawTextRight(list, ui.small, right, top, Ink(p.dim), most);
    DrawText(list, ui.small, {left, y}, Ink(p.text),
             Elided(ui.small, ui.T(CounterName(track.kind)),
                    right - left - TextWidth(ui.small, most) - ui.Px(6)));
  } else if (row.first_of_lane) {
    DrawText(list, ui.small, {left, y}, Ink(p.dim),
             Elided(ui.small, canvas.timeline.lanes[row.lane].label, right - left));
  }
}

}  // namespace

const Row* TimelineCanvas::RowOf(SpanRef span) const {
  const Row* group = nullptr;
  for (const Row& row : rows) {
    if (row.kind == RowKind::kLevel && row.lane == span.lane && row.level == span.level)
      return &row;
    if (row.kind != RowKind::kGroup || row.group == Row::kAllGroups) continue;
    const auto& lanes = timeline.groups[row.group].lanes;
    if (std::find(lanes.begin(), lanes.end(), span.lane) != lanes.end()) group = &row;
  }
  return group;
}

const Row* TimelineCanvas::RowAt(float y) const {
  for (const Row& row : rows) {
    if (y >= Top(row) && y < Top(row) + ui.Px(row.height)) return &row;
  }
  return nullptr;
}

float TimelineCanvas::RowsHeight() const {
  return rows.empty() ? 0 : rows.back().top + rows.back().height + 10;
}

Text CounterName(CounterKind kind) {
  return kind == CounterKind::kCpu      ? Text::kCpuCores
         : kind == CounterKind::kMemory ? Text::kMemory
                                        : Text::kReadyBatches;
}

std::string CounterText(const CounterTrack& track, double value) {
  if (track.kind == CounterKind::kMemory) {
    return analyzer::BytesText(static_cast<std::uint64_t>(std::max(value, 0.0)));
  }
  return fmt::format("{:.3g}", value);
}

std::string GroupLabel(const Ui& ui, const Group& group, bool ranks) {
  std::string label;
  if (group.kind == GroupKind::kWorker && group.worker_id >= 0) {
    label = ui.F(Text::kWorkerN, group.worker_id);
  } else if (group.kind == GroupKind::kConsumer) {
    label = ui.T(Text::kTrainingProgram);
  } else {
    label = group.name.empty() ? std::string(ui.T(Text::kProgram)) : group.name;
  }
  if (ranks && group.rank >= 0) label = ui.F(Text::kRankN, group.rank) + " " + label;
  return label;
}

std::string SpanLabel(const Workspace& workspace, SpanRef span) {
  const Timeline& timeline = *workspace.document.timeline;
  const SpanDetail& detail = timeline.detail(span);
  const StageId stage = timeline.stage(span);
  const std::string name(traces::StageName(stage));
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

void DrawRows(const TimelineCanvas& canvas) {
  const Ui& ui = canvas.ui;
  const Palette& p = ui.palette();
  ImDrawList* list = ImGui::GetWindowDrawList();
  list->PushClipRect({canvas.labels.min.x, canvas.plot.min.y}, canvas.plot.max, true);
  const Colours colours = ColoursOf(ui);
  std::vector<Box> boxes;
  // Time outside the trace.
  const float begin = canvas.X(0);
  const float end = canvas.X(canvas.timeline.length);
  if (begin > canvas.plot.min.x) {
    list->AddRectFilled(canvas.plot.min, {begin, canvas.plot.max.y}, Ink(p.background, 0.6));
  }
  if (end < canvas.plot.max.x) {
    list->AddRectFilled({end, canvas.plot.min.y}, canvas.plot.max, Ink(p.background, 0.6));
  }
  for (const Row& row : canvas.rows) {
    if (!canvas.Visible(row)) continue;
    list->PushClipRect(canvas.plot.min, canvas.plot.max, true);
    if (row.kind == RowKind::kLevel) {
      DrawBoxes(canvas, row, canvas.timeline.lanes[row.lane].levels[row.level], colours, boxes);
      DrawBoxLabels(canvas, row, boxes);
    } else if (row.kind == RowKind::kCounter) {
      DrawCounter(canvas, row);
    }
    list->PopClipRect();
    if (row.kind == RowKind::kGroup) {
      DrawGroupHead(canvas, row, colours, boxes);
      DrawGroupLabel(canvas, row);
    } else {
      DrawRowLabel(canvas, row);
    }
  }
  list->PopClipRect();
  list->AddLine({canvas.plot.min.x, canvas.plot.min.y}, {canvas.plot.min.x, canvas.plot.max.y},
                Ink(p.line));
}

}  // namespace penstock::gui
