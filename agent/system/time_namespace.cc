// SPDX-License-Identifier: Apache-2.0

#include "agent/system/time_namespace.h"

#include <stddef.h>

#include "agent/system/scratch.h"
#include "agent/system/strings.h"
#include "agent/system/sys.h"

namespace penstock::agent {

int64_t g_clock_shift = 0;
int64_t g_start_shift = 0;

namespace {

constexpr int64_t kSecond = 1000000000;
constexpr int64_t kNsPerTick = 10000000;  // start times in /proc are in hundredths of a second

// The offset in the line "NAME SECONDS NANOSECONDS" of `text`, in nanoseconds.
int64_t OffsetOf(const char* text, const char* name) {
  const char* p = Find(text, name);
  int64_t values[2] = {};
  for (size_t i = 0; p != nullptr && i < 2; ++i) {
    while (*p != 0 && *p != '-' && (*p < '0' || *p > '9')) {
      ++p;
    }
    const bool negative = *p == '-';
    p += negative ? 1 : 0;
    for (; *p >= '0' && *p <= '9'; ++p) {
      values[i] = values[i] * 10 + (*p - '0');
    }
    values[i] = negative ? -values[i] : values[i];
  }
  return values[0] * kSecond + values[1];
}

}  // namespace

TimeOffsets OwnTimeOffsets() {
  // The file has the offsets for future children. After unshare() these are not the caller's own
  // offsets.
  PENSTOCK_SCRATCH(text);
  constexpr size_t kLink = 64;
  char* const own = text + 1024;
  char* const children = own + kLink;
  const long n = sys::Readlink("/proc/self/ns/time", own, kLink);
  const long m = sys::Readlink("/proc/self/ns/time_for_children", children, kLink);
  if (n <= 0 || n != m || __builtin_memcmp(own, children, static_cast<size_t>(n)) != 0 ||
      sys::ReadFile("/proc/self/timens_offsets", text, 1024) == 0) {
    return {};
  }
  return {OffsetOf(text, "monotonic"), OffsetOf(text, "boottime")};
}

void NoteTimeNamespace(const wire::FileHeader* header) {
  const TimeOffsets own = OwnTimeOffsets();
  g_clock_shift = own.monotonic_ns - header->monotonic_offset_ns;
  g_start_shift = (own.boottime_ns - header->boottime_offset_ns) / kNsPerTick;
}

}  // namespace penstock::agent
