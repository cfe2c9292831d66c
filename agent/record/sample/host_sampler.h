// SPDX-License-Identifier: Apache-2.0
//
// Takes counters of the machine and of the cgroup of the run: how much of /dev/shm and of the
// cgroup's memory is used, and how much memory is available. Not thread-safe.
#pragma once

#include <filesystem>

#include "agent/record/sample/enrich.h"
#include "traces/base/units.h"

namespace penstock::record {

class HostSampler {
 public:
  // Requires: `out` outlives this object.
  explicit HostSampler(EnrichingPacker& out);

  // Takes the counters that are due (all, if `last`) and writes them for `process`.
  // Cost: 2 us five times a second, and some 30 us once a second; less often in a long run.
  void Sample(ProcessId process, TimeNs now, bool last);

 private:
  void Add(ProcessId process, StringId name, Bytes value, TimeNs now);

  EnrichingPacker& out_;
  std::filesystem::path group_;  // the cgroup with the lowest memory limit; "": none
  TimeNs first_;
  TimeNs next_shm_;
  TimeNs next_memory_;
  StringId shm_used_bytes_, memory_available_bytes_, cgroup_memory_bytes_;
};

}  // namespace penstock::record
