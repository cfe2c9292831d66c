// SPDX-License-Identifier: Apache-2.0
//
// How long a GPU takes for a stage, for each megapixel of the decoded pictures. Values; pure.
//
// There are two kinds of built-in figures, and each figure states its kind. The figure for decoding
// is a published measurement. Augmentation and conversion move bytes and compute little, so their
// figures are computed from the published bandwidth of the device's memory. Measured figures come
// from a file:
//
//   # comment
//   device NVIDIA H200
//   decode 0.21 measured by penstock sweep, 2026-11-22
//   augment 0.02 ...
//   convert 0.004 ...
//
// Units: milliseconds per megapixel; the text after the figure is its source. Stages that the file
//        lacks keep their built-in figures.
#pragma once

#include <string>
#include <string_view>

#include "analyzer/words/statement.h"
#include "traces/base/result.h"

namespace penstock::analyzer {

struct DeviceCost {
  double ms_per_megapixel = -1;  // below 0: not known
  Statement source;
};

struct DeviceCosts {
  std::string device;
  DeviceCost decode;   // from a JPEG file to pixels in device memory
  DeviceCost augment;  // crop, resize, flip, normalise
  DeviceCost convert;  // of a batch: from integers to floating point, and normalising
  bool given = false;  // by the user: predictions are for this device, whatever was recorded
};

// The costs of `gpu` (its model, as in the trace). For an unknown model these are the costs of an
// A100, and `device` names the A100.
[[nodiscard]] DeviceCosts BuiltInDeviceCosts(std::string_view gpu);

// Reads the text of a file of costs. Figures that it lacks come from `base`. Errors: kInput, with
// the number of the line.
[[nodiscard]] Result<DeviceCosts> ReadDeviceCosts(std::string_view text, DeviceCosts base);

}  // namespace penstock::analyzer
