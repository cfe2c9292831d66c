// SPDX-License-Identifier: Apache-2.0
#include "analyzer/model/gpu_counters.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <map>
#include <string_view>

#include "traces/names.h"

namespace penstock::analyzer {
namespace {

// NVML's bits for the reasons that hold clocks down.
constexpr std::uint64_t kPowerCap = 0x4;
constexpr std::uint64_t kHeat = 0x20 | 0x40;
constexpr std::uint64_t kSlowdown = 0x8 | 0x80;

double Mean(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) sum += value;
  return sum / static_cast<double>(values.size());
}

double Most(const std::vector<double>& values) {
  return *std::max_element(values.begin(), values.end());
}

void TakeReasons(const std::vector<double>& values, GpuCounters& gpu) {
  const double each = 1 / static_cast<double>(values.size());
  for (const double value : values) {
    const auto bits = value > 0 && value < 1e15 ? static_cast<std::uint64_t>(value) : 0;
    if ((bits & kPowerCap) != 0) gpu.power_capped += each;
    if ((bits & kHeat) != 0) gpu.too_hot += each;
    if ((bits & kSlowdown) != 0) gpu.slowed += each;
  }
}

void TakeSeries(std::string_view key, const std::vector<double>& values, GpuCounters& gpu) {
  if (values.empty()) return;
  gpu.samples = std::max<std::uint64_t>(gpu.samples, values.size());
  if (key == "nvml_utilization_percent") gpu.utilization = Mean(values) / 100;
  if (key == "memory_used_bytes") gpu.memory_used = Most(values);
  if (key == "power_milliwatts") gpu.power = Mean(values) / 1000;
  if (key == "temperature_celsius") gpu.temperature = Most(values);
  if (key == "sm_clock_mhz") gpu.sm_clock = Mean(values);
  if (key == "memory_clock_mhz") gpu.memory_clock = Mean(values);
  if (key == "pcie_rx_bytes_per_s") gpu.received = Most(values);
  if (key == "pcie_tx_bytes_per_s") gpu.sent = Most(values);
  if (key == "clock_event_reasons") TakeReasons(values, gpu);
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
    if (counter) TakeSeries(counter->rest, series.value, gpus[counter->device]);
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
