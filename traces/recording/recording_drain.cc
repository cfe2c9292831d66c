// SPDX-License-Identifier: Apache-2.0
//
// Visits the chunks: decides which to read, how far, and when to give them back.
#include "traces/recording/recording_drain.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <tuple>
#include <utility>

namespace penstock::traces {
namespace {

constexpr std::int64_t kDayNs = 86'400'000'000'000;

}  // namespace

RecordingDrain::Impl::Impl(std::span<std::byte> bytes, bool recycle_chunks)
    : memory(bytes),
      recycle(recycle_chunks),
      clock(HasHeader() && header().clock == wire::kClockTsc ? wire::kClockTsc
                                                             : wire::kClockMonotonic,
            HasHeader() ? header().ticks_per_second : 0) {}

wire::FileMode RecordingDrain::Impl::Mode() const {
  return header().mode == wire::kRing ? wire::kRing : wire::kLinear;
}

std::size_t RecordingDrain::Impl::ChunkCount() const {
  const std::size_t bytes = memory.size() - wire::kHeaderSize;
  return bytes / wire::kChunkSize + (bytes % wire::kChunkSize != 0 ? 1 : 0);
}

// Agents claim the lowest free chunk, so nothing lies behind the first one that was never claimed.
// Looking at the whole ring would touch a thousand pages twenty times a second, often for a dozen
// chunks.
std::size_t RecordingDrain::Impl::UsedChunks() const {
  std::size_t used = ChunkCount();
  if (recycle && Mode() == wire::kRing) {
    const std::size_t all = used;
    for (used = chunks.size(); used < all; ++used) {
      const ChunkView chunk = Chunk(used);
      if (!chunk.has_header() ||
          (chunk.pid() == 0 && __atomic_load_n(&chunk.header().magic, __ATOMIC_RELAXED) == 0 &&
           chunk.state() == wire::kChunkFree)) {
        break;
      }
    }
  }
  return used;
}

ChunkView RecordingDrain::Impl::Chunk(std::size_t i) const {
  const std::size_t offset = wire::kHeaderSize + i * wire::kChunkSize;
  return ChunkView(
      memory.subspan(offset, std::min<std::size_t>(wire::kChunkSize, memory.size() - offset)));
}

void RecordingDrain::Impl::PoolAnchors() {
  const wire::FileHeader& h = header();
  const std::uint32_t count = __atomic_load_n(&h.anchor_count, __ATOMIC_ACQUIRE);
  const std::uint32_t fresh = std::min(count - header_anchors, wire::kMaxAnchors);
  for (std::uint32_t i = count - fresh; i != count; ++i) {
    clock.Add(h.anchors[i % wire::kMaxAnchors]);
  }
  header_anchors = count;
  for (std::size_t i = 0; i < chunks.size(); ++i) {
    const ChunkView chunk = Chunk(i);
    if (!chunks[i].anchored && chunk.has_header() && chunk.pid() != 0 &&
        chunk.header().magic == wire::kChunkMagic) {
      chunks[i].anchored = true;
      clock.Add(chunk.header().anchor);
    }
  }
  clock.Update();
  // A time more than a day before the first anchor or a week after the last one is not from this
  // run. A time above kMost is damage in any case, because no packed trace can hold it.
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max() / 4;
  const bool known = clock.last().value != 0;
  earliest_ns = known ? clock.first().value - kDayNs : 0;
  latest_ns = known ? std::min(clock.last().value + 7 * kDayNs, kMost) : kMost;
}

void RecordingDrain::Impl::SyncProcesses(Packer& out) {
  const wire::FileMode mode = Mode();
  for (std::uint32_t i = 0; i < wire::kMaxProcesses; ++i) {
    processes.Sync(i, header().processes[i], mode, out);
  }
}

std::uint64_t RecordingDrain::Impl::Drain(Packer& out, const IsDead& is_dead) {
  if (!HasHeader()) {
    return 0;
  }
  chunks.resize(std::max(chunks.size(), UsedChunks()));
  SyncProcesses(out);
  PoolAnchors();
  out.SetRealtimeOffset(clock.RealtimeOffset());
  std::uint64_t records = 0;
  for (std::size_t i = 0; i < chunks.size() && !stop.stop_requested(); ++i) {
    records += DrainChunk(i, out);
    if (progress != nullptr) {
      const double done = static_cast<double>(i + 1) / static_cast<double>(chunks.size());
      progress->store(static_cast<float>(done), std::memory_order_relaxed);
    }
  }
  // Asks only once whether a thread is dead. If a thread died between two questions, only its newer
  // chunk, which took over pending reads from the older one, could count as dead in this round. It
  // would be given back, and in the next round the same reads would count again in the older chunk.
  std::map<std::tuple<std::uint32_t, std::uint64_t, std::uint32_t>, bool> answers;
  const IsDead once = [&](std::uint32_t pid, std::uint64_t start, std::uint32_t tid) {
    const auto [answer, first] = answers.try_emplace({pid, start, tid}, false);
    if (first) {
      answer->second = is_dead(pid, start, tid);
    }
    return answer->second;
  };
  for (std::size_t i = 0; i < chunks.size(); ++i) {
    EndOfLife(i, once, out);
  }
  clock.Freeze(latest_ticks);
  if (recycle) RetireThreads(is_dead, out);
  processes.Publish(out);
  CountLosses(out);
  return records;
}

bool RecordingDrain::Impl::OpenChunk(const ChunkView& chunk, ChunkState& state, Packer& out) {
  if (!chunk.has_header()) {
    return false;
  }
  const std::uint32_t pid = chunk.pid();
  // The chunk is free, or is being claimed at this moment: then its claimer may be writing the
  // other fields of the header. At the end of a linear recording nobody claims chunks any more, so
  // a chunk without a pid that is not empty is damaged.
  if (pid == 0 && (!finishing || Mode() == wire::kRing || chunk.IsZero() ||
                   (chunk.committed() == 0 && chunk.header().magic == wire::kChunkMagic))) {
    return false;
  }
  const wire::ChunkHeader& h = chunk.header();
  if (takes && state.thread == ~0u && !takes(h)) {
    return false;
  }
  if (h.magic != wire::kChunkMagic) {
    if (!state.damaged) {
      state.damaged = true;
      ++found.damaged_chunks;
      found.damaged_bytes += wire::kChunkSize;
    }
    return false;
  }
  if (state.thread == ~0u) {
    const auto key = std::make_tuple(pid, h.process_start, h.tid);
    const auto fresh =
        free_threads.empty() ? static_cast<std::uint32_t>(threads.size()) : free_threads.back();
    const auto [at, inserted] = thread_index.try_emplace(key, fresh);
    if (inserted) {
      Thread thread;
      thread.process = processes.Get(pid, h.process_start, out);
      thread.info.process = thread.process;
      thread.info.tid = h.tid;
      thread.pid = pid;
      thread.process_start = h.process_start;
      thread.writer = h.writer != 0 ? h.writer : h.tid;
      thread.info.name.assign(h.thread_name, strnlen(h.thread_name, sizeof h.thread_name));
      thread.id = out.AddThread(thread.info);
      if (free_threads.empty()) {
        threads.push_back(std::move(thread));
      } else {
        free_threads.pop_back();
        threads[fresh] = std::move(thread);
      }
    }
    state.thread = at->second;
    if (Mode() == wire::kRing) {
      // The number of records that a killed collector had written to disk. It is 0 in a chunk that
      // was given back.
      const ChunkView::Drained saved = chunk.DrainedAt(mark);
      if (saved.records <= wire::kRecordsPerChunk) {
        state.taken = saved.records;
        state.inflight_done = saved.rest;
      }
    }
    Thread& thread = threads[state.thread];
    thread.sequence = std::max(thread.sequence, h.sequence);
    thread.dropped = std::max(thread.dropped, h.dropped);
    thread.without_slot = thread.without_slot || h.process >= wire::kMaxProcesses;
  }
  return true;
}

std::uint64_t RecordingDrain::Impl::DrainChunk(std::size_t i, Packer& out) {
  const ChunkView chunk = Chunk(i);
  ChunkState& state = chunks[i];
  if (!OpenChunk(chunk, state, out)) {
    return 0;
  }
  // The state is loaded before the count: if the chunk is full, the count is final.
  const std::uint32_t condition = chunk.state();
  std::uint32_t committed = chunk.committed();
  const bool overflow = committed > wire::kRecordsPerChunk;
  if (overflow && !state.damaged) {
    state.damaged = true;
    ++found.damaged_chunks;
  }
  committed = std::min(committed, chunk.room());
  Thread& thread = threads[state.thread];
  const std::uint32_t from = state.taken;
  for (; state.taken < committed; ++state.taken) {
    wire::Record record;
    std::memcpy(&record, chunk.record(state.taken), sizeof record);
    if (record.kind == wire::kKindNone || record.check != wire::CheckOf(&record)) {
      if (overflow) {
        break;  // `committed` is wrong; the rest was never written
      }
      DropText(state);
      Damaged(1);
    } else if (record.kind == wire::kKindText) {
      wire::TextRecord text;
      std::memcpy(&text, &record, sizeof text);
      TakeText(text, state, thread, out);
    } else {
      DropText(state);
      Take(record, thread, out);
    }
  }
  const std::uint32_t records = state.taken - from;
  if (recycle && condition == wire::kChunkFull && !overflow && !state.finished) {
    DropText(state);
    state.finished = true;
    ++finished_chunks;
  }
  return records;
}

void RecordingDrain::Impl::SaveProgress(std::uint64_t at) const {
  for (std::size_t i = 0; recycle && i < chunks.size(); ++i) {
    const ChunkState& state = chunks[i];
    if (state.thread == ~0u) continue;
    // A text whose last parts are still to come is taken again from its first part.
    Chunk(i).SetDrained(at, {state.taken - state.text_parts, state.inflight_done});
  }
}

void RecordingDrain::Impl::CountLosses(Packer& out) {
  losses = found;
  std::uint64_t of_threads = dropped_before;
  losses.lost_threads += without_slot_before;
  for (const Thread& thread : threads) {
    of_threads += thread.dropped;
    losses.lost_threads += thread.without_slot ? 1u : 0u;
  }
  // Three counters of the same dropped records; each may have missed some.
  losses.dropped_events = std::max(
      {of_threads, processes.Dropped(), __atomic_load_n(&header().dropped, __ATOMIC_RELAXED)});
  losses.damaged_records += clock.contradicted() ? 1u : 0u;
  out.SetLosses(losses);
}

// Counts chunks that were written to the file and are no longer in it: somebody has cut the file.
void RecordingDrain::Impl::CountMissingChunks() {
  std::uint32_t there = 0;
  for (std::size_t i = 0; i < ChunkCount(); ++i) {
    const ChunkView chunk = Chunk(i);
    there += chunk.has_header() && chunk.header().drained != 0 ? 1u : 0u;
  }
  const std::uint32_t written = __atomic_load_n(&header().written_chunks, __ATOMIC_RELAXED);
  if (written > there) {
    found.damaged_chunks += written - there;
    found.damaged_bytes += std::uint64_t{written - there} * wire::kChunkSize;
  }
}

void RecordingDrain::Impl::Finish(Packer& out) {
  if (!HasHeader()) {
    return;
  }
  const wire::FileHeader& h = header();
  const std::size_t tail = (memory.size() - wire::kHeaderSize) % wire::kChunkSize;
  if (tail != 0) {
    found.truncated = true;
    found.damaged_bytes += tail < wire::kChunkHeaderSize ? tail : 0;
  }
  if (Mode() == wire::kLinear) {
    const std::uint32_t allocated = __atomic_load_n(&h.allocated_chunks, __ATOMIC_RELAXED);
    found.truncated = found.truncated || allocated > ChunkCount();
    if (h.segment != 0) {
      // Unsealed: the last records are in shared memory of the recording's host. A reader that has
      // joined them has set `sealed`.
      found.unsealed = __atomic_load_n(&h.sealed, __ATOMIC_RELAXED) == 0;
      CountMissingChunks();
    }
  } else if (!recycle) {
    found.unsealed = __atomic_load_n(&h.sealed, __ATOMIC_RELAXED) == 0;
  }
  finishing = true;
  Drain(out, [](std::uint32_t, std::uint64_t, std::uint32_t) { return true; });
  processes.Settle(h);
  processes.Publish(out);
  if (const std::uint64_t lost = __atomic_load_n(&h.bytes_lost, __ATOMIC_RELAXED); lost != 0) {
    out.SetFact("record.bytes_lost", fmt::format("{}", lost));
  }
  out.SetFact("host", std::string_view(h.host, strnlen(h.host, sizeof h.host)));
  out.SetFact("boot_id", std::string_view(h.boot_id, strnlen(h.boot_id, sizeof h.boot_id)));
  if (Mode() == wire::kLinear) {
    out.SetFact("record.mode", "preload");
    out.SetFact("record.start_realtime_ns",
                fmt::format("{}", (clock.first() + clock.RealtimeOffset()).value));
    processes.PromoteFacts(h.root_pid, out);
  }
}

RecordingDrain::RecordingDrain(std::span<std::byte> memory, bool recycle)
    : impl_(std::make_unique<Impl>(memory, recycle)) {}

RecordingDrain::~RecordingDrain() = default;

Result<void> RecordingDrain::CheckHeader() const {
  const std::span<std::byte> memory = impl_->memory;
  if (memory.size() < sizeof wire::kMagic ||
      std::memcmp(memory.data(), wire::kMagic, sizeof wire::kMagic) != 0) {
    return Fail(ErrorKind::kInput, "is not a recording; give a file made by penstock");
  }
  if (!impl_->HasHeader()) {
    return Fail(ErrorKind::kInput, "ends inside its header; record the run again");
  }
  const wire::FileHeader& header = impl_->header();
  if (header.major != wire::kMajor) {
    return Fail(ErrorKind::kInput,
                fmt::format("is a recording of version {}.{}, this program reads {}.x; use the "
                            "penstock that wrote it",
                            header.major, header.minor, wire::kMajor));
  }
  return {};
}

std::uint64_t RecordingDrain::Drain(Packer& out, const IsDead& is_dead) {
  return impl_->Drain(out, is_dead);
}

void RecordingDrain::Watch(std::stop_token stop, std::atomic<float>* progress) {
  impl_->stop = std::move(stop);
  impl_->progress = progress;
}

void RecordingDrain::Restrict(std::function<bool(const wire::ChunkHeader&)> takes) {
  impl_->takes = std::move(takes);
}

void RecordingDrain::Finish(Packer& out) {
  impl_->Finish(out);
}

void RecordingDrain::SaveProgress(std::uint64_t mark) {
  impl_->SaveProgress(mark);
}

void RecordingDrain::ContinueFrom(std::uint64_t mark) {
  impl_->mark = mark;
}

void RecordingDrain::Release() {
  impl_->Release();
}

double RecordingDrain::Pending() const {
  return impl_->HasHeader() && impl_->ChunkCount() != 0
             ? static_cast<double>(impl_->finished_chunks) /
                   static_cast<double>(impl_->ChunkCount())
             : 0.0;
}

void RecordingDrain::Retire(std::vector<std::pair<std::uint32_t, std::uint64_t>>& processes,
                            Packer& out) {
  if (impl_->HasHeader()) impl_->Retire(processes, out);
}

void RecordingDrain::Remap(std::span<std::byte> memory) {
  impl_->memory = memory;
}

const Losses& RecordingDrain::losses() const {
  return impl_->losses;
}

bool RecordingDrain::ProcessOf(std::uint32_t pid, std::uint64_t process_start,
                               ProcessId* id) const {
  return impl_->processes.Find(pid, process_start, id);
}

}  // namespace penstock::traces
