// SPDX-License-Identifier: Apache-2.0
//
// Reads a recording incrementally. The collector drains a ring with it; OpenTrace() reads a file
// with it. Does not own the memory that it reads; checks every offset and count, and trusts nothing
// in the file. Not thread-safe.
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

// Moves the records that were committed since the last call into a Packer.
class RecordingDrain {
 public:
  // Requires: `memory` outlives the drain; agents may write to it concurrently.
  // `recycle`: ring mode. Drained full chunks and chunks of dead threads are given back, which
  // needs writable memory.
  RecordingDrain(std::span<std::byte> memory, bool recycle);
  ~RecordingDrain();
  RecordingDrain(const RecordingDrain&) = delete;
  RecordingDrain& operator=(const RecordingDrain&) = delete;

  // Lets `stop` end the drain between two chunks, and reports progress from 0 to 1.
  void Watch(std::stop_token stop, std::atomic<float>* progress);
  // Reads only chunks that `takes` accepts, and no strings. For several drains of one recording in
  // parallel, each with its own threads. Requires: nothing was drained yet.
  void Restrict(std::function<bool(const wire::ChunkHeader&)> takes);

  // Errors: kInput if the header is not that of a recording of this major version.
  Result<void> CheckHeader() const;

  // Takes new records of all chunks. `is_dead(pid, process_start, tid)` says whether a thread is
  // known to have ended; with `tid` 0, whether the whole process has. The chunk of a dead thread is
  // drained to its end, and its unfinished operations become spans with wire::kFlagUnfinished that
  // end with the last thing it did. Returns the number of records taken.
  std::uint64_t Drain(
      Packer& out, const std::function<bool(std::uint32_t, std::uint64_t, std::uint32_t)>& is_dead);

  // Stores in the ring how far the drain is, under the number of the mark that the Packer is about
  // to write.
  void SaveProgress(std::uint64_t mark);
  // Continues where another drain of the ring was at that mark. Requires: nothing was drained yet.
  void ContinueFrom(std::uint64_t mark);
  // Gives drained chunks back to the agents (with `recycle`). Call it after the Packer has flushed:
  // until then the ring holds the only copy that survives the collector.
  void Release();
  // Share of the chunks that wait for Release(), 0 to 1.
  [[nodiscard]] double Pending() const;

  // The last drain of a run: every thread counts as dead. Writes processes, losses and facts.
  void Finish(Packer& out);

  // Forgets those of `processes` (pid, start) that are drained, with their threads, and removes
  // them from the list. So a long run with many processes does not need more and more memory. A
  // process whose chunks are not all taken and given back stays in the list. Requires: all of
  // `processes` are dead and their slots are free.
  void Retire(std::vector<std::pair<std::uint32_t, std::uint64_t>>& processes, Packer& out);

  // Linear mode: the memory was remapped larger.
  void Remap(std::span<std::byte> memory);

  [[nodiscard]] const Losses& losses() const;
  // Finds the packer's id of a process, for the collector's counters; false if it was not seen yet.
  [[nodiscard]] bool ProcessOf(std::uint32_t pid, std::uint64_t process_start, ProcessId* id) const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace penstock::traces
