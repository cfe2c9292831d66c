// SPDX-License-Identifier: Apache-2.0
#include "loader/trace/file_thread.h"

#include <time.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "loader/trace/process_counters.h"

namespace penstock::loader {

using traces::EventType;
using traces::Span;
using traces::StageId;

ChunkPool::ChunkPool(Bytes budget, std::function<void()> on_take)
    : limit_(std::max<std::size_t>(2, budget.value / sizeof(TraceChunk))),
      on_take_(std::move(on_take)) {}

TraceChunk* ChunkPool::Take() {
  TraceChunk* chunk = nullptr;
  {
    const std::lock_guard lock(mutex_);
    if (!free_.empty()) {
      chunk = free_.back();
      free_.pop_back();
    } else if (chunks_.size() < limit_) {
      chunk = chunks_.emplace_back(std::make_unique<TraceChunk>()).get();
    }
  }
  on_take_();
  return chunk;
}

void ChunkPool::Give(TraceChunk* chunk) {
  chunk->committed.store(0, std::memory_order_relaxed);  // the mutex orders it
  chunk->text_used = 0;
  chunk->taken = 0;
  const std::lock_guard lock(mutex_);
  free_.push_back(chunk);
}

std::size_t ChunkPool::allocated() const {
  const std::lock_guard lock(mutex_);
  return chunks_.size();
}

FileThread::FileThread(ChunkPool& pool, ThreadId id, std::int32_t worker)
    : ThreadTracer(true), pool_(pool), id_(id), worker_(worker) {}

bool FileThread::NextChunk() {
  TraceChunk* chunk = pool_.Take();
  if (chunk == nullptr) {
    Close();  // so that the full chunk can be used again
    return false;
  }
  const std::lock_guard lock(mutex_);
  chunks_.push_back(chunk);
  closed_ = false;
  current_ = chunk;
  object_size_ = 0;
  return true;
}

void FileThread::Close() {
  const std::lock_guard lock(mutex_);
  closed_ = true;
  current_ = nullptr;
}

void FileThread::Collect(
    const std::function<void(const TraceEntry&, std::string_view object)>& visit) {
  std::vector<TraceChunk*> complete;
  TraceChunk* filling = nullptr;
  {
    const std::lock_guard lock(mutex_);
    const std::size_t keep = closed_ || chunks_.empty() ? 0 : 1;
    while (chunks_.size() > keep) {
      complete.push_back(chunks_.front());
      chunks_.pop_front();
    }
    filling = chunks_.empty() ? nullptr : chunks_.front();
  }
  const auto take = [&](TraceChunk& chunk) {
    const std::uint32_t committed = chunk.committed.load(std::memory_order_acquire);
    for (; chunk.taken < committed; ++chunk.taken) {
      const TraceEntry& entry = chunk.entries[chunk.taken];
      visit(entry, chunk.Object(entry));
    }
  };
  for (TraceChunk* chunk : complete) {
    take(*chunk);
    pool_.Give(chunk);
  }
  if (filling != nullptr) {
    take(*filling);
  }
}

TraceEntry* FileThread::Reserve(std::string_view object) {
  object = object.substr(0, TraceChunk::kTextBytes / 2);  // more than any path
  const auto has_room = [&] {
    return current_ != nullptr &&
           current_->committed.load(std::memory_order_relaxed) < TraceChunk::kEntries &&
           TraceChunk::kTextBytes - current_->text_used >= object.size();
  };
  if (!has_room() && !NextChunk()) {
    dropped_.fetch_add(1, std::memory_order_relaxed);
    return nullptr;
  }
  TraceEntry& entry = current_->entries[current_->committed.load(std::memory_order_relaxed)];
  entry = TraceEntry{};
  if (object.empty()) {
    return &entry;
  }
  if (object != std::string_view(current_->text.data() + object_at_, object_size_)) {
    object_at_ = current_->text_used;
    object_size_ = static_cast<std::uint32_t>(object.size());
    std::memcpy(current_->text.data() + object_at_, object.data(), object.size());
    current_->text_used += object_size_;
  }
  entry.object_at = object_at_;
  entry.object_size = object_size_;
  return &entry;
}

void FileThread::Commit() {
  current_->committed.store(current_->committed.load(std::memory_order_relaxed) + 1,
                            std::memory_order_release);
}

void FileThread::AddSpan(Span span, const Place& place, std::string_view object) {
  if (span.stage == StageId::kRead) {
    (((span.flags & wire::kFlagMapped) != 0) ? mapped_ : read_)
        .fetch_add(span.bytes.value, std::memory_order_relaxed);
  }
  if (TraceEntry* entry = Reserve(object); entry != nullptr) {
    span.sample = place.sample;
    span.batch = {place.batch, place.generation};
    entry->span = span;
    Commit();
  }
}

TimeNs FileThread::CpuAt(TimeNs& at) {
  // The system call takes longer than many spans, and spans begin and end in clusters. So within 20
  // us of a reading, the result is that reading plus the wall time since then: CPU time cannot have
  // grown by more.
  constexpr TimeNs kCluster{20'000};  // the agent's g_cpu_reuse_ticks
  if (cpu_at_.value >= 0 && at - cpu_at_ < kCluster) {
    return cpu_value_ + (at - cpu_at_);
  }
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  cpu_value_ = TimeNs{std::int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec};
  cpu_at_ = at = MonotonicNow();
  return cpu_value_;
}

void FileThread::DoBegin(StageId stage, NameId name) {
  if (depth_ < kMaxDepth) {
    Open& open = open_[depth_];
    open = {MonotonicNow(), TimeNs{-1}, name, stage};
    if (TakesCpuTime(stage)) {
      open.cpu = CpuAt(open.start);
    }
  }
  ++depth_;
}

void FileThread::DoEnd(Bytes bytes, std::string_view object, std::uint8_t flags) {
  if (depth_ == 0 || --depth_ >= kMaxDepth) {
    return;
  }
  const Open& open = open_[depth_];
  TimeNs at = MonotonicNow();
  Span span;
  span.start = open.start;
  span.duration = at - open.start;
  if (open.cpu.value >= 0) {
    span.cpu = std::max(TimeNs{}, CpuAt(at) - open.cpu);
    flags |= wire::kFlagCpu;
  }
  span.bytes = bytes;
  span.name = StringId{open.name.value};
  span.stage = open.stage;
  span.flags = flags;
  span.depth = static_cast<std::uint8_t>(depth_);
  AddSpan(span, place_, object);
}

void FileThread::DoCancel() {
  if (depth_ > 0) {
    --depth_;
  }
}

Tick FileThread::DoNow() const {
  return {static_cast<std::uint64_t>(MonotonicNow().value), 0};
}

void FileThread::DoEmit(StageId stage, NameId name, const Place& place, Tick start, Tick end,
                        Bytes bytes, std::string_view object, std::uint8_t flags) {
  if (start.value == 0 || end.value < start.value) {
    return;
  }
  Span span;
  span.start = TimeNs{static_cast<std::int64_t>(start.value)};
  span.duration = TimeNs{static_cast<std::int64_t>(end.value - start.value)};
  span.bytes = bytes;
  span.name = StringId{name.value};
  span.stage = stage;
  span.flags = flags;
  span.depth = static_cast<std::uint8_t>(std::min(depth_, kMaxDepth));
  AddSpan(span, place, object);
}

void FileThread::DoEvent(EventType type, const Place& place, std::int64_t value) {
  if (TraceEntry* entry = Reserve({}); entry != nullptr) {
    entry->kind = TraceEntry::Kind::kEvent;
    entry->event = type;
    entry->span.start = MonotonicNow();
    entry->span.cpu = TimeNs{value};
    entry->span.batch = {place.batch, place.generation};
    Commit();
  }
}

void FileThread::DoDelivered(const Place& place) {
  DoEvent(EventType::kBatchDelivered, place, 0);
}

void FileThread::DoCounter(NameId name, std::int64_t value) {
  if (TraceEntry* entry = Reserve({}); entry != nullptr) {
    entry->kind = TraceEntry::Kind::kCounter;
    entry->span.start = MonotonicNow();
    entry->span.cpu = TimeNs{value};
    entry->span.name = StringId{name.value};
    Commit();
  }
}

}  // namespace penstock::loader
