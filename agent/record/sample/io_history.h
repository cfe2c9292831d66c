// SPDX-License-Identifier: Apache-2.0
//
// What one process has read itself. The kernel adds the counters of reaped children and of ended
// threads to /proc/PID/io (wait_task_zombie), so a consumer seems to read what its workers read:
// the counters of its threads are followed as well. Not thread-safe.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "agent/record/sample/proc_fs.h"
#include "traces/base/units.h"

namespace penstock::record {

struct Coverage {
  Bytes hooked;
  Bytes kernel;
};

class IoHistory {
 public:
  // `folder`: /proc/PID. false: it is gone. Cost: a read per thread, about 5 us each; threads of a
  // process with more than 256 are not followed.
  bool Sample(const std::string& folder);
  // A child of this process that was followed has ended: its counters become part of ours.
  void AddChild(const ProcIo& child);

  [[nodiscard]] const ProcIo& whole() const { return whole_; }
  // Of the threads that run, and of ended ones as far as they were seen. A lower bound.
  [[nodiscard]] ProcIo own() const;

  // Bytes read since `start` against the bytes that hooks saw at about the same time, which is
  // between `before` and `after`. Where the kernel's figure is uncertain (an untraced child, a
  // thread that ended between two samples) hooks get the benefit of the doubt.
  [[nodiscard]] Coverage Pair(Bytes start, Bytes before, Bytes after) const;

 private:
  ProcIo whole_;
  ProcIo ended_;  // threads that are gone
  ProcIo children_;
  bool follows_threads_ = true;
  std::map<std::uint64_t, ProcIo> threads_;
};

}  // namespace penstock::record
