// SPDX-License-Identifier: Apache-2.0
//
// The kernels' instructions. Each picture has a sequence of passes. A pass gathers pixels (a
// resize, a window, a rotation, a blur), changes them one by one (colour, masks), and stores them
// as bytes for the next pass or in their final form. The instructions are plain values that are
// copied to the device as they are. Places in memory are offsets, so a list can be made before its
// memory is known.
//
// Coordinates: a gather makes a picture of width x height, and points and masks use the coordinates
// of that picture. Only the part `kept` of it is stored, mirrored if asked for.
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

// One axis of a resize. Output i of [0, count) has its centre at offset + (first + i + 1/2) *
// ratio, in pixels of the source counted from `base`. If mirrored, count - 1 - i takes the place of
// i. Pixels outside [base, base + limit) have no weight.
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

// An output reads pixels of the source up to `support` away from its centre; 0: only the nearest.
// The weight of a pixel falls by `slope` for each pixel of distance.
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

// Where a picture of bytes lies: [height][stride], R G B. stride and offset are multiples of 4.
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

// Bytes from one row to the next in a picture that a kernel reads.
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

// An operation on single pixels.
struct Point {
  PointKind kind = PointKind::kBrightness;
  float a = 0;        // factor; hue shift; fill
  float b = 0;        // 1 - factor; saturation
  float c = 0;        // value
  Box box;            // kErase
  int sum = -1;       // kContrast: place of the sum of greys that is used
  double pixels = 1;  // kContrast: number of pixels in that sum
  double tile = 1;    // kGridMask, as in the formula
  double fraction = 0;
  double shift_u = 0;
  double shift_v = 0;
  double cosine = 1;
  double sine = 0;
};

enum class Gather : std::uint8_t {
  kTiled,   // a resize: first vertically, then horizontally, tile by tile in shared memory
  kBlur,    // as kTiled, with weights of its own and reflected borders
  kWindow,  // pixels as they are; zeros outside of the source
  kStream,  // as kWindow, four at a time: nothing outside, no mirroring, width a multiple of four
  kRotateNearest,
  kRotateBilinear,
};

// How a block of a tiled pass divides its picture and its shared memory.
struct Tile {
  int width = 0;
  int height = 0;
  int taps_x = 0;  // the most for one output
  int taps_y = 0;
  int step_x = 0;  // floats from the weights of one output to the next: taps, rounded up to four
  int step_y = 0;
  int pitch = 0;   // floats of a row between the two passes
  int strips = 1;  // strips of `height` rows that a block makes one after the other
  int shared_bytes = 0;
};

struct Pass {
  Gather gather = Gather::kWindow;
  bool mirror_x = false;  // kWindow: mirrors while gathering
  bool mirror_y = false;
  bool store_mirror_x = false;
  bool store_mirror_y = false;
  bool final = false;  // stores in the output's form, else bytes in scratch memory
  bool round = false;  // rounds the gathered values to bytes before the points
  Element element = Element::kU8;
  Layout layout = Layout::kHwc;
  PictureAt source;
  std::int64_t target = 0;         // offset in output or scratch memory
  std::int64_t target_stride = 0;  // of scratch memory, bytes
  int width = 0;                   // of the gathered picture
  int height = 0;
  Box kept;   // the part of it that is stored
  Axis x, y;  // kTiled
  Reach reach_x, reach_y;
  int left = 0;  // kWindow: place of the window's first pixel in the source
  int top = 0;
  int radius = 0;     // kBlur
  int weights = 0;    // kBlur: first of 2 * radius + 1 floats
  double cosine = 1;  // kRotate
  double sine = 0;
  int first_point = 0;
  int points = 0;
  int masks = 0;               // further points, in coordinates of the stored picture
  int sum = -1;                // place for the sum of the greys, for a later contrast
  float scale[3] = {1, 1, 1};  // final: stored = value * scale + bias
  float bias[3] = {0, 0, 0};
  Tile tile;
  int blocks_x = 0;
  int blocks = 0;
};

// How a pass ends. kAny does everything. The others have no points, masks or sums, and store bytes
// for the next pass or one type of element. Each has a kernel.
enum class Ending : std::uint8_t { kAny, kBytes, kU8, kF16, kF32 };

// Passes [first, first + count) of the list, which are of one kind and do not depend on each other.
struct Launch {
  enum class Kind : std::uint8_t { kTiled, kBlur, kPixels, kStream };
  Kind kind = Kind::kPixels;
  Ending ending = Ending::kAny;
  int first = 0;
  int count = 0;
  int blocks = 0;  // blocks of the largest pass
  int shared_bytes = 0;
};

// The memory that a kernel gets in addition to the pass.
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

// Items that a thread makes in a pass without tiles, kThreads apart. An item is a pixel, or four in
// a kStream pass.
inline constexpr int kItems = 4;

}  // namespace penstock::cuda
