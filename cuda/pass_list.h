// SPDX-License-Identifier: Apache-2.0
//
// Turns the steps of pictures into passes and launches. Steps are collected lazily. A pass gathers
// pixels, then changes colours and masks, then stores, where it can crop and mirror. So a pass ends
// before a second gather, and after a crop before colours, masks or another crop. It also ends at a
// contrast, which first needs the mean of the whole picture. A list belongs to one thread and keeps
// its memory from batch to batch.
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

// Parameters of a grid of squares, as in the formula of grid_mask (loader/augment/op.h); angle in
// radians.
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

  // The steps of one picture, in order, between Begin() and End().
  void Begin(const PictureAt& source);
  // Errors: kInput if a resize shrinks so much that shared memory cannot hold its source pixels;
  //         kUsage if the source lacks pixels with weight.
  [[nodiscard]] Result<void> Resize(const Axis& x, const Axis& y);
  // Takes a window of the picture, with zeros outside the picture, and then mirrors it.
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
  // Completes the picture.
  void End();
  [[nodiscard]] int width() const { return width_; }  // of the picture after the steps so far
  [[nodiscard]] int height() const { return height_; }

  // Sorts the passes into launches that are started one after the other. Requires: all pictures are
  // ended.
  void Arrange();

  // Valid until the list changes. Arrange() sorts passes().
  [[nodiscard]] std::span<const Pass> passes() const { return passes_; }
  [[nodiscard]] std::span<const Point> points() const { return points_; }
  [[nodiscard]] std::span<const float> weights() const { return weights_; }
  [[nodiscard]] std::span<const Launch> launches() const { return launches_; }
  [[nodiscard]] int sums() const { return sums_; }
  [[nodiscard]] std::int64_t scratch_bytes() const { return scratch_; }
  // Bytes that the passes read and write. Each pixel that is needed counts once.
  [[nodiscard]] std::uint64_t bytes_moved() const { return moved_; }

 private:
  struct Place {  // place of a pass among the launches
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
  std::vector<int> levels_;  // the number of each pass within its picture
  std::vector<Place> order_;
  std::vector<Point> points_;
  std::vector<float> weights_;
  std::vector<Launch> launches_;
  int sums_ = 0;
  std::int64_t scratch_ = 0;
  std::uint64_t moved_ = 0;

  Pass pass_;             // the pass that is being collected
  bool pending_ = false;  // pass_ is in use: its gather is chosen
  bool cropped_ = false;  // the store of pass_ has a window, so no more points fit
  bool finished_ = false;
  int level_ = 0;
  PictureAt source_;  // source of the pass, or of the next one
  int width_ = 0;
  int height_ = 0;
};

// Shared memory for the tile of a block. On every device a block may have 48 KiB, of which the
// kernels need some for the pass itself.
inline constexpr int kSharedBytes = 46 << 10;

// The shape of the tiles of a pass. Width 0 if not even the source of one pixel fits.
[[nodiscard]] Tile ChooseTile(const Pass& pass);

}  // namespace penstock::cuda
