// SPDX-License-Identifier: Apache-2.0
//
// Parsers of what the kernel says in /proc about a process.
// Parsers take text and own nothing; a malformed text gives no value. Thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "traces/base/small_file.h"
#include "traces/base/units.h"

namespace penstock::record {

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

// /proc/PID/schedstat: how long the first thread of the process was ready to run while others had
// the cores. Units: nanoseconds since the thread began.
[[nodiscard]] std::optional<std::uint64_t> ParseRunDelay(std::string_view text);

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

}  // namespace penstock::record
