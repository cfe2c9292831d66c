// SPDX-License-Identifier: Apache-2.0
//
// Parsers of what the kernel says in /proc about a process, and the small reads they need.
// Parsers take text and own nothing; a malformed text gives no value. Thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "traces/base/units.h"

namespace penstock::record {

// The contents of a small file, or nothing if it cannot be read. Cut at `limit`.
[[nodiscard]] std::optional<std::string> ReadFile(const std::string& path,
                                                  std::size_t limit = 4u << 20);
[[nodiscard]] std::string_view Trimmed(std::string_view text);
[[nodiscard]] std::optional<std::uint64_t> ParseNumber(std::string_view text);
[[nodiscard]] std::vector<std::string_view> SplitLines(std::string_view text);

// /proc/PID/stat
struct ProcStat {
  char state = '?';
  std::uint32_t parent = 0;
  std::uint64_t minor_faults = 0;
  std::uint64_t major_faults = 0;
  std::uint64_t cpu_clock_ticks = 0;  // utime + stime
  std::uint64_t threads = 0;
  std::uint64_t start = 0;  // clock ticks since boot
  std::uint64_t rss_pages = 0;

  [[nodiscard]] bool gone() const { return state == 'Z' || state == 'X' || state == 'x'; }
};
[[nodiscard]] std::optional<ProcStat> ParseStat(std::string_view text);

// /proc/PID/io
struct ProcIo {
  Bytes rchar;
  Bytes read_bytes;
};
[[nodiscard]] std::optional<ProcIo> ParseIo(std::string_view text);

// /proc/PID/smaps_rollup
struct ProcMemory {
  Bytes pss;
  Bytes uss;
};
[[nodiscard]] std::optional<ProcMemory> ParseRollup(std::string_view text);

// Paths in /proc/PID/maps that are codecs, or libraries that load data by ways of their own.
[[nodiscard]] std::vector<std::string> CodecLibraries(std::string_view maps);

// The innermost id of the NSpid line of /proc/PID/status: the pid as the process sees it.
[[nodiscard]] std::optional<std::uint32_t> InnerPid(std::string_view status);

// "0-3,8" from a sorted list of CPUs.
[[nodiscard]] std::string CpuList(const std::vector<int>& cpus);

}  // namespace penstock::record
