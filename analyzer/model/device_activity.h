// SPDX-License-Identifier: Apache-2.0
//
// What the devices did in a stretch of a run: kernels, copies, and both at once. Values; pure.
#pragma once

#include <cstdint>

#include "traces/trace.h"

namespace penstock::analyzer {

// Units: seconds. Times of several streams and devices are united, not added.
struct DeviceActivity {
  double window = 0;
  double computing = 0;  // some kernel runs
  double copying = 0;    // some host-to-device copy runs
  double hidden = 0;     // of that, beside a kernel
};

// Units: from, to on the trace's clock. Cost: one pass over all spans; ask only where there are
// kernels.
[[nodiscard]] DeviceActivity MeasureDevice(const traces::Trace& trace, std::int64_t from,
                                           std::int64_t to);

}  // namespace penstock::analyzer
