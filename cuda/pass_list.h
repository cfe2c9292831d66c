// SPDX-License-Identifier: Apache-2.0
//
// From the steps of pictures to passes and launches. Steps are collected lazily: colour and masks
// ride on the gather before them, a crop or a mirroring at the end on its store, and only a
// contrast (which needs the mean of the whole picture first) or a second gather ends a pass. A list
// belongs to one thread and keeps its memory from batch to batch.
#pragma once

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "cuda/passes.h"
#include "traces/base/result.h"

namespace penstock::cuda {

// What the last pass of a picture stores.
struct OutputForm {
  Element element = Element::kU8;
  Layout layout = Layout::kHwc;
  std::array<float, 3> scale{1, 1, 1};
  std::array<float, 3> bias{0, 0, 0};
};

// Parameters of a grid of squares, as the formula has them; angle in radians.
struct Grid {
  double tile = 1;
  double fraction = 0;
  double shift_u = 0;
  double shift_v = 0;
  double angle = 0;
};

class PassList {
 public:
  void Clear();

  // The steps of one picture, in order. Begin() with what is there, End() with where it goes.
  void Begin(const PictureAt& source);
  // Errors: kInput where a resize shrinks by more than shared memory can hold the pixels of;
  //         kUsage where the source lacks pixels that have weight.
  [[nodiscard]] Result<void> Resize(const Axis& x, const Axis& y);
  // The window of the picture that begins at (left, top), then mirrored; zeros outside.
  void Window(const Box& window, bool mirror_x, bool mirror_y);
  void Rotate(double radians, Filter filter);
  // Requires: kernel odd.
  [[nodiscard]] Result<void> Blur(int kernel, double sigma);
  void Brightness(double factor);
  void Contrast(double factor);
  void Saturation(double factor);
  void Hsv(double shift, double saturation, double value);
  void Erase(const Box& box, double value);
  void MaskGrid(const Grid& grid);
  // From here on Erase() and MaskGrid() change what is stored, in units of the output.
  void Finish(const OutputForm& form, std::int64_t target);
  // The picture is complete.
  void End();
  [[nodiscard]] int width() const { return width_; }  // of the picture as it is by now
  [[nodiscard]] int height() const { return height_; }

  // Sorts the passes into launches, to be started one after the other. Requires: all ended.
  void Arrange();

  // Of one pass at least; valid until the next change. passes(): sorted by Arrange().
  [[nodiscard]] std::span<const Pass> passes() const { return passes_; }
  [[nodiscard]] std::span<const Point> points() const { return points_; }
  [[nodiscard]] std::span<const float> weights() const { return weights_; }
  [[nodiscard]] std::span<const Launch> launches() const { return launches_; }
  [[nodiscard]] int sums() const { return sums_; }
  [[nodiscard]] std::int64_t scratch_bytes() const { return scratch_; }
  // Units: bytes that the passes read and write, each pixel that is needed counted once.
  [[nodiscard]] std::uint64_t bytes_moved() const { return moved_; }

 private:
  struct Place {  // of a pass among the launches
    int level;
    Launch::Kind kind;
    Ending ending;
    std::size_t index;
    auto operator<=>(const Place&) const = default;
  };

  void StartGather(Gather gather, int width, int height);
  Point& AddPoint(PointKind kind);
  void Flush();
  void Close(bool final);
  [[nodiscard]] Result<void> Divide();

  std::vector<Pass> passes_;
  std::vector<Pass> sorted_;
  std::vector<int> levels_;  // of each pass: which of its picture
  std::vector<Place> order_;
  std::vector<Point> points_;
  std::vector<float> weights_;
  std::vector<Launch> launches_;
  int sums_ = 0;
  std::int64_t scratch_ = 0;
  std::uint64_t moved_ = 0;

  Pass pass_;             // that is being collected
  bool pending_ = false;  // pass_ has a gather
  bool cropped_ = false;  // and its store a window: no more points
  bool finished_ = false;
  int level_ = 0;
  PictureAt source_;  // of the pass, or of the next one
  int width_ = 0;
  int height_ = 0;
};

// Shared memory that a block may have on every device.
inline constexpr int kSharedBytes = 46 << 10;

// The shape of the tiles of a pass; width 0: not even one pixel's worth of source fits.
[[nodiscard]] Tile ChooseTile(const Pass& pass);

}  // namespace penstock::cuda
