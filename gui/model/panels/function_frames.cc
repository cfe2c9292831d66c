// SPDX-License-Identifier: Apache-2.0
//
// The frames of the flame graph: how they are found again, where they are drawn, where an arrow key
// leads.
#include <algorithm>

#include "gui/model/panels/functions.h"

namespace penstock::gui {
namespace {

bool IsWithin(const UnitProfile& profile, std::size_t frame, std::size_t above) {
  while (frame > above) {
    if (profile.frames[frame].parent == frame) return false;
    frame = profile.frames[frame].parent;
  }
  return frame == above;
}

}  // namespace

FramePath FramePathOf(const UnitProfile& profile, std::size_t frame) {
  FramePath path{profile.frames[frame].id};
  while (profile.frames[frame].parent != frame) {
    frame = profile.frames[frame].parent;
    path.push_back(profile.frames[frame].id);
  }
  std::reverse(path.begin(), path.end());
  return path;
}

std::optional<std::size_t> FrameAt(const UnitProfile& profile, const FramePath& path) {
  std::optional<std::size_t> at;
  std::size_t depth = 0;
  for (std::size_t i = 0; i < profile.frames.size() && depth < path.size(); ++i) {
    const FlameFrame& frame = profile.frames[i];
    const bool below = at ? frame.parent == *at && i != *at : frame.parent == i;
    if (frame.depth != depth || !below || frame.id != path[depth]) continue;
    at = i;
    ++depth;
  }
  return depth == path.size() ? at : std::nullopt;
}

std::optional<std::size_t> WidestFrame(const UnitProfile& profile, const FunctionId& id) {
  std::optional<std::size_t> widest;
  for (std::size_t i = 0; i < profile.frames.size(); ++i) {
    if (profile.frames[i].id != id) continue;
    if (!widest || profile.frames[i].width > profile.frames[*widest].width) widest = i;
  }
  return widest;
}

std::vector<FlameRect> FlameRects(const UnitProfile& profile, std::optional<std::size_t> zoomed) {
  std::vector<FlameRect> rects;
  const double left = zoomed ? profile.frames[*zoomed].left : 0;
  const double width = zoomed ? profile.frames[*zoomed].width : 1;
  for (std::size_t i = 0; i < profile.frames.size(); ++i) {
    const FlameFrame& frame = profile.frames[i];
    if (zoomed && i != *zoomed && IsWithin(profile, *zoomed, i)) {
      rects.push_back({.frame = i, .left = 0, .width = 1, .above = true});
    } else if (!zoomed || IsWithin(profile, i, *zoomed)) {
      rects.push_back(
          {.frame = i, .left = (frame.left - left) / width, .width = frame.width / width});
    }
  }
  return rects;
}

std::vector<FlameRect> OwnRects(const UnitProfile& profile, std::optional<std::size_t> zoomed) {
  std::vector<FlameRect> rects;
  const double whole = zoomed ? profile.frames[*zoomed].width : 1;
  for (const FlameRect& rect : FlameRects(profile, zoomed)) {
    const FlameFrame& frame = profile.frames[rect.frame];
    const bool calls = frame.own < frame.width;
    if (rect.above || !calls || whole <= 0) continue;
    const double width = frame.own / whole;
    rects.push_back({.frame = rect.frame, .left = rect.left + rect.width - width, .width = width});
  }
  return rects;
}

std::optional<std::size_t> NextFrame(const UnitProfile& profile, std::size_t frame, FlameWay way) {
  const FlameFrame& from = profile.frames[frame];
  if (way == FlameWay::kUp) {
    return from.parent == frame ? std::nullopt : std::optional(from.parent);
  }
  std::optional<std::size_t> best;
  for (std::size_t i = 0; i < profile.frames.size(); ++i) {
    const FlameFrame& other = profile.frames[i];
    if (i == frame) continue;
    const auto better = [&](bool candidate, double key, double best_key) {
      if (candidate && (!best || key > best_key)) best = i;
    };
    const double best_left = best ? profile.frames[*best].left : 0;
    switch (way) {
      case FlameWay::kDown:
        better(other.parent == frame, other.width, best ? profile.frames[*best].width : 0);
        break;
      case FlameWay::kLeft:
        better(other.depth == from.depth && other.left < from.left, other.left, best_left);
        break;
      case FlameWay::kRight:
        better(other.depth == from.depth && other.left > from.left, -other.left, -best_left);
        break;
      case FlameWay::kUp:
        break;
    }
  }
  return best;
}

}  // namespace penstock::gui
