// SPDX-License-Identifier: Apache-2.0
//
// Which of the processes and threads that wrote into the ring still run. Pids are reused, so a
// process is its pid and its start time. Answers are cached for a moment. Not thread-safe.
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
  std::uint32_t pid = 0;  // as the process itself sees it
  std::uint64_t start = 0;
  auto operator<=>(const ProcessKey&) const = default;
};

class Liveness {
 public:
  // Requires: `header` outlives this. It tells which processes live in another pid namespace.
  explicit Liveness(const wire::FileHeader& header, std::string proc = "/proc");

  // The pid to look up in our /proc; nothing once the process is gone and reaped.
  [[nodiscard]] std::optional<std::uint32_t> HostPid(ProcessKey process, TimeNs now);
  // A zombie no longer runs.
  [[nodiscard]] bool ProcessRuns(ProcessKey process, TimeNs now);
  // `tid` 0: the process as a whole.
  [[nodiscard]] bool ThreadIsDead(ProcessKey process, std::uint32_t tid, TimeNs now);

  // Forgets a process that is dead.
  void Forget(ProcessKey process);

  // How long "it runs" is believed: short when the ring is running out of free chunks.
  void SetPatience(TimeNs patience) { patience_ = patience; }

 private:
  struct Answer {
    bool dead = false;
    TimeNs asked;
  };
  [[nodiscard]] std::optional<ProcStat> StatOf(const std::string& folder) const;
  // What `folder` of a process or thread is about has gone; not: it could not be looked at.
  [[nodiscard]] bool IsGone(const std::string& folder, std::uint32_t pid) const;
  [[nodiscard]] bool IsForeign(ProcessKey process);
  [[nodiscard]] std::optional<std::uint32_t> FindForeign(ProcessKey process, TimeNs now);
  // 0: not there; nullopt: not all of them could be looked at.
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
