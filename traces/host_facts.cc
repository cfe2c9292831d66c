// SPDX-License-Identifier: Apache-2.0
#include "traces/host_facts.h"

#include <sched.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <system_error>

#include <fmt/format.h>

#include "traces/base/small_file.h"

namespace penstock::traces {
namespace {

template <class T>
void KeepSmaller(std::optional<T>& kept, std::optional<T> candidate) {
  if (candidate && (!kept || *candidate < *kept)) kept = candidate;
}

std::optional<double> QuotaV2(const std::filesystem::path& group) {
  const auto text = ReadFile(group / "cpu.max");
  if (!text) return std::nullopt;
  const std::string_view line = Trimmed(*text);
  const auto space = line.find(' ');
  const auto quota = ParseNumber(line.substr(0, space));
  if (!quota || space == std::string_view::npos) return std::nullopt;  // "max 100000"
  const auto period = ParseNumber(line.substr(space + 1));
  if (!period || *period == 0) return std::nullopt;
  return static_cast<double>(*quota) / static_cast<double>(*period);
}

std::optional<std::uint64_t> NumberIn(const std::filesystem::path& file) {
  const auto text = ReadFile(file);
  return text ? ParseNumber(Trimmed(*text)) : std::nullopt;  // "max" and "-1" are not numbers
}

std::optional<double> QuotaV1(const std::filesystem::path& group) {
  const auto quota = NumberIn(group / "cpu.cfs_quota_us");
  const auto period = NumberIn(group / "cpu.cfs_period_us");
  if (!quota || !period || *period == 0) return std::nullopt;
  return static_cast<double>(*quota) / static_cast<double>(*period);
}

void KeepSmallerMemory(CgroupLimits& limits, const std::filesystem::path& group,
                       std::string_view file) {
  const auto limit = NumberIn(group / file);
  // In cgroup version 1, the largest multiple of the page size means "no limit".
  if (!limit || *limit >= (std::uint64_t{1} << 62)) return;
  if (limits.memory_limit && *limits.memory_limit <= Bytes{*limit}) return;
  limits.memory_limit = Bytes{*limit};
  limits.memory_group = group;
}

// The number after "key " at the beginning of a line.
std::uint64_t StatField(std::string_view text, std::string_view key) {
  for (const std::string_view line : SplitLines(text)) {
    if (line.size() > key.size() && line.substr(0, key.size()) == key && line[key.size()] == ' ') {
      return ParseNumber(Trimmed(line.substr(key.size()))).value_or(0);
    }
  }
  return 0;
}

// Calls `visit` with the group and each of its parents up to `root`. In a container the host's path
// may not exist below the mount, but its parents do.
template <class Visit>
void WalkUp(const std::filesystem::path& root, std::string_view group, Visit visit) {
  std::filesystem::path relative = std::filesystem::path(group).relative_path().lexically_normal();
  while (!relative.empty() && relative != ".") {
    visit(root / relative);
    relative = relative.parent_path();
  }
  visit(root);
}

bool HasController(std::string_view list, std::string_view name) {
  while (!list.empty()) {
    const auto comma = list.find(',');
    if (list.substr(0, comma) == name) return true;
    if (comma == std::string_view::npos) break;
    list.remove_prefix(comma + 1);
  }
  return false;
}

std::string CpuModel() {
  const auto info = ReadFile("/proc/cpuinfo", 1u << 16);
  if (!info) return {};
  for (const std::string_view line : SplitLines(*info)) {
    if (line.rfind("model name", 0) == 0 && line.find(':') != std::string_view::npos) {
      return std::string(Trimmed(line.substr(line.find(':') + 1)));
    }
  }
  return {};
}

std::string Affinity() {
  // A cpu_set_t has 1024 CPUs. The kernel refuses a set that is smaller than its own.
  for (std::size_t cpus = 1024; cpus <= 65536; cpus *= 4) {
    cpu_set_t* set = CPU_ALLOC(cpus);
    if (set == nullptr) return {};
    const std::size_t size = CPU_ALLOC_SIZE(cpus);
    std::vector<int> list;
    const bool ok = sched_getaffinity(0, size, set) == 0;
    for (std::size_t cpu = 0; ok && cpu < cpus; ++cpu) {
      if (CPU_ISSET_S(cpu, size, set)) list.push_back(static_cast<int>(cpu));
    }
    CPU_FREE(set);
    if (ok) return CpuList(list);
  }
  return {};
}

}  // namespace

CgroupLimits ReadCgroupLimits(std::string_view membership, const std::filesystem::path& root) {
  CgroupLimits limits;
  for (const std::string_view line : SplitLines(membership)) {
    const auto first = line.find(':');
    const auto second = first == std::string_view::npos ? first : line.find(':', first + 1);
    if (second == std::string_view::npos) continue;
    const std::string_view controllers = line.substr(first + 1, second - first - 1);
    const std::string_view group = line.substr(second + 1);
    if (controllers.empty()) {
      for (const auto& mount : {root, root / "unified"}) {
        WalkUp(mount, group, [&](const std::filesystem::path& at) {
          KeepSmaller(limits.cpu_quota, QuotaV2(at));
          KeepSmallerMemory(limits, at, "memory.max");
        });
      }
    }
    if (HasController(controllers, "cpu")) {
      for (const auto& mount : {root / "cpu", root / "cpu,cpuacct"}) {
        WalkUp(mount, group, [&](const std::filesystem::path& at) {
          KeepSmaller(limits.cpu_quota, QuotaV1(at));
        });
      }
    }
    if (HasController(controllers, "memory")) {
      WalkUp(root / "memory", group, [&](const std::filesystem::path& at) {
        KeepSmallerMemory(limits, at, "memory.limit_in_bytes");
      });
    }
  }
  return limits;
}

CgroupLimits OwnCgroupLimits() {
  return ReadCgroupLimits(ReadFile("/proc/self/cgroup").value_or(""), "/sys/fs/cgroup");
}

std::optional<Bytes> CgroupMemoryUse(const std::filesystem::path& group) {
  std::error_code ignored;
  const bool second = std::filesystem::exists(group / "memory.current", ignored);
  const auto use = NumberIn(group / (second ? "memory.current" : "memory.usage_in_bytes"));
  const auto stat = ReadFile(group / "memory.stat");
  if (!use || !stat) return std::nullopt;
  const std::string_view prefix = second ? "" : "total_";  // "total_" includes the groups below
  const std::uint64_t cache = StatField(*stat, std::string(prefix) + "inactive_file") +
                              StatField(*stat, std::string(prefix) + "active_file");
  return Bytes{*use - std::min(*use, cache)};
}

Facts HostFacts() {
  Facts facts;
  utsname name{};
  if (uname(&name) == 0) {
    facts["host"] = name.nodename;
    facts["kernel"] = name.release;
  }
  // In two containers of one host CLOCK_MONOTONIC may begin at different moments.
  const ClockNamespace clock = OwnClockNamespace();
  facts["clock.namespace"] = clock.id;
  facts["clock.offset_ns"] = std::to_string(clock.offset.value);
  facts["cpu.model"] = CpuModel();
  facts["cpu.cores"] = std::to_string(sysconf(_SC_NPROCESSORS_ONLN));
  facts["cpu.affinity"] = Affinity();
  const CgroupLimits limits = OwnCgroupLimits();
  if (limits.cpu_quota) facts["cgroup.cpu_quota"] = fmt::format("{:.3g}", *limits.cpu_quota);
  if (limits.memory_limit) {
    facts["cgroup.memory_limit"] = std::to_string(limits.memory_limit->value);
  }
  facts["memory.total"] = std::to_string(static_cast<std::uint64_t>(sysconf(_SC_PHYS_PAGES)) *
                                         static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE)));
  struct statvfs shm {};
  if (statvfs("/dev/shm", &shm) == 0) {
    facts["shm.size"] = std::to_string(shm.f_blocks * shm.f_frsize);
  }
  for (auto it = facts.begin(); it != facts.end();) {
    it = it->second.empty() ? facts.erase(it) : std::next(it);
  }
  return facts;
}

ClockNamespace OwnClockNamespace() {
  ClockNamespace clock;
  struct stat status {};
  if (stat("/proc/self/ns/time", &status) == 0) clock.id = std::to_string(status.st_ino);
  if (const auto text = ReadFile("/proc/self/timens_offsets")) clock.offset = TimensOffset(*text);
  return clock;
}

TimeNs TimensOffset(std::string_view text) {
  for (const std::string_view line : SplitLines(text)) {
    const std::string owned(line);
    long long seconds = 0;
    long long nanoseconds = 0;
    if (std::sscanf(owned.c_str(), "monotonic %lld %lld", &seconds, &nanoseconds) == 2) {
      return TimeNs{seconds * 1'000'000'000 + nanoseconds};
    }
  }
  return {};
}

std::string CpuList(const std::vector<int>& cpus) {
  std::string text;
  for (std::size_t i = 0; i < cpus.size();) {
    std::size_t last = i;
    while (last + 1 < cpus.size() && cpus[last + 1] == cpus[last] + 1) ++last;
    if (!text.empty()) text += ',';
    text += std::to_string(cpus[i]);
    if (last > i) text += '-' + std::to_string(cpus[last]);
    i = last + 1;
  }
  return text;
}

std::string QuoteCommand(const std::vector<std::string>& command) {
  constexpr std::string_view kPlain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./=:,+@%^";
  std::string line;
  for (const std::string& word : command) {
    if (!line.empty()) line += ' ';
    if (!word.empty() && word.find_first_not_of(kPlain) == std::string::npos) {
      line += word;
      continue;
    }
    line += '\'';
    for (const char c : word) {
      if (c == '\'') {
        line += "'\\''";
      } else {
        line += c;
      }
    }
    line += '\'';
  }
  return line;
}

std::vector<std::string> UnquoteCommand(std::string_view line) {
  std::vector<std::string> words;
  bool inside = false;
  bool fresh = true;
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (line[i] == ' ' && !inside) {
      fresh = true;
      continue;
    }
    if (fresh) words.emplace_back();
    fresh = false;
    if (line[i] == '\'') {
      inside = !inside;
    } else if (line[i] == '\\' && !inside && i + 1 < line.size()) {
      words.back() += line[++i];
    } else {
      words.back() += line[i];
    }
  }
  return words;
}

}  // namespace penstock::traces
