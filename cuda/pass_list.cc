// SPDX-License-Identifier: Apache-2.0
#include "cuda/pass_list.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "cuda/taps_body.h"

namespace penstock::cuda {
namespace {

int TapsOf(const Axis& axis) {
  const double support = ReachOf(axis).support;
  return support == 0 ? 1 : static_cast<int>(std::ceil(2 * support)) + 1;
}

std::int64_t RoundedUp(std::int64_t value, std::int64_t unit) {
  return (value + unit - 1) / unit * unit;
}

// The largest number of source columns that `outputs` neighbouring outputs can read.
int ColumnsRead(const Axis& axis, int outputs, int taps) {
  return static_cast<int>(std::ceil((outputs - 1) * axis.ratio)) + taps + 1;
}

// Whether a source with `size` pixels along the axis has all pixels with weight for outputs [from,
// from + count). The last tap of an output may lie outside if it has no weight.
bool IsInside(const Axis& axis, int from, int count, int size) {
  const Reach reach = ReachOf(axis);
  const FirstTap a = FirstTapOf(axis, reach, from);
  const FirstTap b = FirstTapOf(axis, reach, from + count - 1);
  const int low = std::min(a.start, b.start);
  // Chosen by position, not by start: in an enlargement two outputs may read from the same first
  // pixel on, but up to different last ones.
  const FirstTap& last = axis.mirrored ? a : b;
  // Number of pixels with weight after the first one: the support is larger than the distance of
  // their centres from the output's centre.
  const int further =
      reach.support == 0 ? 0 : static_cast<int>(std::ceil(reach.support - last.distance)) - 1;
  const int high = std::min(last.start + std::max(further, 0), axis.limit - 1);
  return axis.base + low >= 0 && axis.base + high < size;
}

bool IsIdentity(const Axis& axis) {
  return axis.ratio == 1 && axis.offset == 0;
}

Launch::Kind KindOf(const Pass& pass) {
  return pass.gather == Gather::kTiled    ? Launch::Kind::kTiled
         : pass.gather == Gather::kBlur   ? Launch::Kind::kBlur
         : pass.gather == Gather::kStream ? Launch::Kind::kStream
                                          : Launch::Kind::kPixels;
}

// The special endings store one of two things: rounded bytes for the next pass, or the final form
// of values that were not rounded.
Ending EndingOf(const Pass& pass) {
  if (pass.points + pass.masks > 0 || pass.sum >= 0 || pass.final == pass.round) {
    return Ending::kAny;
  }
  if (!pass.final) return Ending::kBytes;
  return pass.element == Element::kU8    ? Ending::kU8
         : pass.element == Element::kF16 ? Ending::kF16
                                         : Ending::kF32;
}

int Blocks(std::int64_t items) {
  constexpr int kEach = kItems * kThreads;
  return static_cast<int>((items + kEach - 1) / kEach);
}

}  // namespace

Tile ChooseTile(const Pass& pass) {
  constexpr int kFloat = sizeof(float);
  // In wide tiles fewer lanes are idle; in high tiles neighbours share source rows.
  constexpr std::pair<int, int> kShapes[] = {{128, 16}, {64, 16}, {32, 16}, {32, 8}, {32, 4},
                                             {16, 8},   {16, 4},  {8, 8},   {8, 4},  {4, 4},
                                             {2, 4},    {1, 2},   {1, 1}};
  const bool blur = pass.gather == Gather::kBlur;
  Tile tile;
  tile.taps_x = blur ? 2 * pass.radius + 1 : TapsOf(pass.x);
  tile.taps_y = blur ? tile.taps_x : TapsOf(pass.y);
  tile.step_x = static_cast<int>(RoundedUp(tile.taps_x, 4));
  tile.step_y = static_cast<int>(RoundedUp(tile.taps_y, 4));
  for (const auto& [width, height] : kShapes) {
    const int columns = blur ? width + tile.taps_x : ColumnsRead(pass.x, width, tile.taps_x);
    tile.pitch = static_cast<int>(RoundedUp(3 * std::int64_t{columns} + 6, 4));
    tile.strips = height == 16 ? 2 : 1;
    const std::int64_t outputs = std::int64_t{height} * tile.strips;
    const std::int64_t floats = std::int64_t{height} * tile.pitch +
                                std::int64_t{width} * tile.step_x + outputs * tile.step_y + width +
                                outputs;
    if (floats * kFloat > kSharedBytes) continue;
    tile.width = width;
    tile.height = height;
    tile.shared_bytes = static_cast<int>(floats) * kFloat;
    return tile;
  }
  return {};
}

void PassList::Clear() {
  passes_.clear();
  levels_.clear();
  points_.clear();
  weights_.clear();
  launches_.clear();
  sums_ = 0;
  scratch_ = 0;
  moved_ = 0;
}

void PassList::Begin(const PictureAt& source) {
  source_ = source;
  width_ = source.width;
  height_ = source.height;
  pending_ = cropped_ = finished_ = false;
  level_ = 0;
}

// Flushes the pending pass and begins a new one.
void PassList::StartGather(Gather gather, int width, int height) {
  if (pending_) Flush();
  pass_ = Pass{};
  pass_.gather = gather;
  pass_.source = source_;
  pass_.width = width_ = width;
  pass_.height = height_ = height;
  pass_.kept = {0, 0, width, height};
  pass_.first_point = static_cast<int>(points_.size());
  pending_ = true;
  cropped_ = false;
}

// Chooses the tile of the pending pass. If none fits, drops the pass and fails.
Result<void> PassList::Divide() {
  pass_.tile = ChooseTile(pass_);
  if (pass_.tile.width != 0) return {};
  pending_ = false;
  return Fail(ErrorKind::kInput,
              fmt::format("{}x{} to {}x{} pixels needs more shared memory than the device has: "
                          "leave augment on the CPU",
                          pass_.source.width, pass_.source.height, pass_.width, pass_.height));
}

Result<void> PassList::Resize(const Axis& x, const Axis& y) {
  if (IsIdentity(x) && IsIdentity(y)) {
    const bool at_source = !pending_;
    const Box window{x.base + x.first, y.base + y.first, x.count, y.count};
    if (at_source && (window.x < 0 || window.y < 0 || window.x + window.width > source_.width ||
                      window.y + window.height > source_.height)) {
      return Fail(ErrorKind::kUsage, "the device was given less of a picture than is needed");
    }
    Window(window, x.mirrored, y.mirrored);
    return {};
  }
  StartGather(Gather::kTiled, x.count, y.count);
  pass_.x = x;
  pass_.y = y;
  pass_.reach_x = ReachOf(x);
  pass_.reach_y = ReachOf(y);
  if (!IsInside(x, 0, x.count, source_.width) || !IsInside(y, 0, y.count, source_.height)) {
    pending_ = false;
    return Fail(ErrorKind::kUsage, "the device was given less of a picture than is needed");
  }
  return Divide();
}

void PassList::Window(const Box& window, bool mirror_x, bool mirror_y) {
  const bool inside = window.x >= 0 && window.y >= 0 && window.x + window.width <= width_ &&
                      window.y + window.height <= height_;
  if (pending_ && inside && !cropped_ && pass_.sum < 0) {
    pass_.kept = window;  // the store of the pending pass crops and mirrors: no further pass
    pass_.store_mirror_x = mirror_x;
    pass_.store_mirror_y = mirror_y;
    width_ = window.width;
    height_ = window.height;
    cropped_ = true;
    return;
  }
  StartGather(Gather::kWindow, window.width, window.height);
  pass_.left = window.x;
  pass_.top = window.y;
  pass_.mirror_x = mirror_x;
  pass_.mirror_y = mirror_y;
}

void PassList::Rotate(double radians, Filter filter) {
  StartGather(filter == Filter::kNearest ? Gather::kRotateNearest : Gather::kRotateBilinear, width_,
              height_);
  pass_.cosine = std::cos(radians);
  pass_.sine = std::sin(radians);
}

Result<void> PassList::Blur(int kernel, double sigma) {
  StartGather(Gather::kBlur, width_, height_);
  pass_.radius = kernel / 2;
  pass_.weights = static_cast<int>(weights_.size());
  const auto weight = [&](int k) {
    const double x = (k - (kernel - 1) * 0.5) / sigma;
    return std::exp(-0.5 * x * x);
  };
  double sum = 0;
  for (int k = 0; k < kernel; ++k) sum += weight(k);
  for (int k = 0; k < kernel; ++k) weights_.push_back(static_cast<float>(weight(k) / sum));
  return Divide();
}

Point& PassList::AddPoint(PointKind kind) {
  if (!finished_) {
    const bool fits = pending_ && !cropped_ && pass_.sum < 0;
    if (!fits) StartGather(Gather::kWindow, width_, height_);
    ++pass_.points;
    pass_.round = true;
  } else {
    ++pass_.masks;
  }
  points_.emplace_back().kind = kind;
  return points_.back();
}

void PassList::Brightness(double factor) {
  AddPoint(PointKind::kBrightness).a = static_cast<float>(factor);
}

void PassList::Contrast(double factor) {
  // The pending pass must add up the greys that it stores. If there is none, a pass that only
  // copies does so.
  if (!pending_ || pass_.sum >= 0) StartGather(Gather::kWindow, width_, height_);
  const int sum = sums_++;
  pass_.sum = sum;
  pass_.round = true;
  const double pixels = static_cast<double>(width_) * height_;
  Flush();
  Point& point = AddPoint(PointKind::kContrast);
  point.a = static_cast<float>(factor);
  point.b = static_cast<float>(1 - factor);
  point.sum = sum;
  point.pixels = pixels;
}

void PassList::Saturation(double factor) {
  Point& point = AddPoint(PointKind::kSaturation);
  point.a = static_cast<float>(factor);
  point.b = static_cast<float>(1 - factor);
}

void PassList::Hsv(double shift, double saturation, double value) {
  Point& point = AddPoint(PointKind::kHsv);
  point.a = static_cast<float>(shift);
  point.b = static_cast<float>(saturation);
  point.c = static_cast<float>(value);
}

void PassList::Erase(const Box& box, double value) {
  Point& point = AddPoint(PointKind::kErase);
  point.box = box;
  point.a = finished_ ? static_cast<float>(value)
                      : static_cast<float>(std::nearbyint(std::clamp(value, 0.0, 255.0)));
}

void PassList::MaskGrid(const Grid& grid) {
  Point& point = AddPoint(PointKind::kGridMask);
  point.tile = grid.tile;
  point.fraction = grid.fraction;
  point.shift_u = grid.shift_u;
  point.shift_v = grid.shift_v;
  point.cosine = std::cos(grid.angle);
  point.sine = std::sin(grid.angle);
}

void PassList::Finish(const OutputForm& form, std::int64_t target) {
  if (!pending_ || pass_.sum >= 0) StartGather(Gather::kWindow, width_, height_);
  pass_.final = true;
  // The result of a blur or rotation is rounded to bytes. The output may be these bytes: then the
  // store rounds them, and the pass keeps its special ending. Other outputs need a rounding first.
  // The values of a resize are not rounded before the conversion to the output.
  const OutputForm bytes;
  const bool is_bytes =
      form.element == bytes.element && form.scale == bytes.scale && form.bias == bytes.bias;
  const bool makes_bytes = pass_.gather == Gather::kBlur || pass_.gather == Gather::kRotateBilinear;
  if (makes_bytes && !is_bytes) pass_.round = true;
  pass_.element = form.element;
  pass_.layout = form.layout;
  std::copy(form.scale.begin(), form.scale.end(), pass_.scale);
  std::copy(form.bias.begin(), form.bias.end(), pass_.bias);
  pass_.target = target;
  finished_ = true;
}

void PassList::End() {
  Close(true);
}

// Ends the pending pass, which stores bytes in scratch memory. The next pass reads them.
void PassList::Flush() {
  pass_.round = true;
  pass_.target_stride = PitchOf(pass_.kept.width);
  pass_.target = scratch_;
  source_ = {Memory::kScratch, scratch_, pass_.target_stride, pass_.kept.width, pass_.kept.height};
  scratch_ +=
      RoundedUp(pass_.target_stride * pass_.kept.height + kReadableBeyond, kPictureAlignment);
  Close(false);
}

// Adds the pending pass to the list, now that its stored part is known. `final`: it is the last one
// of its picture.
void PassList::Close(bool final) {
  const std::int64_t stored = std::int64_t{pass_.kept.width} * pass_.kept.height;
  const bool stream =
      final && pass_.gather == Gather::kWindow && pass_.points + pass_.masks == 0 &&
      !pass_.mirror_x && !pass_.mirror_y && !pass_.store_mirror_x && !pass_.store_mirror_y &&
      pass_.kept.width % 4 == 0 && (pass_.left + pass_.kept.x) % 4 == 0 && pass_.left >= 0 &&
      pass_.top >= 0 && pass_.left + pass_.kept.x + pass_.kept.width <= pass_.source.width &&
      pass_.top + pass_.kept.y + pass_.kept.height <= pass_.source.height && pass_.target % 16 == 0;
  const bool tiled = pass_.gather == Gather::kTiled || pass_.gather == Gather::kBlur;
  double read = 3 * static_cast<double>(stored);
  if (stream) {
    pass_.gather = Gather::kStream;
    pass_.left += std::exchange(pass_.kept.x, 0);
    pass_.top += std::exchange(pass_.kept.y, 0);
    pass_.blocks = Blocks(stored / 4);
  } else if (tiled) {
    const Tile& tile = pass_.tile;
    pass_.blocks_x = (pass_.kept.width + tile.width - 1) / tile.width;
    const int high = tile.height * tile.strips;
    pass_.blocks = pass_.blocks_x * ((pass_.kept.height + high - 1) / high);
    if (pass_.gather == Gather::kTiled) {
      const auto span = [](const Axis& axis, int outputs) {
        return std::min<double>(axis.limit, outputs * axis.ratio + 2 * ReachOf(axis).support);
      };
      read = 3 * span(pass_.x, pass_.kept.width) * span(pass_.y, pass_.kept.height);
    }
  } else {
    pass_.blocks = Blocks(stored);
  }
  const std::size_t element = final ? ElementBytes(pass_.element) : 1;
  moved_ += static_cast<std::uint64_t>(read) + 3 * static_cast<std::uint64_t>(stored) * element;
  passes_.push_back(pass_);
  levels_.push_back(level_++);
  pending_ = cropped_ = false;
}

void PassList::Arrange() {
  order_.clear();
  for (std::size_t i = 0; i < passes_.size(); ++i) {
    order_.push_back({levels_[i], KindOf(passes_[i]), EndingOf(passes_[i]), i});
  }
  std::sort(order_.begin(), order_.end());
  launches_.clear();
  sorted_.clear();
  for (std::size_t i = 0; i < order_.size(); ++i) {
    const Place& place = order_[i];
    const Place& before = order_[i == 0 ? 0 : i - 1];
    const Pass& pass = passes_[place.index];
    if (i == 0 || place.level != before.level || place.kind != before.kind ||
        place.ending != before.ending) {
      Launch& launch = launches_.emplace_back();
      launch.kind = place.kind;
      launch.ending = place.ending;
      launch.first = static_cast<int>(i);
    }
    Launch& launch = launches_.back();
    ++launch.count;
    launch.blocks = std::max(launch.blocks, pass.blocks);
    launch.shared_bytes = std::max(launch.shared_bytes, pass.tile.shared_bytes);
    sorted_.push_back(pass);
    levels_[i] = place.level;  // in the new order; order_ copied the old one
  }
  passes_.swap(sorted_);
}

}  // namespace penstock::cuda
