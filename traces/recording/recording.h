// SPDX-License-Identifier: Apache-2.0
//
// Incremental reading of a recording: the collector drains a ring with it, OpenTrace() reads a
// linear file with it. Does not own the memory it looks at; every offset and count is validated,
// nothing in the file is trusted. Not thread-safe.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "traces/base/result.h"
#include "traces/pack.h"
#include "traces/wire.h"

namespace penstock::traces {

// Moves what has been committed since the last call into a Packer.
class RecordingDrain {
 public:
  // Requires: `memory` outlives the drain; it may be written concurrently by agents.
  // `recycle`: ring mode, drained full chunks and chunks of dead threads are given back
  // (needs writable memory).
  RecordingDrain(std::span<std::byte> memory, bool recycle);
  ~RecordingDrain();
  RecordingDrain(const RecordingDrain&) = delete;
  RecordingDrain& operator=(const RecordingDrain&) = delete;

  // Stops between chunks when `stop` says so; tells how far it is, 0 to 1.
  void Watch(std::stop_token stop, std::atomic<float>* progress);
  // Leaves out chunks of which `takes` says no, and all strings: for several drains of one
  // recording side by side, each with its own threads. Requires: nothing was drained yet.
  void Restrict(std::function<bool(const wire::ChunkHeader&)> takes);

  // Errors: kInput if the header is not that of a recording of this major version.
  Result<void> CheckHeader() const;

  // Takes new records of all chunks. `is_dead(pid, process_start, tid)` says whether a thread is
  // known to be gone; its owned chunk is then drained to the end and its in-flight operations
  // become spans flagged wire::kFlagUnfinished that end at the time of the last thing it did. `tid`
  // 0: whether the whole process is.
  // Returns the number of records taken.
  std::uint64_t Drain(
      Packer& out, const std::function<bool(std::uint32_t, std::uint64_t, std::uint32_t)>& is_dead);

  // Notes in the ring how far the drain has come, under the number of the mark that the Packer is
  // about to write.
  void SaveProgress(std::uint64_t mark);
  // Begins where another drain of the ring was at that mark. Requires: nothing was drained yet.
  void ContinueFrom(std::uint64_t mark);
  // Gives drained chunks back to the agents (with `recycle`). Call after the Packer has flushed:
  // until then the ring is the only copy that survives the collector.
  void Release();
  // Share of the chunks that wait for Release(), 0 to 1.
  [[nodiscard]] double Pending() const;

  // The last drain of a run: every thread counts as gone. Writes processes, losses and facts.
  void Finish(Packer& out);

  // Forgets what is dead and drained, so that a long run of many processes does not cost memory.
  // Takes those of `processes` (pid, start) away of which nothing was left to be taken or given
  // back, with their threads. Requires: they are dead and their slots are free.
  void Retire(std::vector<std::pair<std::uint32_t, std::uint64_t>>& processes, Packer& out);

  // Linear mode: the memory was remapped larger.
  void Remap(std::span<std::byte> memory);

  [[nodiscard]] const Losses& losses() const;
  // The packer's id of a process slot, for the collector's counters; false if not seen yet.
  [[nodiscard]] bool ProcessOf(std::uint32_t pid, std::uint64_t process_start, ProcessId* id) const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace penstock::traces
