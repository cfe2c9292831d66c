// SPDX-License-Identifier: Apache-2.0
#include "analyzer/model/gpu_counters.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <map>
#include <string_view>

#include "traces/names.h"

namespace penstock::analyzer {
namespace {

// NVML's bits for the reasons that hold clocks down.
constexpr std::uint64_t kPowerCap = 0x4;
constexpr std::uint64_t kHeat = 0x20 | 0x40;
constexpr std::uint64_t kSlowdown = 0x8 | 0x80;

// The fraction of the sampled time that each sample stands for: half of the gaps beside it. The
// longer a run lasts, the fewer samples the recorder takes. If all samples counted the same, the
// first ten minutes would dominate.
std::vector<double> PartsOfTime(const std::vector<double>& at) {
  std::vector<double> parts(at.size(), 1 / static_cast<double>(at.size()));
  const double whole = at.back() - at.front();
  if (!(whole > 0)) return parts;
  for (std::size_t i = 0; i < at.size(); ++i) {
    const double from = i == 0 ? at[i] : at[i - 1];
    const double to = i + 1 == at.size() ? at[i] : at[i + 1];
    parts[i] = (to - from) / 2 / whole;
  }
  return parts;
}

double Mean(const CounterSeries& series) {
  const std::vector<double> parts = PartsOfTime(series.at);
  double sum = 0;
  for (std::size_t i = 0; i < parts.size(); ++i) sum += parts[i] * series.value[i];
  return sum;
}

double Most(const CounterSeries& series) {
  return *std::max_element(series.value.begin(), series.value.end());
}

void TakeReasons(const CounterSeries& series, GpuCounters& gpu) {
  const std::vector<double> parts = PartsOfTime(series.at);
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const double value = series.value[i];
    const auto bits = value > 0 && value < 1e15 ? static_cast<std::uint64_t>(value) : 0;
    if ((bits & kPowerCap) != 0) gpu.power_capped += parts[i];
    if ((bits & kHeat) != 0) gpu.too_hot += parts[i];
    if ((bits & kSlowdown) != 0) gpu.slowed += parts[i];
  }
}

void TakeSeries(std::string_view key, const CounterSeries& series, GpuCounters& gpu) {
  if (series.value.empty()) return;
  gpu.samples = std::max<std::uint64_t>(gpu.samples, series.value.size());
  if (key == "nvml_utilization_percent") gpu.utilization = Mean(series) / 100;
  if (key == "memory_used_bytes") gpu.memory_used = Most(series);
  if (key == "power_milliwatts") gpu.power = Mean(series) / 1000;
  if (key == "temperature_celsius") gpu.temperature = Most(series);
  if (key == "sm_clock_mhz") gpu.sm_clock = Mean(series);
  if (key == "memory_clock_mhz") gpu.memory_clock = Mean(series);
  if (key == "pcie_rx_bytes_per_s") gpu.received = Most(series);
  if (key == "pcie_tx_bytes_per_s") gpu.sent = Most(series);
  if (key == "clock_event_reasons") TakeReasons(series, gpu);
}

unsigned Whole(const std::map<std::string, std::string>& facts, const std::string& key) {
  const double value = NumberFact(facts, key).value_or(0);
  return value >= 1 && value <= 64 ? static_cast<unsigned>(value) : 0;
}

}  // namespace

double LinkRate(unsigned generation, unsigned width) {
  // Transfers per second of a lane, times the share of the bits that carry data. Source: the PCI
  // Express specifications.
  constexpr std::array<double, 7> kLane = {0,
                                           2.5e9 * 8 / 10,
                                           5e9 * 8 / 10,
                                           8e9 * 128 / 130,
                                           16e9 * 128 / 130,
                                           32e9 * 128 / 130,
                                           64e9 * 242 / 256};
  return generation < kLane.size() ? kLane[generation] / 8 * width : 0;
}

std::vector<GpuCounters> ReadGpuCounters(const traces::Trace& trace, const RunModel& model) {
  std::map<std::uint32_t, GpuCounters> gpus;
  for (const auto& [name, value] : trace.facts()) {
    const auto fact = traces::SplitGpuName(name);
    if (!fact) continue;
    GpuCounters& gpu = gpus[fact->device];
    if (fact->rest == "model") gpu.model = value;
    if (fact->rest == "used") gpu.used = value;
  }
  for (const CounterSeries& series : model.counters) {
    const auto counter = traces::SplitGpuName(series.name);
    if (counter) TakeSeries(counter->rest, series, gpus[counter->device]);
  }
  std::vector<GpuCounters> all;
  for (auto& [number, gpu] : gpus) {
    gpu.index = number;
    const auto fact = [device = number](std::string_view rest) {
      return traces::JoinGpuName(device, rest);
    };
    gpu.memory = NumberFact(trace.facts(), fact("memory_bytes"));
    if (const auto limit = NumberFact(trace.facts(), fact("power_limit_milliwatts"))) {
      gpu.power_limit = *limit / 1000;
    }
    gpu.link = LinkRate(Whole(trace.facts(), fact("pcie_generation")),
                        Whole(trace.facts(), fact("pcie_width")));
    all.push_back(std::move(gpu));
  }
  return all;
}

double UsedLink(const std::vector<GpuCounters>& gpus) {
  for (const std::string_view used : {"process", "open"}) {
    for (const GpuCounters& gpu : gpus) {
      if (gpu.used == used && gpu.link > 0) return gpu.link;
    }
  }
  return gpus.size() == 1 ? gpus.front().link : 0;
}

}  // namespace penstock::analyzer
