// SPDX-License-Identifier: Apache-2.0
#include "agent/record/sample/spare_memory.h"

#include <algorithm>
#include <cstdint>

#include "agent/record/sample/proc_fs.h"
#include "traces/host_facts.h"

namespace penstock::record {

Bytes MemoryToSpare() {
  std::uint64_t room = 0;
  if (const auto text = penstock::ReadFile("/proc/meminfo", 1u << 16)) {
    if (const auto available = MeminfoField(*text, "MemAvailable")) room = available->value;
  }
  const traces::CgroupLimits limits = traces::OwnCgroupLimits();
  if (limits.memory_limit) {
    const auto used = traces::CgroupMemoryUse(limits.memory_group);
    // If the memory in use is not known, assumes half of the limit.
    const std::uint64_t taken = used ? used->value : limits.memory_limit->value / 2;
    const std::uint64_t limit = limits.memory_limit->value;
    room = std::min(room, limit > taken ? limit - taken : 0);
  }
  return Bytes{room / 2};
}

}  // namespace penstock::record
