// SPDX-License-Identifier: Apache-2.0
//
// What a stage takes of a GPU, for each megapixel of the decoded pictures. Values; pure.
//
// Built in are two kinds of figures, and each says which it is: a published measurement of
// decoding, and arithmetic from the published bandwidth of the device's memory for augmentation and
// conversion, which move bytes and compute little. Measured ones come from a file:
//
//   # comment
//   device NVIDIA H200
//   decode 0.21 measured by penstock sweep, 2026-11-22
//   augment 0.02 ...
//   convert 0.004 ...
//
// Units: milliseconds a megapixel; what follows the figure is its source. A stage that is missing
// is taken from the table.
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
  DeviceCost decode;   // of a JPEG file to pixels in device memory
  DeviceCost augment;  // crop, resize, flip, normalise
  DeviceCost convert;  // integers to floating point and normalising alone, of pixels in a batch
};

// The costs of `gpu` (its model, as the trace has it), else of an A100, which is then said in
// `device`.
[[nodiscard]] DeviceCosts BuiltInDeviceCosts(std::string_view gpu);

// Reads the text of a file of costs over `base`. Errors: kInput, with the line.
[[nodiscard]] Result<DeviceCosts> ReadDeviceCosts(std::string_view text, DeviceCosts base);

}  // namespace penstock::analyzer
