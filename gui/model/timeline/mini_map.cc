// SPDX-License-Identifier: Apache-2.0
#include "gui/model/timeline/mini_map.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace penstock::gui {
namespace {

using traces::StageId;

constexpr std::size_t kMostAlone = 4;  // strips of a trace without training processes

// One column of a strip: how much of it each stage covers, over all threads.
struct Column {
  std::array<float, wire::kStageCount> covered{};
  std::array<float, wire::kStageCount> largest{};  // of the box that gives `colour`
  std::array<std::uint8_t, wire::kStageCount> colour{};

  [[nodiscard]] float sum() const {
    float all = 0;
    for (const float part : covered) all += part;
    return all;
  }
};

void Cover(const Box& box, const Window& whole, std::vector<Column>& columns) {
  const auto stage = static_cast<std::size_t>(box.stage);
  const auto width = static_cast<float>(whole.column);
  const auto first = static_cast<std::size_t>(std::max(0.0F, box.x0 / width));
  for (std::size_t c = first; c < columns.size(); ++c) {
    const float left = static_cast<float>(c) * width;
    if (left >= box.x1) break;
    const float part = (std::min(box.x1, left + width) - std::max(box.x0, left)) / width;
    const float area = std::max(0.0F, part) * (box.top - box.bottom);
    columns[c].covered[stage] += area;
    if (area < columns[c].largest[stage]) continue;
    columns[c].largest[stage] = area;
    columns[c].colour[stage] = box.colour;
  }
}

bool HasWaits(const Level& level) {
  constexpr auto kStage = static_cast<std::size_t>(StageId::kWait);
  return !level.totals.empty() && level.totals.back().count[kStage] > 0;
}

// Whether a loop waits on a level below its outermost spans, as one that uses two loaders does.
bool WaitsInside(const Lane& lane) {
  return std::any_of(lane.levels.begin() + 1, lane.levels.end(), HasWaits);
}

// Shows the waits inside steps, which are for another loader, instead of the steps.
void ShowWaitsInside(const Lane& lane, const Window& whole, std::vector<Column>& columns) {
  std::vector<Column> waits(columns.size());
  for (std::size_t v = 1; v < lane.levels.size(); ++v) {
    const Level& level = lane.levels[v];
    const Level& around = lane.levels[v - 1];
    for (std::size_t i = 0; HasWaits(level) && i < level.size(); ++i) {
      if (level.stage(i) != StageId::kWait) continue;
      const std::size_t parent = around.FirstEndingAfter(level.start[i]);
      const bool inside = parent < around.size() && around.start[parent] <= level.start[i];
      if (!inside || around.stage(parent) != StageId::kStep) continue;
      Box box;
      box.x0 = static_cast<float>(whole.X(level.start[i]));
      box.x1 = static_cast<float>(whole.X(level.end(i)));
      box.stage = StageId::kWait;
      Cover(box, whole, waits);
    }
  }
  constexpr auto kWait = static_cast<std::size_t>(StageId::kWait);
  constexpr auto kStep = static_cast<std::size_t>(StageId::kStep);
  for (std::size_t c = 0; c < columns.size(); ++c) {
    const float moved = std::min(waits[c].covered[kWait], columns[c].covered[kStep]);
    if (moved <= 0) continue;
    columns[c].covered[kStep] -= moved;
    columns[c].covered[kWait] += moved;
    columns[c].colour[kWait] = waits[c].colour[kWait];
  }
}

// Stacks what the threads do in each column. The busiest column is as high as the strip; one thread
// alone fills it where it does something all the time.
std::vector<Box> Together(const std::vector<const Lane*>& lanes, std::int64_t trace_length,
                          const Window& whole) {
  std::vector<Box> boxes;
  if (lanes.size() == 1 && !WaitsInside(*lanes[0])) {
    LayOut(lanes[0]->levels[0], trace_length, whole, boxes);
    return boxes;
  }
  std::vector<Column> columns(static_cast<std::size_t>(std::ceil(whole.width / whole.column)));
  for (const Lane* lane : lanes) {
    boxes.clear();
    LayOut(lane->levels[0], trace_length, whole, boxes);
    for (const Box& box : boxes) Cover(box, whole, columns);
    if (WaitsInside(*lane)) ShowWaitsInside(*lane, whole, columns);
  }
  boxes.clear();
  float most = lanes.size() == 1 ? 1 : 0;
  for (const Column& column : columns) most = std::max(most, column.sum());
  for (std::size_t c = 0; c < columns.size(); ++c) {
    const double left = static_cast<double>(c) * whole.column;
    float bottom = 0;
    for (std::size_t s = 0; s < wire::kStageCount; ++s) {
      if (columns[c].covered[s] <= 0) continue;
      const float top = std::min(1.0F, bottom + columns[c].covered[s] / most);
      boxes.push_back({static_cast<float>(left),
                       static_cast<float>(std::min(left + whole.column, whole.width)), bottom, top,
                       static_cast<StageId>(s), Box::kMany, columns[c].colour[s]});
      bottom = top;
    }
  }
  return boxes;
}

// The thread of a training process that runs its loop: the main thread, else the busiest one.
const Lane* LoopOf(const Timeline& timeline, const Group& group) {
  const Lane* loop = nullptr;
  for (const std::size_t l : group.lanes) {
    const Lane& lane = timeline.lanes[l];
    if (lane.stream || lane.levels.empty()) continue;
    const bool better =
        loop == nullptr || std::pair(lane.main, lane.spans) > std::pair(loop->main, loop->spans);
    if (better) loop = &lane;
  }
  return loop;
}

}  // namespace

std::vector<std::vector<Box>> MapStrips(const Timeline& timeline, const Window& whole) {
  std::array<std::vector<const Lane*>, 3> lanes;
  auto& [loops, others, streams] = lanes;
  for (const Group& group : timeline.groups) {
    if (group.kind == GroupKind::kOther) continue;
    const Lane* loop = group.kind == GroupKind::kConsumer ? LoopOf(timeline, group) : nullptr;
    if (loop != nullptr) loops.push_back(loop);
    for (const std::size_t l : group.lanes) {
      const Lane& lane = timeline.lanes[l];
      if (&lane == loop || lane.levels.empty()) continue;
      (lane.stream ? streams : others).push_back(&lane);
    }
  }
  std::vector<std::vector<Box>> strips;
  for (const std::vector<const Lane*>& together : lanes) {
    if (!together.empty()) strips.push_back(Together(together, timeline.length, whole));
  }
  const bool none = strips.empty();
  for (std::size_t l = 0; none && l < std::min(timeline.lanes.size(), kMostAlone); ++l) {
    if (timeline.lanes[l].levels.empty()) continue;
    strips.push_back(Together({&timeline.lanes[l]}, timeline.length, whole));
  }
  return strips;
}

}  // namespace penstock::gui
