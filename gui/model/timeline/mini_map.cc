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

// Stacks what the threads do in each column. The busiest column is as high as the strip.
std::vector<Box> Together(const std::vector<const Lane*>& lanes, std::int64_t trace_length,
                          const Window& whole) {
  std::vector<Box> boxes;
  if (lanes.size() == 1) {
    LayOut(lanes[0]->levels[0], trace_length, whole, boxes);
    return boxes;
  }
  std::vector<Column> columns(static_cast<std::size_t>(std::ceil(whole.width / whole.column)));
  for (const Lane* lane : lanes) {
    boxes.clear();
    LayOut(lane->levels[0], trace_length, whole, boxes);
    for (const Box& box : boxes) Cover(box, whole, columns);
  }
  boxes.clear();
  float most = 0;
  for (const Column& column : columns) most = std::max(most, column.sum());
  for (std::size_t c = 0; c < columns.size(); ++c) {
    const double left = static_cast<double>(c) * whole.column;
    float bottom = 0;
    for (std::size_t s = 0; s < wire::kStageCount; ++s) {
      if (columns[c].covered[s] <= 0) continue;
      const float top = std::min(1.0F, bottom + columns[c].covered[s] / most);
      boxes.push_back({static_cast<float>(left),
                       static_cast<float>(std::min(left + whole.column, whole.width)), bottom, top,
                       static_cast<traces::StageId>(s), Box::kMany, columns[c].colour[s]});
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
