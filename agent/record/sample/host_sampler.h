// SPDX-License-Identifier: Apache-2.0
//
// Counters of the machine and of the control group that the run is in: what is used of /dev/shm,
// and how much memory is left before somebody is killed. Not thread-safe.
#pragma once

#include <filesystem>

#include "agent/record/sample/enrich.h"
#include "traces/base/units.h"

namespace penstock::record {

class HostSampler {
 public:
  // Requires: `out` outlives this.
  explicit HostSampler(EnrichingPacker& out);

  // Takes what is due (everything, if `last`) and keeps it with `process`.
  // Cost: 2 us five times a second, and some 30 us once a second.
  void Sample(ProcessId process, TimeNs now, bool last);

 private:
  void Add(ProcessId process, StringId name, Bytes value, TimeNs now);

  EnrichingPacker& out_;
  std::filesystem::path group_;  // whose limit of memory binds; "": none does
  TimeNs first_;
  TimeNs next_shm_;
  TimeNs next_memory_;
  StringId shm_used_bytes_, memory_available_bytes_, cgroup_memory_bytes_;
};

}  // namespace penstock::record
