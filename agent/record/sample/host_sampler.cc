// SPDX-License-Identifier: Apache-2.0
#include "agent/record/sample/host_sampler.h"

#include <sys/statfs.h>

#include <algorithm>

#include "agent/record/sample/proc_fs.h"
#include "traces/base/small_file.h"
#include "traces/host_facts.h"

namespace penstock::record {
namespace {

constexpr TimeNs kShmPeriod{200'000'000};  // a batch stays in /dev/shm for about a step
constexpr TimeNs kMemoryPeriod{1'000'000'000};
// The period is at least the age of the run divided by kHostPerAge, as for processes (kToldPerAge).
constexpr std::int64_t kHostPerAge = 3000;
constexpr TimeNs kLongestHostPeriod{5'000'000'000};

}  // namespace

HostSampler::HostSampler(EnrichingPacker& out)
    : out_(out),
      group_(traces::OwnCgroupLimits().memory_group),
      shm_used_bytes_(out.Intern("shm_used_bytes")),
      memory_available_bytes_(out.Intern("memory_available_bytes")),
      cgroup_memory_bytes_(out.Intern("cgroup_memory_bytes")) {}

void HostSampler::Add(ProcessId process, StringId name, Bytes value, TimeNs now) {
  out_.AddCounter({now, name, process, static_cast<std::int64_t>(value.value)});
}

void HostSampler::Sample(ProcessId process, TimeNs now, bool last) {
  if (first_.value == 0) first_ = now;
  const TimeNs period{std::min((now - first_).value / kHostPerAge, kLongestHostPeriod.value)};
  if (last || now >= next_shm_) {
    next_shm_ = now + std::max(kShmPeriod, period);
    struct statfs info {};
    if (statfs("/dev/shm", &info) == 0) {
      const auto blocks = static_cast<std::uint64_t>(info.f_blocks - info.f_bfree);
      const Bytes used{blocks * static_cast<std::uint64_t>(info.f_bsize)};
      Add(process, shm_used_bytes_, used, now);
    }
  }
  if (!last && now < next_memory_) return;
  next_memory_ = now + std::max(kMemoryPeriod, period);
  const auto meminfo = ReadFile("/proc/meminfo", 8192);
  const auto available = meminfo ? MeminfoField(*meminfo, "MemAvailable") : std::optional<Bytes>();
  if (available) Add(process, memory_available_bytes_, *available, now);
  if (group_.empty()) return;
  if (const auto use = traces::CgroupMemoryUse(group_)) {
    Add(process, cgroup_memory_bytes_, *use, now);
  }
}

}  // namespace penstock::record
