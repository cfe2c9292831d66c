// SPDX-License-Identifier: Apache-2.0
#include "gui/model/gpu.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <unordered_map>

#include <fmt/core.h>

#include "gui/model/stretches.h"

namespace penstock::gui {
namespace {

using analyzer::Batch;
using analyzer::Counted;
using traces::StageId;

constexpr std::size_t kBins = 240;
constexpr std::size_t kMostKernels = 200;
constexpr std::uint64_t kSmallCopy = 64 * 1024;  // below it a copy's rate says nothing of the link

CopyRow::Kind KindOf(std::string_view name) {
  if (name.find("ageable") != std::string_view::npos) return CopyRow::Kind::kPageable;
  if (name.find("inned") != std::string_view::npos) return CopyRow::Kind::kPinned;
  if (name.find("anaged") != std::string_view::npos) return CopyRow::Kind::kManaged;
  return CopyRow::Kind::kUnknown;
}

// Everything that the sweep over the spans finds.
struct Found {
  std::vector<Stretch> kernels, copies, waits, syncs, steps;
  std::unordered_map<std::uint32_t, KernelRow> by_name;
  std::array<CopyRow, 4> rows;  // by Kind
  std::array<std::vector<double>, 4> rates;
};

void AddCopy(const traces::Trace& trace, ThreadId thread, const Counted& counted, Found& found) {
  const traces::Span& span = *counted.span;
  const CopyRow::Kind kind = KindOf(trace.String(span.name));
  CopyRow& row = found.rows[static_cast<std::size_t>(kind)];
  row.kind = kind;
  if (row.count == 0 || counted.wall > row.longest.wall) {
    row.longest = CallOf(trace, thread, counted);
  }
  ++row.count;
  row.bytes += span.bytes.value;
  const double wall = static_cast<double>(counted.wall) * 1e-9;
  row.wall += wall;
  if (span.bytes.value >= kSmallCopy && wall > 0) {
    found.rates[static_cast<std::size_t>(kind)].push_back(static_cast<double>(span.bytes.value) /
                                                          wall);
  }
}

void AddKernel(const traces::Trace& trace, ThreadId thread, const Counted& counted, Found& found) {
  KernelRow& row = found.by_name[counted.span->name.value];
  row.name = counted.span->name;
  if (row.count == 0 || counted.wall > row.longest.wall) {
    row.longest = CallOf(trace, thread, counted);
  }
  ++row.count;
  row.wall += static_cast<double>(counted.wall) * 1e-9;
}

Found Sweep(const Extent& extent, const std::stop_token& stop) {
  Found found;
  const traces::Trace& trace = *extent.trace;
  const std::int64_t begin = trace.begin().value;
  ForEachCall(extent, stop, [&](ThreadId thread, const Counted& counted) {
    const traces::Span& span = *counted.span;
    if ((span.flags & wire::kFlagUnfinished) != 0) return;
    const Stretch stretch{span.start.value - begin, span.end().value - begin};
    switch (counted.stage) {
      case StageId::kKernel:
        found.kernels.push_back(stretch);
        AddKernel(trace, thread, counted, found);
        return;
      case StageId::kH2d:
        found.copies.push_back(stretch);
        AddCopy(trace, thread, counted, found);
        return;
      case StageId::kWait:
        found.waits.push_back(stretch);
        return;
      case StageId::kSync:
        found.syncs.push_back(stretch);
        return;
      case StageId::kStep:
        found.steps.push_back(stretch);
        return;
      default:
        return;
    }
  });
  return found;
}

// The training loops' own times: steps that nobody marked, and the stretch that all of it takes.
Stretch LoopOf(const Extent& extent, const Analysis& analysis, Found& found) {
  const std::int64_t begin = extent.trace->begin().value;
  const std::int64_t length = std::max<std::int64_t>(extent.trace->end().value - begin, 1);
  const bool marked = !found.steps.empty();
  Stretch loop{length, 0};
  for (const analyzer::LoaderRun& run : analysis.report.diagnosis.run.loaders) {
    for (const Batch& batch : run.batches) {
      if (!batch.was_delivered() || !extent.Holds(batch.delivered - begin)) continue;
      loop.from = std::min(loop.from, batch.wait_start - begin);
      loop.to = std::max(loop.to, batch.delivered - begin);
      if (batch.step_end == analyzer::kNever) continue;
      loop.to = std::max(loop.to, batch.step_end - begin);
      if (!marked) found.steps.push_back({batch.delivered - begin, batch.step_end - begin});
    }
  }
  if (extent.range) return {extent.range->from, std::min(extent.range->to, length)};
  return loop.to > loop.from ? loop : Stretch{0, length};
}

// What the device did in the loop, and why it did nothing.
void Attribute(const Stretch& loop, const Found& found, GpuModel& gpu) {
  const Stretches window({loop});
  const Stretches kernels = window.Both(Stretches(found.kernels));
  const Stretches copies = window.Both(Stretches(found.copies));
  const auto seconds = [](const Stretches& set) {
    return static_cast<double>(set.length()) * 1e-9;
  };
  gpu.activity = {seconds(window), seconds(kernels), seconds(copies),
                  seconds(copies.Both(kernels))};
  if (gpu.kernels == 0) return;
  Stretches idle = window.Without(kernels);
  const std::array<const std::vector<Stretch>*, kIdleCauses - 1> causes = {
      &found.copies, &found.waits, &found.syncs, &found.steps};
  for (std::size_t i = 0; i < causes.size(); ++i) {
    const Stretches cause(*causes[i]);
    gpu.idle[i] = seconds(idle.Both(cause));
    idle = idle.Without(cause);
  }
  gpu.idle[kIdleCauses - 1] = seconds(idle);
}

Series ShareOver(const GpuModel& gpu, const std::vector<Stretch>& busy) {
  Series series(gpu.from, gpu.to, kBins);
  const Stretches united{std::vector<Stretch>(busy)};
  for (const Stretch& one : united.parts()) {
    const double from = static_cast<double>(one.from) * 1e-9;
    const double to = static_cast<double>(one.to) * 1e-9;
    series.Spread(from, to, to - from);
  }
  series.Divide(series.width);
  return series;
}

double MedianOf(std::vector<double>& values) {
  if (values.empty()) return 0;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

void FillTables(Found& found, GpuModel& gpu) {
  for (std::size_t i = 0; i < found.rows.size(); ++i) {
    if (found.rows[i].count == 0) continue;
    found.rows[i].median = MedianOf(found.rates[i]);
    gpu.copy_rows.push_back(found.rows[i]);
  }
  for (const auto& [name, row] : found.by_name) gpu.kernel_rows.push_back(row);
  std::sort(gpu.kernel_rows.begin(), gpu.kernel_rows.end(),
            [](const KernelRow& a, const KernelRow& b) {
              return std::pair(-a.wall, a.name) < std::pair(-b.wall, b.name);
            });
  if (gpu.kernel_rows.size() > kMostKernels) gpu.kernel_rows.resize(kMostKernels);
}

struct Wish {
  std::string_view name;  // after the device
  GpuUnit unit;
  double scale;  // to the unit: percent, bytes, watts, ...
};
// Most telling first; bits and counts of the driver are no curves.
constexpr std::array kWishes = {Wish{"nvml_utilization_percent", GpuUnit::kPercent, 1},
                                Wish{"memory_used_bytes", GpuUnit::kBytes, 1},
                                Wish{"process_memory_bytes", GpuUnit::kBytes, 1},
                                Wish{"pcie_rx_bytes_per_s", GpuUnit::kBytesPerSecond, 1},
                                Wish{"pcie_tx_bytes_per_s", GpuUnit::kBytesPerSecond, 1},
                                Wish{"power_milliwatts", GpuUnit::kWatts, 1e-3},
                                Wish{"sm_clock_mhz", GpuUnit::kMegahertz, 1},
                                Wish{"memory_clock_mhz", GpuUnit::kMegahertz, 1},
                                Wish{"nvml_memory_utilization_percent", GpuUnit::kPercent, 1},
                                Wish{"temperature_celsius", GpuUnit::kCelsius, 1}};

// The samples in the extent, and at its beginning what held there.
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
    std::string_view name = series.name;
    if (!name.starts_with("gpu.") || series.at.size() < 2) continue;
    name.remove_prefix(4);
    int device = 0;
    const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), device);
    if (error != std::errc{} || end == name.data() + name.size() || *end != '.') continue;
    name.remove_prefix(static_cast<std::size_t>(end - name.data()) + 1);
    for (std::size_t w = 0; w < kWishes.size(); ++w) {
      if (kWishes[w].name != name) continue;
      Curve curve = CurveOf(Within(extent, series), kWishes[w].scale);
      if (curve.empty()) continue;
      sorted[{device, w}] = {device, std::string(name), kWishes[w].unit, std::move(curve)};
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

}  // namespace

GpuModel BuildGpu(const Extent& extent, const Analysis& analysis, const std::stop_token& stop) {
  GpuModel gpu;
  FillCounters(extent, analysis, gpu);
  FillFacts(*extent.trace, gpu);
  const analyzer::StageTable& stages = analysis.report.diagnosis.run.stages;
  gpu.from = extent.from();
  gpu.to = extent.to();
  if (stages[StageId::kKernel].count == 0 && stages[StageId::kH2d].count == 0) return gpu;
  Found found = Sweep(extent, stop);
  gpu.kernels = found.kernels.size();
  gpu.copies = found.copies.size();
  const Stretch loop = LoopOf(extent, analysis, found);
  gpu.from = static_cast<double>(loop.from) * 1e-9;
  gpu.to = static_cast<double>(loop.to) * 1e-9;
  Attribute(loop, found, gpu);
  if (gpu.kernels > 0) gpu.computing = ShareOver(gpu, found.kernels);
  if (gpu.copies > 0) gpu.copying = ShareOver(gpu, found.copies);
  FillTables(found, gpu);
  return gpu;
}

std::string PenstockCommand(const traces::Trace& trace, std::string_view verb) {
  const std::string command = analyzer::TextFact(trace.facts(), "command");
  return fmt::format("penstock {} -- {}", verb, command.empty() ? "python train.py" : command);
}

}  // namespace penstock::gui
