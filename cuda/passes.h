// SPDX-License-Identifier: Apache-2.0
//
// What the kernels are told: for each picture a row of passes, each of which gathers pixels (a
// resize, a window, a rotation, a blur), changes them one by one (colour, masks), and stores them
// as bytes for the next pass or in their final form. Plain values that are copied to the device as
// they are; places in memory are offsets, so that a list can be made before its memory is known.
//
// Coordinates: a gather makes a picture of width x height; points and masks see that picture's
// coordinates; `kept` of it is stored, mirrored if asked for.
#pragma once

#include <cstddef>
#include <cstdint>

namespace penstock::cuda {

enum class Filter : std::uint8_t { kNearest, kBilinear, kBilinearNoAntialias };
enum class Element : std::uint8_t { kU8, kF16, kF32 };
enum class Layout : std::uint8_t { kHwc, kChw };

[[nodiscard]] constexpr std::size_t ElementBytes(Element element) {
  return element == Element::kU8 ? 1 : element == Element::kF16 ? 2 : 4;
}

// One axis of a resize: output i of [0, count) is centred at offset + (first + i + 1/2) * ratio in
// pixels of the source from `base` (count - 1 - i where mirrored); pixels outside of
// [base, base + limit) have no weight.
struct Axis {
  int base = 0;
  int limit = 0;
  double offset = 0;
  double ratio = 1;
  int first = 0;
  int count = 0;
  bool mirrored = false;
  Filter filter = Filter::kBilinear;
};

// How far from its centre an output reads, in pixels of the source; 0: the nearest alone. Weights
// fall by `slope` a pixel.
struct Reach {
  double support = 0;
  float slope = 0;
};

struct Box {
  int x = 0;
  int y = 0;
  int width = 0;
  int height = 0;
};

// Where a picture of bytes lies: [height][stride], R G B. stride is a multiple of 4, as is offset.
enum class Memory : std::uint8_t { kInput, kScratch };
struct PictureAt {
  Memory memory = Memory::kInput;
  std::int64_t offset = 0;
  std::int64_t stride = 0;
  int width = 0;
  int height = 0;
};
inline constexpr std::int64_t kPictureAlignment = 16;  // of offsets
inline constexpr std::int64_t kReadableBeyond = 16;    // bytes after a picture that may be read

// Bytes from one row to the next of a picture that is to be read by a kernel.
[[nodiscard]] constexpr std::int64_t PitchOf(int width) {
  return (3 * std::int64_t{width} + 3) / 4 * 4;
}

enum class PointKind : std::uint8_t {
  kBrightness,
  kContrast,
  kSaturation,
  kHsv,
  kErase,
  kGridMask,
};

// What is done to one pixel after the other.
struct Point {
  PointKind kind = PointKind::kBrightness;
  float a = 0;        // factor; hue shift; fill
  float b = 0;        // 1 - factor; saturation
  float c = 0;        // value
  Box box;            // kErase
  int sum = -1;       // kContrast: of which pass the mean grey is meant
  double pixels = 1;  // kContrast: of that pass
  double tile = 1;    // kGridMask, as in the formula
  double fraction = 0;
  double shift_u = 0;
  double shift_v = 0;
  double cosine = 1;
  double sine = 0;
};

enum class Gather : std::uint8_t {
  kTiled,   // a resize: two passes over a tile in shared memory
  kBlur,    // the same with weights of their own and reflected borders
  kWindow,  // pixels as they are; zeros outside of the source
  kStream,  // the same, four at a time: nothing outside, nothing mirrored, widths by four
  kRotateNearest,
  kRotateBilinear,
};

// How a block of a tiled pass divides its picture and its shared memory.
struct Tile {
  int width = 0;
  int height = 0;
  int taps_x = 0;  // at most, for one output
  int taps_y = 0;
  int step_x = 0;  // floats from the weights of one output to the next: taps by four
  int step_y = 0;
  int pitch = 0;   // floats of a row between the two passes
  int strips = 1;  // of that height that a block makes, one after the other
  int shared_bytes = 0;
};

struct Pass {
  Gather gather = Gather::kWindow;
  bool mirror_x = false;  // kWindow: of what is gathered
  bool mirror_y = false;
  bool store_mirror_x = false;
  bool store_mirror_y = false;
  bool final = false;  // stores in the output's form, else bytes in scratch memory
  bool round = false;  // to bytes before the points
  Element element = Element::kU8;
  Layout layout = Layout::kHwc;
  PictureAt source;
  std::int64_t target = 0;         // offset in output or scratch memory
  std::int64_t target_stride = 0;  // of scratch memory, bytes
  int width = 0;                   // of the picture that is gathered
  int height = 0;
  Box kept;   // of it is stored
  Axis x, y;  // kTiled
  Reach reach_x, reach_y;
  int left = 0;  // kWindow: of its first pixel in the source
  int top = 0;
  int radius = 0;     // kBlur
  int weights = 0;    // kBlur: first of 2 * radius + 1 floats
  double cosine = 1;  // kRotate
  double sine = 0;
  int first_point = 0;
  int points = 0;
  int masks = 0;               // points after those, applied to what is stored, in its coordinates
  int sum = -1;                // where the sum of the greys goes, for a contrast that follows
  float scale[3] = {1, 1, 1};  // final: stored = value * scale + bias
  float bias[3] = {0, 0, 0};
  Tile tile;
  int blocks_x = 0;
  int blocks = 0;
};

// What is done with a pixel that has been gathered: anything; or, without points, masks and sums, a
// store of bytes for the next pass or of one kind of element. A kernel for each.
enum class Ending : std::uint8_t { kAny, kBytes, kU8, kF16, kF32 };

// Passes [first, first + count) of the list, all of one kind, which do not depend on each other.
struct Launch {
  enum class Kind : std::uint8_t { kTiled, kBlur, kPixels, kStream };
  Kind kind = Kind::kPixels;
  Ending ending = Ending::kAny;
  int first = 0;
  int count = 0;
  int blocks = 0;  // of the pass that has most
  int shared_bytes = 0;
};

// What a kernel gets beside the pass.
struct Memories {
  const std::uint8_t* input = nullptr;
  std::uint8_t* scratch = nullptr;
  std::uint8_t* output = nullptr;
  const Point* points = nullptr;
  const float* weights = nullptr;
  unsigned long long* sums = nullptr;
};

// Threads of a block: kLanes of them along a row, kRows of such rows.
inline constexpr int kLanes = 32;
inline constexpr int kRows = 8;
inline constexpr int kThreads = kLanes * kRows;

// What a thread of a pass without tiles makes, kThreads apart: pixels, in a kStream pass four at a
// time.
inline constexpr int kItems = 4;

}  // namespace penstock::cuda
