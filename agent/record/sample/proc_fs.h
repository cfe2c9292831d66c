// SPDX-License-Identifier: Apache-2.0
//
// Parsers of /proc/meminfo and of files in /proc about a process. They take text and own nothing.
// Malformed text gives no value. Thread-safe.
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
  std::uint64_t cpu_clock_ticks = 0;       // utime + stime
  std::uint64_t children_clock_ticks = 0;  // cutime + cstime: descendants that were waited for
  std::uint64_t threads = 0;
  std::uint64_t start = 0;  // clock ticks since boot
  std::uint64_t rss_pages = 0;

  [[nodiscard]] bool gone() const { return state == 'Z' || state == 'X' || state == 'x'; }
};
[[nodiscard]] std::optional<ProcStat> ParseStat(std::string_view text);

// Parses /proc/PID/schedstat: how long the first thread of the process has waited for a core, in
// total, in nanoseconds.
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
  Bytes uss;                           // private_dirty, private pages of files, and huge pages
  Bytes private_dirty;                 // written, and mapped by nobody else
  Bytes anonymous;                     // pages without a file, private or shared by fork
  std::optional<Bytes> pss_anonymous;  // the share in `pss` of anonymous pages; from Linux 5.4 on
  Bytes swap;
};
[[nodiscard]] std::optional<ProcMemory> ParseRollup(std::string_view text);

// Anonymous pages in memory, from /proc/PID/statm. These are the kernel's counters, so reading them
// walks no page tables. From Linux 6.2 on they may be off by 32 pages for each CPU, and by more if
// there are more than 16 CPUs (percpu_counter_batch). No value once the first thread of the process
// has ended, since the kernel then shows zeros.
[[nodiscard]] std::optional<std::uint64_t> AnonymousPages(std::string_view statm);

// The value in a line "Key:   123 kB" of /proc/meminfo.
[[nodiscard]] std::optional<Bytes> MeminfoField(std::string_view meminfo, std::string_view key);

// The paths in /proc/PID/maps that belong to codecs, or to libraries that load data in their own
// ways.
[[nodiscard]] std::vector<std::string> CodecLibraries(std::string_view maps);

// The library in /proc/PID/maps that serves malloc() instead of libc if it was preloaded:
// "jemalloc", "tcmalloc" or "mimalloc"; "" if there is none.
[[nodiscard]] std::string_view AllocatorLibrary(std::string_view maps);

// The last id in the NSpid line of /proc/PID/status: the pid that the process itself sees.
[[nodiscard]] std::optional<std::uint32_t> InnerPid(std::string_view status);

}  // namespace penstock::record
