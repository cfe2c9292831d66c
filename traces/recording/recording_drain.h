// SPDX-License-Identifier: Apache-2.0
//
// The inside of RecordingDrain. Not thread-safe.
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
    std::uint32_t writer = 0;  // the thread whose death is this one's
    std::uint64_t process_start = 0;
    std::uint32_t sequence = 0;  // of its newest chunk
    std::uint64_t dropped = 0;
    std::int64_t last_ns = 0;  // end of the last thing it did
    bool without_slot = false;
    bool free = false;  // forgotten; may become another
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
  // False if the chunk holds nothing to read.
  bool OpenChunk(const ChunkView& chunk, ChunkState& state, Packer& out);
  void EndOfLife(std::size_t i, const IsDead& is_dead, Packer& out);
  // Gives back a chunk whose claimer was killed before it said who it is.
  void FreeClaim(const ChunkView& chunk, const IsDead& is_dead) const;
  void SaveProgress(std::uint64_t mark) const;
  void Release();
  // What a dead thread leaves in its last chunk: reads that were pending, and what it was in the
  // middle of.
  void WriteRest(std::size_t i, Packer& out);
  [[nodiscard]] bool IsTakenOver(std::size_t i);
  // The process runs another program by now (exec): the threads of the chunk's are gone.
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

  // One record whose check is right.
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
  std::stop_token stop;
  std::atomic<float>* progress = nullptr;
  std::uint64_t mark = 0;  // where an earlier drain of the ring had come
  std::function<bool(const wire::ChunkHeader&)> takes;  // empty: all chunks, with their strings
  ClockMap clock;
  std::uint32_t header_anchors = 0;  // of the header, already pooled
  std::int64_t earliest_ns = 0;      // what can be meant, see Plausible()
  std::int64_t latest_ns = 0;
  std::vector<ChunkState> chunks;
  std::size_t finished_chunks = 0;  // wait for Release()
  std::vector<Thread> threads;
  std::map<std::tuple<std::uint32_t, std::uint64_t, std::uint32_t>, std::uint32_t> thread_index;
  std::vector<std::uint32_t> free_threads;
  std::size_t next_look = 0;         // of RetireThreads()
  std::uint64_t dropped_before = 0;  // by threads that were forgotten
  std::uint64_t without_slot_before = 0;
  RecordingProcesses processes;
  RecordingStrings strings;
  Losses found;   // damage met so far
  Losses losses;  // everything, as of the last drain
  // Linear: what chunks were taken over from, by process, start, thread and time of the claim.
  std::set<std::tuple<std::uint32_t, std::uint64_t, std::uint32_t, std::uint64_t>> taken_over;
  // Of the chunk that is being drained:
  std::uint64_t latest_ticks = 0;
};

}  // namespace penstock::traces
