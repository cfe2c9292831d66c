// SPDX-License-Identifier: Apache-2.0
//
// Tells which of the processes and threads that wrote into the ring still run. Pids are reused, so
// a process is identified by pid and start time. Tids are reused within a process, so answers about
// threads are cached only for a moment. Not thread-safe.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <utility>

#include "agent/record/sample/proc_fs.h"
#include "traces/base/units.h"
#include "traces/wire.h"

namespace penstock::record {

struct ProcessKey {
  std::uint32_t pid = 0;  // the pid that the process itself sees
  std::uint64_t start = 0;
  auto operator<=>(const ProcessKey&) const = default;
};

class Liveness {
 public:
  // `header` says which processes live in another pid namespace. Requires: `header` outlives this
  // object.
  explicit Liveness(const wire::FileHeader& header, std::string proc = "/proc");

  // The pid of the process in our /proc. nullopt once the process is reaped. Also nullopt if it
  // lives in another pid namespace and was not found yet: only one such process is searched for in
  // a second.
  [[nodiscard]] std::optional<std::uint32_t> HostPid(ProcessKey process, TimeNs now);
  // Whether the process runs. A zombie does not.
  [[nodiscard]] bool ProcessRuns(ProcessKey process, TimeNs now);
  // `tid` 0 stands for the process as a whole. A thread in another pid namespace counts as alive
  // while its process runs.
  [[nodiscard]] bool ThreadIsDead(ProcessKey process, std::uint32_t tid, TimeNs now);

  // Forgets a process that is dead.
  void Forget(ProcessKey process);

  // Sets how long ThreadIsDead() keeps an answer. The collector makes it short while the ring fills
  // fast, so that chunks of dead threads are soon free.
  void SetPatience(TimeNs patience) { patience_ = patience; }

 private:
  struct Answer {
    bool dead = false;
    TimeNs asked;
  };
  [[nodiscard]] std::optional<ProcStat> StatOf(const std::string& folder) const;
  // Whether the process or thread of `folder` has gone. False if it could not be looked at.
  [[nodiscard]] bool IsGone(const std::string& folder, std::uint32_t pid) const;
  [[nodiscard]] bool IsForeign(ProcessKey process);
  [[nodiscard]] std::optional<std::uint32_t> FindForeign(ProcessKey process, TimeNs now);
  // The pid in our namespace; 0 if there is no such process; nullopt if not all processes could be
  // read.
  [[nodiscard]] std::optional<std::uint32_t> ScanForeign(ProcessKey process) const;
  void Prune(TimeNs now);

  const wire::FileHeader& header_;
  std::string proc_;
  std::uint64_t own_namespace_ = 0;
  TimeNs patience_{250'000'000};
  std::map<std::pair<ProcessKey, std::uint32_t>, Answer> threads_;
  std::map<ProcessKey, bool> is_foreign_;
  std::map<ProcessKey, std::uint32_t> foreign_;  // 0: looked for and not found
  TimeNs foreign_scan_;
};

}  // namespace penstock::record
