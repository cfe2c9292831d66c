// SPDX-License-Identifier: Apache-2.0
#include "gui/model/panels/gpu.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <unordered_map>

#include "analyzer/model/device_records.h"
#include "analyzer/model/interval_set.h"
#include "traces/names.h"

namespace penstock::gui {
namespace {

using analyzer::Batch;
using analyzer::IntervalSet;
using traces::Counted;
using traces::StageId;

constexpr std::size_t kGpuBins = 240;  // of a curve, at most
constexpr std::size_t kMostNames = 200;

// When something ran, by training process and device: each rank may call its device 0, and workers
// that use a device use that of their training process.
using ByDevice = std::map<std::pair<std::uint32_t, std::uint32_t>, IntervalSet>;

// The copies that one source reported, by kind, and when they ran.
struct Copies {
  std::map<analyzer::CopyKind, CopyRow> rows;
  ByDevice to_device;
  std::uint64_t count = 0;
};

// Everything that the pass over the spans finds.
struct FoundOnGpu {
  ByDevice kernels;
  std::uint64_t kernel_count = 0;
  // Copies on streams, in calls of the runtime, and as Python saw them; the first source that has
  // any is used, since one copy may be in all three.
  Copies on_device, of_calls, of_python;
  std::unordered_map<std::uint32_t, NamedRow> kernel_names;
  std::unordered_map<std::uint32_t, NamedRow> call_names;

  [[nodiscard]] Copies& Best() {
    if (on_device.count > 0) return on_device;
    return of_calls.count > 0 ? of_calls : of_python;
  }
};

void AddCopy(const traces::Trace& trace, const analyzer::RunModel& run, ThreadId thread,
             const Counted& counted, analyzer::CopyKind kind, Copies& copies) {
  const traces::Span& span = *counted.span;
  CopyRow& row = copies.rows[kind];
  row.way = kind.way;
  row.memory = kind.memory;
  if (row.count == 0 || counted.wall > row.longest.wall) {
    row.longest = CallOf(trace, thread, counted);
  }
  ++row.count;
  row.bytes += span.bytes.value;
  const double wall = static_cast<double>(counted.wall) * 1e-9;
  row.wall += wall;
  if (span.bytes.value >= analyzer::kLargeCopy) {
    row.large_bytes += static_cast<double>(span.bytes.value);
    row.large_time += wall;
  }
  if (kind.way != CopyWay::kToDevice) return;
  ++copies.count;
  const std::int64_t start = span.start.value - trace.begin().value;
  const traces::ThreadInfo& info = trace.threads()[thread.value];
  const auto device = analyzer::DeviceOf(info);
  // What the host saw does not say which device it was.
  const auto key =
      device ? std::pair(run.ConsumerOf(info.process).value, *device) : std::pair(0U, 0U);
  copies.to_device[key].emplace_back(start, start + counted.wall);
}

void AddNamed(const traces::Trace& trace, ThreadId thread, const Counted& counted,
              std::unordered_map<std::uint32_t, NamedRow>& rows) {
  NamedRow& row = rows[counted.span->name.value];
  row.name = counted.span->name;
  row.stage = counted.stage;
  if (row.count == 0 || counted.wall > row.longest.wall) {
    row.longest = CallOf(trace, thread, counted);
  }
  ++row.count;
  row.wall += static_cast<double>(counted.wall) * 1e-9;
}

FoundOnGpu WalkGpuSpans(const Extent& extent, const analyzer::RunModel& run,
                        const std::stop_token& stop) {
  FoundOnGpu found;
  const traces::Trace& trace = *extent.trace;
  const std::int64_t begin = trace.begin().value;
  analyzer::CopyKinds kinds(trace);
  ForEachCall(extent, stop, [&](ThreadId thread, const Counted& counted) {
    const traces::Span& span = *counted.span;
    const auto kind = kinds.Of(counted.stage, span.name);
    const traces::ThreadInfo& info = trace.threads()[thread.value];
    switch (counted.stage) {
      case StageId::kKernel:
        found.kernels[{run.ConsumerOf(info.process).value, analyzer::DeviceOf(info).value_or(0)}]
            .emplace_back(span.start.value - begin, span.end().value - begin);
        ++found.kernel_count;
        AddNamed(trace, thread, counted, found.kernel_names);
        return;
      case StageId::kH2d: {
        const bool stream = analyzer::DeviceOf(info).has_value();
        AddCopy(trace, run, thread, counted, *kind, stream ? found.on_device : found.of_python);
        return;
      }
      case StageId::kCopy:
        AddCopy(trace, run, thread, counted, *kind, found.on_device);
        return;
      case StageId::kCall:
        if (kind && kind->way == CopyWay::kToDevice) {
          AddCopy(trace, run, thread, counted, *kind, found.of_calls);
        }
        AddNamed(trace, thread, counted, found.call_names);
        return;
      case StageId::kSync:
        AddNamed(trace, thread, counted, found.call_names);
        return;
      default:
        return;
    }
  });
  return found;
}

// The selection if there is one; else the interval of all training loops; else the whole trace.
TimeRange LoopOf(const Extent& extent, const Analysis& analysis) {
  const std::int64_t begin = extent.trace->begin().value;
  const std::int64_t length = std::max<std::int64_t>(extent.trace->end().value - begin, 1);
  if (extent.range) return {extent.range->from, std::min(extent.range->to, length)};
  TimeRange loop{length, 0};
  for (const analyzer::LoaderRun& run : analysis.report.diagnosis.run.loaders) {
    for (const Batch& batch : run.batches) {
      if (!batch.was_delivered()) continue;
      loop.from = std::min(loop.from, batch.wait_start - begin);
      const bool stepped = batch.step_end != analyzer::kNever;
      loop.to = std::max(loop.to, (stepped ? batch.step_end : batch.delivered) - begin);
    }
  }
  return loop.empty() ? TimeRange{0, length} : loop;
}

// Stands in for the loader of a run without one. Its training process is the last process that has
// a stream of a device.
analyzer::LoaderRun RunWithoutLoader(const traces::Trace& trace) {
  analyzer::LoaderRun run;
  for (const traces::ThreadInfo& thread : trace.threads()) {
    if (analyzer::DeviceOf(thread)) run.config.consumer = thread.process;
  }
  return run;
}

// What the device did and why it was idle: the report's own figures, or for a selection the same
// figures measured inside it.
analyzer::DeviceActivity Measure(const Extent& extent, const Analysis& analysis, TimeRange loop) {
  const analyzer::Diagnosis& diagnosis = analysis.report.diagnosis;
  if (!extent.range && diagnosis.loader && diagnosis.loader->device.window > 0) {
    return diagnosis.loader->device;
  }
  const std::int64_t begin = extent.trace->begin().value;
  const IntervalSet window{{begin + loop.from, begin + loop.to}};
  if (diagnosis.run.has_loader()) {
    return analyzer::MeasureDevice(diagnosis.run.device, diagnosis.run.loader(), window);
  }
  const analyzer::LoaderRun alone = RunWithoutLoader(*extent.trace);
  return analyzer::MeasureDevice(analyzer::ReadDeviceRecords(*extent.trace, alone), alone, window);
}

// Which time Measure() takes its shares of.
Text NoteOfWindow(const Extent& extent, const Analysis& analysis) {
  if (extent.range) return Text::kGpuBusyPartNote;
  const auto& loader = analysis.report.diagnosis.loader;
  if (!loader) return Text::kGpuBusyRunNote;
  const bool steady = loader->steady.steady && loader->device.window > 0;
  return steady ? Text::kGpuBusyNote : Text::kGpuBusyLoopNote;
}

// The number of bins for a loop of `steps` steps. A bin either is much shorter than a step or holds
// several whole steps. Bins of about a step would show waves that are not in the run, because they
// hold now more and now less of a kernel.
std::size_t BinsFor(std::size_t steps) {
  constexpr std::size_t kBinsInStep = 8;
  constexpr std::size_t kStepsInBin = 4;
  if (steps * kBinsInStep <= kGpuBins) return kGpuBins;
  return steps / std::max(kStepsInBin, (steps + kGpuBins - 1) / kGpuBins);
}

// The steps of the main loop in `range`. Without a loader, the kernel that takes most time is taken
// to run once in a step.
std::size_t StepsIn(TimeRange range, const Extent& extent, const analyzer::RunModel& run,
                    const GpuModel& gpu) {
  if (!run.has_loader()) return gpu.kernel_rows.empty() ? 0 : gpu.kernel_rows.front().count;
  const std::int64_t begin = extent.trace->begin().value;
  const auto inside = [&](const Batch& batch) {
    const std::int64_t at = batch.delivered - begin;
    return batch.was_delivered() && at >= range.from && at < range.to;
  };
  const auto& batches = run.loader().batches;
  return static_cast<std::size_t>(std::count_if(batches.begin(), batches.end(), inside));
}

// The mean over the devices.
Series ShareOver(const GpuModel& gpu, std::size_t bins, ByDevice devices) {
  Series series(gpu.from, gpu.to, bins);
  for (auto& [device, busy] : devices) {
    analyzer::Normalise(busy);
    for (const auto& [start, end] : busy) {
      const double from = static_cast<double>(start) * 1e-9;
      const double to = static_cast<double>(end) * 1e-9;
      series.Spread(from, to, to - from);
    }
  }
  series.Divide(series.width * static_cast<double>(devices.size()));
  return series;
}

std::vector<NamedRow> Longest(const std::unordered_map<std::uint32_t, NamedRow>& names) {
  std::vector<NamedRow> rows;
  rows.reserve(names.size());
  for (const auto& [name, row] : names) rows.push_back(row);
  std::sort(rows.begin(), rows.end(), [](const NamedRow& a, const NamedRow& b) {
    return std::pair(-a.wall, a.name) < std::pair(-b.wall, b.name);
  });
  if (rows.size() > kMostNames) rows.resize(kMostNames);
  return rows;
}

// Source: nccl/src/device: ncclDevKernel_AllReduce_..., before 2.19 ncclKernel_AllReduce_...
double ShareOfNccl(const traces::Trace& trace, const FoundOnGpu& found) {
  double nccl = 0;
  double all = 0;
  for (const auto& [name, row] : found.kernel_names) {
    all += row.wall;
    if (trace.String(row.name).find("nccl") != std::string_view::npos) nccl += row.wall;
  }
  return all > 0 ? nccl / all : 0;
}

void FillCopies(const FoundOnGpu& found, const Copies& best, GpuModel& gpu) {
  std::map<analyzer::CopyKind, CopyRow> rows = found.on_device.rows;
  rows.insert(best.rows.begin(), best.rows.end());
  for (auto& [kind, row] : rows) {
    for (const analyzer::CopyTotals& totals : gpu.activity.copies) {
      const bool same = row.way == CopyWay::kToDevice && totals.memory == row.memory;
      if (!same || !gpu.activity.kernels || totals.transfer <= 0) continue;
      row.beside = totals.overlapped / totals.transfer;
    }
    gpu.copy_rows.push_back(row);
  }
}

struct ShownCounter {
  std::string_view name;  // the part after the device
  GpuUnit unit;
  double scale;  // factor to percent, bytes, watts, ...
};
// Most important first. Flags and counts of the driver have no curve.
constexpr std::array kShownCounters = {
    ShownCounter{"nvml_utilization_percent", GpuUnit::kPercent, 1},
    ShownCounter{"memory_used_bytes", GpuUnit::kBytes, 1},
    ShownCounter{"process_memory_bytes", GpuUnit::kBytes, 1},
    ShownCounter{"pcie_rx_bytes_per_s", GpuUnit::kBytesPerSecond, 1},
    ShownCounter{"pcie_tx_bytes_per_s", GpuUnit::kBytesPerSecond, 1},
    ShownCounter{"power_milliwatts", GpuUnit::kWatts, 1e-3},
    ShownCounter{"sm_clock_mhz", GpuUnit::kMegahertz, 1},
    ShownCounter{"memory_clock_mhz", GpuUnit::kMegahertz, 1},
    ShownCounter{"nvml_memory_utilization_percent", GpuUnit::kPercent, 1},
    ShownCounter{"temperature_celsius", GpuUnit::kCelsius, 1}};

// The samples in the extent. Before them comes the value that held when the extent began.
analyzer::CounterSeries Within(const Extent& extent, analyzer::CounterSeries series) {
  if (!extent.range) return series;
  const auto place = [&](double at) {
    return std::lower_bound(series.at.begin(), series.at.end(), at) - series.at.begin();
  };
  std::ptrdiff_t first = place(extent.from());
  const std::ptrdiff_t last = place(extent.to());
  if (first > 0) {
    --first;
    series.at[static_cast<std::size_t>(first)] = extent.from();
  }
  const auto keep = [&](std::vector<double>& values) {
    values.erase(values.begin() + last, values.end());
    values.erase(values.begin(), values.begin() + first);
  };
  keep(series.at);
  keep(series.value);
  return series;
}

void FillCounters(const Extent& extent, const Analysis& analysis, GpuModel& gpu) {
  std::map<std::pair<int, std::size_t>, GpuCounter> sorted;
  for (const analyzer::CounterSeries& series : analysis.report.diagnosis.run.counters) {
    const std::optional<traces::GpuName> of_device = traces::SplitGpuName(series.name);
    if (!of_device || series.at.size() < 2) continue;
    const auto device = static_cast<int>(of_device->device);
    const std::string_view name = of_device->rest;
    for (std::size_t w = 0; w < kShownCounters.size(); ++w) {
      if (kShownCounters[w].name != name) continue;
      Curve curve = CurveOf(Within(extent, series), kShownCounters[w].scale);
      if (curve.empty()) continue;
      // Each process that uses a device has its own "process_memory_bytes". The one with the
      // highest value is shown.
      GpuCounter& kept = sorted[{device, w}];
      if (!kept.curve.empty() && kept.curve.high >= curve.high) continue;
      kept = {device, std::string(name), kShownCounters[w].unit, std::move(curve)};
    }
  }
  for (auto& [key, counter] : sorted) gpu.counters.push_back(std::move(counter));
}

void FillFacts(const traces::Trace& trace, GpuModel& gpu) {
  std::map<std::string, std::string> facts;
  const auto take = [&facts](const std::map<std::string, std::string>& from) {
    for (const auto& [key, value] : from) {
      if (key.starts_with("gpu.") || key == "record.gpu") facts.emplace(key, value);
    }
  };
  take(trace.facts());
  for (const traces::ProcessInfo& process : trace.processes()) take(process.facts);
  gpu.facts.assign(facts.begin(), facts.end());
}

std::vector<std::uint32_t> DevicesWithStreams(const traces::Trace& trace) {
  std::set<std::uint32_t> devices;
  for (const traces::ThreadInfo& thread : trace.threads()) {
    const auto device = analyzer::DeviceOf(thread);
    if (device && thread.spans > 0) devices.insert(*device);
  }
  return {devices.begin(), devices.end()};
}

}  // namespace

std::array<double, kIdleCauses> GpuModel::idle() const {
  const analyzer::IdleCauses& causes = activity.idle;
  return {causes.copy, causes.loader, causes.sync, causes.launch, causes.unknown};
}

bool GpuModel::leaves_out_small() const {
  return std::any_of(copy_rows.begin(), copy_rows.end(), [](const CopyRow& row) {
    return row.rate() > 0 && row.large_time < row.wall;
  });
}

GpuModel BuildGpu(const Extent& extent, const Analysis& analysis, const std::stop_token& stop) {
  GpuModel gpu;
  FillCounters(extent, analysis, gpu);
  FillFacts(*extent.trace, gpu);
  gpu.streams_of = DevicesWithStreams(*extent.trace);
  const analyzer::StageTable& stages = analysis.report.diagnosis.run.stages;
  gpu.from = extent.from();
  gpu.to = extent.to();
  constexpr std::array kOfDevices = {StageId::kKernel, StageId::kH2d, StageId::kCopy,
                                     StageId::kCall, StageId::kSync};
  gpu.any = std::any_of(kOfDevices.begin(), kOfDevices.end(),
                        [&](StageId stage) { return stages[stage].count > 0; });
  if (!gpu.any) return gpu;
  FoundOnGpu found = WalkGpuSpans(extent, analysis.report.diagnosis.run, stop);
  const Copies& copies = found.Best();
  gpu.kernels = found.kernel_count;
  gpu.copies = copies.count;
  gpu.kernel_devices = std::max<std::size_t>(found.kernels.size(), 1);
  gpu.copy_devices = std::max<std::size_t>(copies.to_device.size(), 1);
  const TimeRange loop = LoopOf(extent, analysis);
  gpu.from = static_cast<double>(loop.from) * 1e-9;
  gpu.to = static_cast<double>(loop.to) * 1e-9;
  gpu.activity = Measure(extent, analysis, loop);
  gpu.window_note = NoteOfWindow(extent, analysis);
  FillCopies(found, copies, gpu);
  gpu.nccl = ShareOfNccl(*extent.trace, found);
  gpu.kernel_rows = Longest(found.kernel_names);
  gpu.call_rows = Longest(found.call_names);
  const std::size_t bins = BinsFor(StepsIn(loop, extent, analysis.report.diagnosis.run, gpu));
  if (gpu.kernels > 0) gpu.computing = ShareOver(gpu, bins, std::move(found.kernels));
  if (gpu.copies > 0) gpu.copying = ShareOver(gpu, bins, copies.to_device);
  return gpu;
}

}  // namespace penstock::gui
