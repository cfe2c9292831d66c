// SPDX-License-Identifier: Apache-2.0
#include "loader/trace/process_counters.h"

#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <string_view>
#include <vector>

#include "traces/base/small_file.h"

namespace penstock::loader {
namespace {

constexpr std::int64_t kSecond = 1'000'000'000;

TimeNs TimeOf(clockid_t clock) {
  timespec now{};
  clock_gettime(clock, &now);
  return TimeNs{std::int64_t{now.tv_sec} * kSecond + now.tv_nsec};
}

// The number after `key` in a text of lines "key: number"; 0 if there is no such line.
std::uint64_t Field(std::string_view text, std::string_view key) {
  for (const std::string_view line : SplitLines(text)) {
    if (line.size() > key.size() && line.substr(0, key.size()) == key && line[key.size()] == ':') {
      return ParseNumber(Trimmed(line.substr(key.size() + 1))).value_or(0);
    }
  }
  return 0;
}

// Fields of /proc/PID/stat by their numbers in proc(5).
enum class StatField : std::size_t { kThreads = 20, kStartTime = 22, kRss = 24 };

// /proc/self/stat: "pid (name) state parent ...".
class ProcessStat {
 public:
  // The name, field 2, may hold blanks and parentheses, so only the text after the last ')' is
  // split.
  explicit ProcessStat(std::string_view text) {
    const std::size_t name_end = text.rfind(')');
    if (name_end == std::string_view::npos) return;
    std::string_view rest = text.substr(name_end + 1);
    while (!(rest = Trimmed(rest)).empty()) {
      const std::size_t end = std::min(rest.find(' '), rest.size());
      after_name_.push_back(rest.substr(0, end));
      rest.remove_prefix(end);
    }
  }

  // 0 if the field is not there.
  [[nodiscard]] std::uint64_t Number(StatField field) const {
    const std::size_t index = static_cast<std::size_t>(field) - kFirstAfterName;
    return index < after_name_.size() ? ParseNumber(after_name_[index]).value_or(0) : 0;
  }

 private:
  static constexpr std::size_t kFirstAfterName = 3;
  std::vector<std::string_view> after_name_;  // parts of the text given, which must outlive this
};

}  // namespace

TimeNs MonotonicNow() {
  return TimeOf(CLOCK_MONOTONIC);
}

ProcessCounters ReadProcessCounters() {
  ProcessCounters counters;
  counters.cpu = TimeOf(CLOCK_PROCESS_CPUTIME_ID);
  rusage usage{};
  if (getrusage(RUSAGE_SELF, &usage) == 0) {
    counters.minor_faults = static_cast<std::uint64_t>(usage.ru_minflt);
    counters.major_faults = static_cast<std::uint64_t>(usage.ru_majflt);
  }
  if (const auto text = ReadFile("/proc/self/stat", 4096)) {
    const ProcessStat stat(*text);
    counters.threads = stat.Number(StatField::kThreads);
    const std::uint64_t pages = stat.Number(StatField::kRss);
    counters.rss.value = pages * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
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
  if (const auto text = ReadFile("/proc/self/stat", 4096)) {
    info.process_start = ProcessStat(*text).Number(StatField::kStartTime);
  }
  if (const auto comm = ReadFile("/proc/self/comm", 64)) {
    info.comm = Trimmed(*comm);
  }
  return info;
}

}  // namespace penstock::loader
