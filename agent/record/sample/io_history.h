// SPDX-License-Identifier: Apache-2.0
//
// Counts the bytes that one process has read itself. The kernel adds the counters of reaped
// children and of ended threads to /proc/PID/io (wait_task_zombie), so a training process seems to
// read what its workers read. Therefore the counters of its threads are followed as well. Not
// thread-safe.
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
  // Reads the counters. `folder`: /proc/PID. False if the process is gone. Cost: about 5 us for
  // each thread. Threads are no longer followed once there were more than 256.
  bool Sample(const std::string& folder);
  // To be called when a followed child of this process has ended: the kernel adds its counters to
  // those of this process.
  void AddChild(const ProcIo& child);

  [[nodiscard]] const ProcIo& whole() const { return whole_; }
  // The counters of the process's own threads, and of those ended threads that were seen. The sum
  // is a lower bound.
  [[nodiscard]] ProcIo own() const;

  // Compares the bytes read since `start` with those that the hooks saw at about the same time,
  // which lie between `before` and `after`. If the kernel's figure is uncertain (because of an
  // untraced child, or a thread that ended between two samples), assumes that the hooks have seen
  // everything.
  [[nodiscard]] Coverage Pair(Bytes start, Bytes before, Bytes after) const;

 private:
  ProcIo whole_;
  ProcIo ended_;  // of ended threads
  ProcIo children_;
  bool follows_threads_ = true;
  std::map<std::uint64_t, ProcIo> threads_;
};

}  // namespace penstock::record
