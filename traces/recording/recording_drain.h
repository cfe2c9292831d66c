// SPDX-License-Identifier: Apache-2.0
//
// The implementation of RecordingDrain. Not thread-safe.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include "traces/clock.h"
#include "traces/recording/recording.h"
#include "traces/recording/recording_chunk.h"
#include "traces/recording/recording_process.h"
#include "traces/recording/recording_strings.h"

namespace penstock::traces {

using IsDead = std::function<bool(std::uint32_t, std::uint64_t, std::uint32_t)>;

struct RecordingDrain::Impl {
  Impl(std::span<std::byte> bytes, bool recycle_chunks);

  struct Thread {
    ThreadId id;
    ProcessId process;
    ThreadInfo info;
    std::uint32_t pid = 0;
    std::uint32_t writer = 0;  // tid of the thread that writes the records; this one ends with it
    std::uint64_t process_start = 0;
    std::uint32_t sequence = 0;  // sequence number of its newest chunk
    std::uint64_t dropped = 0;
    std::int64_t last_ns = 0;  // end of its last record
    bool without_slot = false;
    bool free = false;  // forgotten; the entry may be used for another thread
  };

  [[nodiscard]] const wire::FileHeader& header() const {
    // NOLINTNEXTLINE(cppcoreguidelines-pro-type-reinterpret-cast): shared memory
    return *reinterpret_cast<const wire::FileHeader*>(memory.data());
  }
  [[nodiscard]] bool HasHeader() const { return memory.size() >= wire::kHeaderSize; }
  [[nodiscard]] wire::FileMode Mode() const;
  [[nodiscard]] std::size_t ChunkCount() const;
  [[nodiscard]] std::size_t UsedChunks() const;
  [[nodiscard]] ChunkView Chunk(std::size_t i) const;

  std::uint64_t Drain(Packer& out, const IsDead& is_dead);
  void Finish(Packer& out);

  void PoolAnchors();
  void SyncProcesses(Packer& out);
  std::uint64_t DrainChunk(std::size_t i, Packer& out);
  // Returns false if the chunk has nothing to read.
  bool OpenChunk(const ChunkView& chunk, ChunkState& state, Packer& out);
  void EndOfLife(std::size_t i, const IsDead& is_dead, Packer& out);
  // Gives back a chunk whose claimer was killed before it wrote its pid.
  void FreeClaim(const ChunkView& chunk, const IsDead& is_dead) const;
  void SaveProgress(std::uint64_t mark) const;
  void Release();
  // Writes what a dead thread left in its last chunk: reads that were pending, and operations that
  // it was in the middle of.
  void WriteRest(std::size_t i, Packer& out);
  [[nodiscard]] bool IsTakenOver(std::size_t i);
  // Whether the process runs another program by now (exec). Then the threads of the chunk have
  // ended.
  [[nodiscard]] bool IsReplaced(const wire::ChunkHeader& chunk) const;
  void WritePending(const ChunkView::PendingReads& pending, Thread& thread, Packer& out);
  void Retire(std::vector<std::pair<std::uint32_t, std::uint64_t>>& ended, Packer& out);
  void RetireThreads(const IsDead& is_dead, Packer& out);
  void Forget(std::uint32_t thread, Packer& out);
  void WriteInflight(const ChunkView& chunk, Thread& thread, Packer& out);
  void WriteUnfinished(const wire::Inflight& open, std::uint8_t depth, std::int64_t last,
                       const Thread& thread, Packer& out);
  void CountLosses(Packer& out);
  void CountMissingChunks();

  // Takes one record whose check is right.
  void Take(const wire::Record& record, Thread& thread, Packer& out);
  void TakeSpan(const wire::Record& record, Thread& thread, Packer& out);
  void TakeCall(const wire::Record& record, Thread& thread, Packer& out);
  void TakeText(const wire::TextRecord& record, ChunkState& state, Thread& thread, Packer& out);
  void FinishText(ChunkState& state, Thread& thread, Packer& out);
  void DropText(ChunkState& state);
  void Damaged(std::uint64_t records);
  [[nodiscard]] bool Plausible(std::uint64_t start, std::uint64_t duration) const;

  std::span<std::byte> memory;
  bool recycle;
  bool finishing = false;  // Finish() was called
  std::stop_token stop;
  std::atomic<float>* progress = nullptr;
  std::uint64_t mark = 0;  // the mark from which to continue an earlier drain of the ring
  std::function<bool(const wire::ChunkHeader&)> takes;  // empty: all chunks, with their strings
  ClockMap clock;
  std::uint32_t header_anchors = 0;  // anchors of the header that were added to the clock
  std::int64_t earliest_ns = 0;      // limits of plausible times, see Plausible()
  std::int64_t latest_ns = 0;
  std::vector<ChunkState> chunks;
  std::size_t finished_chunks = 0;  // chunks that wait for Release()
  std::vector<Thread> threads;
  std::map<std::tuple<std::uint32_t, std::uint64_t, std::uint32_t>, std::uint32_t> thread_index;
  std::vector<std::uint32_t> free_threads;
  std::size_t next_look = 0;         // where RetireThreads() continues
  std::uint64_t dropped_before = 0;  // records dropped by threads that were forgotten
  std::uint64_t without_slot_before = 0;
  RecordingProcesses processes;
  RecordingStrings strings;
  Losses found;   // damage met so far
  Losses losses;  // all losses, as of the last drain
  // Linear mode: chunks that others took over from, by process, start, thread and time of the
  // claim.
  std::set<std::tuple<std::uint32_t, std::uint64_t, std::uint32_t, std::uint64_t>> taken_over;
  // About the chunk that is being drained:
  std::uint64_t latest_ticks = 0;
};

}  // namespace penstock::traces
