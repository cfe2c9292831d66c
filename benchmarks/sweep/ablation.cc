// SPDX-License-Identifier: Apache-2.0
#include "benchmarks/sweep/ablation.h"

#include <array>
#include <string_view>

namespace penstock::sweep {
namespace {

constexpr std::string_view kNoGpu = "not available without a GPU";

struct AblationRow {
  std::string_view name;
  std::string_view against;  // name of an earlier row; empty: none
  std::string_view without;  // for --without
  std::string_view ops;
  bool as_floats = false;  // float16 CHW, otherwise uint8 HWC
  bool on_gpu = false;
};

// Only the part that the first operation needs is decoded. So adding a random crop saves decoding
// and can have a negative cost.
constexpr std::array<AblationRow, 19> kRows = {{
    {"read", "", "decode,augment", ""},
    {"read + decode", "read", "augment", ""},
    {"  + centre crop 224", "read + decode", "", "center_crop=224"},
    {"  + resize 224x224", "read + decode", "", "resize=224x224"},
    {"  + random resized crop 224", "read + decode", "", "random_resized_crop=224"},
    {"    + flip", "  + random resized crop 224", "", "random_resized_crop=224,flip"},
    {"    + flip, normalise", "    + flip", "", "random_resized_crop=224,flip,normalize", true},
    {"    + flip, normalise, copy to GPU", "    + flip, normalise", "",
     "random_resized_crop=224,flip,normalize", true, true},
    {"    + brightness", "  + random resized crop 224", "",
     "random_resized_crop=224,brightness=0.4"},
    {"    + contrast", "  + random resized crop 224", "", "random_resized_crop=224,contrast=0.4"},
    {"    + saturation", "  + random resized crop 224", "",
     "random_resized_crop=224,saturation=0.4"},
    {"    + hue", "  + random resized crop 224", "", "random_resized_crop=224,hue=0.1"},
    {"    + HSV shift", "  + random resized crop 224", "", "random_resized_crop=224,hsv"},
    {"    + rotate", "  + random resized crop 224", "", "random_resized_crop=224,rotate=30"},
    {"    + Gaussian blur 5", "  + random resized crop 224", "",
     "random_resized_crop=224,gaussian_blur=5"},
    {"    + cutout", "  + random resized crop 224", "", "random_resized_crop=224,cutout=p=1"},
    {"    + grid mask", "  + random resized crop 224", "", "random_resized_crop=224,grid_mask"},
    {"    + normalise", "  + random resized crop 224", "", "random_resized_crop=224,normalize",
     true},
    {"  + all", "read + decode", "",
     "random_resized_crop=224,flip,rotate=30,color_jitter=0.4,0.4,0.4,0.1,gaussian_blur=5,"
     "grid_mask,normalize,cutout=p=1",
     true},
}};

}  // namespace

std::vector<CellResult> AblationCells(bool gpu) {
  std::vector<CellResult> cells;
  for (const AblationRow& row : kRows) {
    CellResult result;
    result.cell.name = row.name;
    if (!row.without.empty()) {
      result.cell.options.insert(result.cell.options.end(),
                                 {"--without", std::string(row.without)});
    }
    if (!row.ops.empty()) {
      result.cell.options.insert(result.cell.options.end(), {"--ops", std::string(row.ops)});
    }
    const char* output = row.as_floats ? "f16" : "u8";
    const char* layout = row.as_floats ? "chw" : "hwc";
    result.cell.options.insert(result.cell.options.end(), {"--output", output, "--layout", layout});
    for (std::size_t i = 0; i < cells.size(); ++i) {
      if (cells[i].cell.name == row.against) result.against = i;
    }
    if (row.on_gpu) result.cell.options.insert(result.cell.options.end(), {"--device", "cuda"});
    if (row.on_gpu && !gpu) {
      result.state = CellState::kUnavailable;
      result.error = kNoGpu;
    }
    cells.push_back(std::move(result));
  }
  return cells;
}

}  // namespace penstock::sweep
