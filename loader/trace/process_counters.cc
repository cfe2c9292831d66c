// SPDX-License-Identifier: Apache-2.0
#include "loader/trace/process_counters.h"

#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include <string_view>
#include <vector>

#include "traces/base/small_file.h"

namespace penstock::loader {
namespace {

constexpr std::int64_t kSecond = 1'000'000'000;

TimeNs Clock(clockid_t clock) {
  timespec now{};
  clock_gettime(clock, &now);
  return TimeNs{std::int64_t{now.tv_sec} * kSecond + now.tv_nsec};
}

// The number after `key` in lines of "key: number".
std::uint64_t Field(std::string_view text, std::string_view key) {
  for (const std::string_view line : SplitLines(text)) {
    if (line.size() > key.size() && line.substr(0, key.size()) == key && line[key.size()] == ':') {
      return ParseNumber(Trimmed(line.substr(key.size() + 1))).value_or(0);
    }
  }
  return 0;
}

std::vector<std::string_view> Words(std::string_view line) {
  std::vector<std::string_view> words;
  while (!(line = Trimmed(line)).empty()) {
    const std::size_t end = line.find(' ');
    words.push_back(line.substr(0, end));
    if (end == std::string_view::npos) break;
    line.remove_prefix(end);
  }
  return words;
}

// The fields of /proc/self/stat from the third (state) on. The name before them may contain blanks.
std::vector<std::string_view> StatWords(std::string_view stat) {
  const std::size_t name_end = stat.rfind(')');
  return name_end == std::string_view::npos ? std::vector<std::string_view>{}
                                            : Words(stat.substr(name_end + 1));
}

std::uint64_t NumberAt(const std::vector<std::string_view>& words, std::size_t index) {
  return index < words.size() ? ParseNumber(words[index]).value_or(0) : 0;
}

}  // namespace

TimeNs MonotonicNow() {
  return Clock(CLOCK_MONOTONIC);
}

ProcessCounters ReadProcessCounters() {
  ProcessCounters counters;
  counters.cpu = Clock(CLOCK_PROCESS_CPUTIME_ID);
  rusage usage{};
  if (getrusage(RUSAGE_SELF, &usage) == 0) {
    counters.minor_faults = static_cast<std::uint64_t>(usage.ru_minflt);
    counters.major_faults = static_cast<std::uint64_t>(usage.ru_majflt);
  }
  if (const auto stat = ReadFile("/proc/self/stat", 4096)) {
    const auto words = StatWords(*stat);
    counters.threads = NumberAt(words, 17);  // field 20 of proc(5)
    counters.rss.value = NumberAt(words, 21) * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
  }
  if (const auto io = ReadFile("/proc/self/io", 4096)) {
    counters.rchar.value = Field(*io, "rchar");
    counters.disk_read.value = Field(*io, "read_bytes");
  }
  return counters;
}

traces::ProcessInfo DescribeProcess() {
  traces::ProcessInfo info;
  info.pid = static_cast<std::uint32_t>(getpid());
  info.parent = static_cast<std::uint32_t>(getppid());
  if (const auto stat = ReadFile("/proc/self/stat", 4096)) {
    info.process_start = NumberAt(StatWords(*stat), 19);  // field 22
  }
  if (const auto comm = ReadFile("/proc/self/comm", 64)) {
    info.comm = Trimmed(*comm);
  }
  return info;
}

}  // namespace penstock::loader
