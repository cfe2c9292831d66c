// SPDX-License-Identifier: Apache-2.0
//
// Deals with threads and processes that have ended: takes what they left in their chunks, gives the
// chunks back, and forgets the threads.
#include <algorithm>
#include <set>
#include <tuple>
#include <utility>

#include "traces/recording/recording_drain.h"

namespace penstock::traces {

// Writes what a dead thread left, once, and gives its chunk back.
void RecordingDrain::Impl::EndOfLife(std::size_t i, const IsDead& is_dead, Packer& out) {
  ChunkState& state = chunks[i];
  const ChunkView chunk = Chunk(i);
  if (state.thread == ~0u) {
    FreeClaim(chunk, is_dead);
    return;
  }
  if (state.inflight_done || state.finished) {
    return;
  }
  const wire::ChunkHeader& h = chunk.header();
  if (chunk.state() == wire::kChunkFull && Mode() == wire::kRing) {
    DrainChunk(i, out);  // filled since our last visit
    return;
  }
  if (!IsReplaced(h) && !is_dead(chunk.pid(), h.process_start, h.writer != 0 ? h.writer : h.tid)) {
    return;
  }
  WriteRest(i, out);
  if (recycle && !state.finished) {
    state.finished = true;
    ++finished_chunks;
  }
}

bool RecordingDrain::Impl::IsReplaced(const wire::ChunkHeader& chunk) const {
  if (chunk.process >= wire::kMaxProcesses) {
    return false;
  }
  const wire::ProcessSlot& slot = header().processes[chunk.process];
  return __atomic_load_n(&slot.state, __ATOMIC_ACQUIRE) == wire::kProcessReplaced &&
         slot.pid == chunk.pid && slot.process_start == chunk.process_start;
}

bool RecordingDrain::Impl::IsTakenOver(std::size_t i) {
  const ChunkView chunk = Chunk(i);
  const wire::ChunkHeader& h = chunk.header();
  if (chunk.state() == wire::kChunkFull) {
    return true;
  }
  if (header().minor < wire::kMinorCounted) {
    return h.sequence != threads[chunks[i].thread].sequence;
  }
  const auto key = [](const ChunkView& view, std::uint64_t claimed) {
    return std::make_tuple(view.pid(), view.header().process_start, view.header().tid, claimed);
  };
  if (Mode() == wire::kLinear) {
    // A full chunk stays in the file with the reads that were pending when it was written, so many
    // chunks may have been taken over. They are gathered only once.
    const std::size_t last = taken_over.empty() ? chunks.size() : 0;
    for (std::size_t k = 0; k < last; ++k) {
      const ChunkView other = Chunk(k);
      if (other.has_header() && other.header().magic == wire::kChunkMagic) {
        taken_over.insert(key(other, other.header().previous));
      }
    }
    return h.previous != h.anchor.ticks && taken_over.count(key(chunk, h.anchor.ticks)) != 0;
  }
  // The thread may have been killed while it had two chunks. The newer one may have been claimed
  // after our visit, so all chunks are searched.
  const std::size_t used = UsedChunks();
  for (std::size_t k = 0; k < used; ++k) {
    const ChunkView other = Chunk(k);
    if (k != i && other.has_header() && other.header().magic == wire::kChunkMagic &&
        other.header().previous != 0 &&
        key(other, other.header().previous) == key(chunk, h.anchor.ticks)) {
      return true;
    }
  }
  return false;
}

void RecordingDrain::Impl::WriteRest(std::size_t i, Packer& out) {
  const ChunkView chunk = Chunk(i);
  ChunkState& state = chunks[i];
  DrainChunk(i, out);  // takes what it committed between our visit and its end
  ChunkView::PendingReads pending = chunk.Pending();
  // At the end of a recording the thread may still be running.
  for (int tries = 0; pending.committed > state.taken && tries < 8; ++tries) {
    DrainChunk(i, out);
    pending = chunk.Pending();
  }
  DropText(state);
  state.inflight_done = true;
  const bool reads =
      pending.counting != 0 || std::any_of(std::begin(pending.reads), std::end(pending.reads),
                                           [](const auto& read) { return read.bytes != 0; });
  const bool inside = chunk.inflight_depth() != 0 || chunk.Operation().stage != wire::kStageNone;
  if ((!reads && !inside) || IsTakenOver(i)) {
    return;
  }
  Thread& thread = threads[state.thread];
  if (reads && header().minor >= wire::kMinorCounted) {
    WritePending(pending, thread, out);
  }
  WriteInflight(chunk, thread, out);
}

// Another process may have the slot by now. If that one is dead, so is the claimer, which had the
// slot before.
void RecordingDrain::Impl::FreeClaim(const ChunkView& chunk, const IsDead& is_dead) const {
  if (!recycle || Mode() != wire::kRing || !chunk.has_header() || chunk.pid() != 0) {
    return;
  }
  const std::uint32_t claimer = chunk.claimer();
  if (claimer == wire::kMaxProcesses) {
    return;
  }
  const wire::ProcessSlot& slot = header().processes[claimer];
  const std::uint32_t life = __atomic_load_n(&slot.state, __ATOMIC_ACQUIRE);
  if (life == wire::kProcessClaimed) {
    return;  // the process is filling in its slot
  }
  const bool dead = life == wire::kProcessFree || is_dead(slot.pid, slot.process_start, 0);
  if (dead && chunk.pid() == 0) {
    chunk.Recycle();
  }
}

void RecordingDrain::Impl::Release() {
  for (std::size_t i = 0; recycle && i < chunks.size(); ++i) {
    ChunkState& state = chunks[i];
    if (state.thread != ~0u && state.finished) {
      state = ChunkState{};
      Chunk(i).Recycle();
    }
  }
  finished_chunks = 0;
}

// Forgets a thread. Requires: nothing refers to it any more.
void RecordingDrain::Impl::Forget(std::uint32_t index, Packer& out) {
  Thread& thread = threads[index];
  dropped_before += thread.dropped;
  without_slot_before += thread.without_slot ? 1u : 0u;
  out.EndThread(thread.id);
  thread = Thread{};
  thread.free = true;
  free_threads.push_back(index);
}

// A program may start a thread for everything it does. Once there are many, each drain examines a
// few of those without a chunk and forgets the dead ones.
void RecordingDrain::Impl::RetireThreads(const IsDead& is_dead, Packer& out) {
  constexpr std::size_t kFew = 2048;
  const std::size_t known = threads.size() - free_threads.size();
  if (known <= kFew) {
    return;
  }
  std::vector<bool> busy(threads.size());
  for (const ChunkState& state : chunks) {
    if (state.thread != ~0u) busy[state.thread] = true;
  }
  std::size_t questions = std::max<std::size_t>(16, (known - kFew) / 8);
  std::vector<std::uint32_t> dead;
  for (std::size_t i = 0; i < threads.size() && questions > 0; ++i) {
    next_look = (next_look + 1) % threads.size();
    const Thread& thread = threads[next_look];
    if (thread.free || busy[next_look]) continue;
    --questions;
    if (is_dead(thread.pid, thread.process_start, thread.writer)) {
      dead.push_back(static_cast<std::uint32_t>(next_look));
    }
  }
  for (const std::uint32_t index : dead) {
    const Thread& thread = threads[index];
    thread_index.erase(std::make_tuple(thread.pid, thread.process_start, thread.info.tid));
    Forget(index, out);
  }
}

void RecordingDrain::Impl::Retire(std::vector<std::pair<std::uint32_t, std::uint64_t>>& ended,
                                  Packer& out) {
  std::set<std::pair<std::uint32_t, std::uint64_t>> busy;
  const std::size_t used = UsedChunks();
  for (std::size_t i = 0; i < used; ++i) {
    const ChunkView chunk = Chunk(i);
    const std::uint32_t pid = chunk.has_header() ? chunk.pid() : 0;
    if (pid != 0) busy.emplace(pid, chunk.header().process_start);
  }
  std::erase_if(ended, [&](const auto& process) {
    if (busy.contains(process)) return false;
    const auto first = thread_index.lower_bound({process.first, process.second, 0});
    auto last = first;
    for (; last != thread_index.end() && std::get<0>(last->first) == process.first &&
           std::get<1>(last->first) == process.second;
         ++last) {
      Forget(last->second, out);
    }
    thread_index.erase(first, last);
    processes.Retire(process, out);
    return true;
  });
}

}  // namespace penstock::traces
