// SPDX-License-Identifier: Apache-2.0
#include "analyzer/model/host.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <set>
#include <utility>

namespace penstock::analyzer {
namespace {

// Linux numbers at most 8,192 CPUs. The limit protects against false numbers in a trace from
// elsewhere.
constexpr int kMostCpus = 65536;

Bytes SizeFact(const Facts& facts, std::string_view key) {
  const double size = NumberFact(facts, key).value_or(0);
  // No limit is "max", or a number near 2^63 from version 1 of control groups.
  if (!(size > 0) || size > 1e18) return Bytes{0};
  return Bytes{static_cast<std::uint64_t>(size)};
}

bool ReadInt(std::string_view text, int* value) {
  const auto result = std::from_chars(text.data(), text.data() + text.size(), *value);
  return result.ec == std::errc() && result.ptr == text.data() + text.size();
}

// The ranges of a kernel list, in order of their first CPU.
std::vector<std::pair<int, int>> RangesIn(std::string_view list) {
  std::vector<std::pair<int, int>> ranges;
  while (!list.empty()) {
    const std::size_t comma = list.find(',');
    const std::string_view part = list.substr(0, comma);
    list = comma == std::string_view::npos ? std::string_view() : list.substr(comma + 1);
    const std::size_t dash = part.find('-');
    int first = 0;
    int last = 0;
    if (!ReadInt(part.substr(0, dash), &first)) continue;
    last = first;
    if (dash != std::string_view::npos && !ReadInt(part.substr(dash + 1), &last)) continue;
    if (first >= 0 && last >= first && last < kMostCpus) ranges.emplace_back(first, last);
  }
  std::sort(ranges.begin(), ranges.end());
  return ranges;
}

}  // namespace

std::string TextFact(const Facts& facts, std::string_view key) {
  const auto found = facts.find(std::string(key));
  return found == facts.end() ? std::string() : found->second;
}

std::optional<double> NumberFact(const Facts& facts, std::string_view key) {
  const std::string text = TextFact(facts, key);
  if (text.empty()) return std::nullopt;
  char* end = nullptr;
  const double value = std::strtod(text.c_str(), &end);
  if (end == text.c_str() || !std::isfinite(value)) return std::nullopt;
  return value;
}

bool TrueFact(const Facts& facts, std::string_view key, bool otherwise) {
  const std::string text = TextFact(facts, key);
  if (text == "true" || text == "True" || text == "1") return true;
  if (text == "false" || text == "False" || text == "0" || text == "None") return false;
  return otherwise;
}

int CountCpuList(std::string_view list) {
  return static_cast<int>(CpusIn(list).size());
}

std::vector<int> CpusIn(std::string_view list) {
  std::vector<int> cpus;
  for (const auto& [first, last] : RangesIn(list)) {
    for (int cpu = cpus.empty() ? first : std::max(first, cpus.back() + 1); cpu <= last; ++cpu) {
      cpus.push_back(cpu);
    }
  }
  return cpus;
}

void NarrowAffinity(Host& host, std::span<const std::string_view> masks) {
  std::set<int> allowed;
  for (const std::string_view mask : masks) {
    const std::vector<int> cpus = CpusIn(mask);
    allowed.insert(cpus.begin(), cpus.end());
  }
  const int count = static_cast<int>(allowed.size());
  if (count > 0 && (host.affinity == 0 || count < host.affinity)) host.affinity = count;
}

double Host::usable_cores() const {
  double usable = affinity > 0 ? affinity : cores > 0 ? cores : quota > 0 ? quota : 1;
  if (quota > 0) usable = std::min(usable, quota);
  if (share > 0) usable = std::min(usable, share);
  return std::max(usable, 0.1);
}

Bytes Host::memory() const {
  if (memory_limit.value == 0) return ram;
  return ram.value == 0 ? memory_limit : std::min(ram, memory_limit);
}

Host ReadHost(const Facts& facts) {
  Host host;
  const double cores =
      NumberFact(facts, "cpu.cores")
          .value_or(
              NumberFact(facts, "cpu.count").value_or(NumberFact(facts, "host.cores").value_or(0)));
  host.cores = static_cast<int>(std::clamp<double>(cores, 0, kMostCpus));
  host.affinity = CountCpuList(TextFact(facts, "cpu.affinity"));
  host.quota = std::max(0.0, NumberFact(facts, "cgroup.cpu_quota").value_or(0));
  host.ram = SizeFact(facts, "memory.total");
  host.memory_limit = SizeFact(facts, "cgroup.memory_limit");
  host.shm_size = SizeFact(facts, "shm.size");
  host.shm_free = SizeFact(facts, "shm.free");
  host.known = host.cores > 0 || host.affinity > 0 || host.quota > 0;
  return host;
}

}  // namespace penstock::analyzer
