// SPDX-License-Identifier: Apache-2.0
//
// What the GPU view shows: what the device did and why it was idle, copies by kind, kernels, and
// the counters of the driver. Values; pure.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analyzer/model/device_activity.h"
#include "gui/model/document.h"
#include "gui/model/panels/series.h"
#include "gui/model/timeline/calls.h"
#include "gui/model/words/texts.h"

namespace penstock::gui {

// Why no kernel ran: the first of these causes that held at that moment (analyzer::IdleCauses).
enum class IdleCause : std::uint8_t {
  kCopy,     // a copy ran, or the training process waited in one
  kLoader,   // the training process waited for a batch
  kSync,     // the training process waited for the device, which was idle
  kLaunch,   // the training process was in a step and had launched nothing
  kUnknown,  // anything else
};
inline constexpr std::size_t kIdleCauses = 5;

using analyzer::CopyWay;

struct CopyRow {
  CopyWay way = CopyWay::kOther;
  analyzer::CopyMemory memory = analyzer::CopyMemory::kUnknown;
  std::uint64_t count = 0;
  std::uint64_t bytes = 0;
  double wall = 0;         // seconds, added up
  double large_bytes = 0;  // in copies of at least analyzer::kLargeCopy
  double large_time = 0;
  double beside = -1;  // fraction of the copies' time in which a kernel runs; -1: not known
  Call longest;

  // Bytes per second in large copies; 0 if there was none.
  [[nodiscard]] double rate() const { return large_time > 0 ? large_bytes / large_time : 0; }
};

// All kernels, or all calls, of one name.
struct NamedRow {
  StringId name;
  traces::StageId stage = traces::StageId::kNone;
  std::uint64_t count = 0;
  double wall = 0;  // seconds
  Call longest;
};

// The unit in which a counter of the driver is shown.
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
  // Such as "nvml_utilization_percent". "process_memory_bytes" is shown for the process that used
  // most.
  std::string name;
  GpuUnit unit = GpuUnit::kNone;
  Curve curve;
};

struct GpuModel {
  // The interval that the curves cover: the selection, else the training loop from its first wait
  // to its last step, else the whole trace.
  double from = 0;  // seconds since the trace began
  double to = 0;
  std::uint64_t kernels = 0;
  std::uint64_t copies = 0;  // to the device
  bool any = false;          // the trace has device spans, inside the selection or outside
  // Numbers of devices; 1 if it is not known which device a copy went to. The times of rows are
  // sums over them.
  std::size_t kernel_devices = 1;
  std::size_t copy_devices = 1;
  std::vector<std::uint32_t> streams_of;  // the devices that have streams, by number
  // The report's figures for the steady window of the loop; with a selection, the same figures for
  // the selection.
  analyzer::DeviceActivity activity;
  Text window_note = Text::kGpuBusyRunNote;  // names the window of `activity`
  // The fraction of each bin with a kernel, and with a copy to the device: means over the devices
  // that have any.
  Series computing;
  Series copying;
  // The fraction of the kernels' time that is of NCCL's kernels. They run while they wait for other
  // GPUs, so not all of that is computing.
  double nccl = 0;
  std::vector<CopyRow> copy_rows;                          // by kind
  std::vector<NamedRow> kernel_rows;                       // at most 200, longest time first
  std::vector<NamedRow> call_rows;                         // the same for calls of the driver
  std::vector<GpuCounter> counters;                        // by device, most important first
  std::vector<std::pair<std::string, std::string>> facts;  // "gpu.*" of the run and its processes

  [[nodiscard]] bool recorded() const {
    return kernels > 0 || !copy_rows.empty() || !call_rows.empty() || !counters.empty();
  }
  // Seconds without a kernel, by IdleCause.
  [[nodiscard]] std::array<double, kIdleCauses> idle() const;
  // Whether the speed of a kind of copies leaves some of them out, since they are small.
  [[nodiscard]] bool leaves_out_small() const;
  [[nodiscard]] double idle_time() const { return activity.window - activity.computing; }
};

// Why nothing of a GPU was recorded.
enum class GpuAbsence : std::uint8_t {
  kOff,       // the recording left GPUs out
  kNoDriver,  // the library of the driver was not found, on the machine or in the container
  kUnseen,    // no GPU was used, or its use could not be seen
};
[[nodiscard]] GpuAbsence WhyNoGpu(const GpuModel& gpu);

// The rules about the GPU, copies to it and its kernels.
inline constexpr std::array<std::string_view, 8> kGpuFindings = {
    "pageable-copies",  "copies-not-overlapped",    "kernel-launch-bound",
    "compute-bound",    "move-decode-to-gpu",       "move-augment-to-gpu",
    "normalize-on-cpu", "preprocessing-on-busy-gpu"};

// What the devices are called, and a note below the name.
struct DeviceTitle {
  std::string name;
  std::string note;  // "" none
};
// The models of the devices that were used. If they were not recorded, the numbers of those that
// have streams (or how many there are, if several ranks call their device the same), and what would
// tell the models.
[[nodiscard]] DeviceTitle TitleOfDevices(const GpuModel& gpu, Language language);

// The title of the curves: "Busy over time, mean of 2 GPUs".
[[nodiscard]] std::string TitleOfCurves(const GpuModel& gpu, Language language);

// The title of the tables, by what they list.
[[nodiscard]] Text TitleOfTables(const GpuModel& gpu);

// The name of a kernel without "void " and its parameters: "at::native::fill<float>".
[[nodiscard]] std::string KernelTitle(std::string_view name);

// `text`, followed by the number of devices that it is of if there are several: "1.84 s, 2 GPUs".
[[nodiscard]] std::string OfDevices(std::string text, std::size_t devices, Language language);

// Cost: one pass over the spans, and O(kernels log kernels).
[[nodiscard]] GpuModel BuildGpu(const Extent& extent, const Analysis& analysis,
                                const std::stop_token& stop = {});

}  // namespace penstock::gui
