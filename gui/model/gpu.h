// SPDX-License-Identifier: Apache-2.0
//
// What the GPU view shows: what the device did and why it stood still, copies by kind, kernels, and
// the counters of the driver. Values; pure.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "gui/model/calls.h"
#include "gui/model/document.h"
#include "gui/model/series.h"

namespace penstock::gui {

// Why no kernel ran: the first of these that held at that moment.
enum class IdleCause : std::uint8_t {
  kCopy,     // a copy to the device was under way
  kLoader,   // the training program waited for a batch
  kSync,     // it waited for the device, or for a result of it
  kLaunch,   // it was in a training step and had launched nothing
  kUnknown,  // anything else
};
inline constexpr std::size_t kIdleCauses = 5;

// Units: seconds. Times of several streams and devices are united, not added.
struct GpuTime {
  double window = 0;
  double computing = 0;  // some kernel runs
  double copying = 0;    // some copy to the device runs
  double hidden = 0;     // of that, beside a kernel
};

struct CopyRow {
  enum class Kind : std::uint8_t { kPageable, kPinned, kManaged, kUnknown };
  Kind kind = Kind::kUnknown;
  std::uint64_t count = 0;
  std::uint64_t bytes = 0;
  double wall = 0;    // seconds, added up
  double median = 0;  // bytes a second of copies of 64 KiB or more; 0: there were none
  Call longest;
};

struct KernelRow {
  StringId name;
  std::uint64_t count = 0;
  double wall = 0;  // seconds
  Call longest;
};

// What a counter of the driver says, and in which unit a person reads it.
enum class GpuUnit : std::uint8_t {
  kPercent,
  kBytes,
  kBytesPerSecond,
  kWatts,
  kCelsius,
  kMegahertz,
  kNone
};
struct GpuCounter {
  int device = 0;
  std::string name;  // "nvml_utilization_percent"
  GpuUnit unit = GpuUnit::kNone;
  Curve curve;
};

struct GpuModel {
  // The stretch that shares are of: the training loop, from its first wait to its last step.
  double from = 0;  // seconds since the trace began
  double to = 0;
  std::uint64_t kernels = 0;
  std::uint64_t copies = 0;
  GpuTime activity;
  std::array<double, kIdleCauses> idle{};                  // seconds without a kernel, by IdleCause
  Series computing;                                        // fraction of each bin with a kernel
  Series copying;                                          // the same with a copy
  std::vector<CopyRow> copy_rows;                          // by kind
  std::vector<KernelRow> kernel_rows;                      // at most 200, longest time first
  std::vector<GpuCounter> counters;                        // by device, most telling first
  std::vector<std::pair<std::string, std::string>> facts;  // "gpu.*" of the run and its processes

  [[nodiscard]] bool recorded() const { return kernels > 0 || copies > 0 || !counters.empty(); }
  [[nodiscard]] double idle_time() const { return activity.window - activity.computing; }
};

// Cost: one pass over the spans, and O(kernels log kernels).
[[nodiscard]] GpuModel BuildGpu(const Extent& extent, const Analysis& analysis,
                                const std::stop_token& stop = {});

// The program of the trace under a command of penstock: "penstock doctor -- python train.py".
[[nodiscard]] std::string PenstockCommand(const traces::Trace& trace, std::string_view verb);

}  // namespace penstock::gui
