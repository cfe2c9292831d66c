// SPDX-License-Identifier: Apache-2.0
//
// One thread of a FileTracer: it fills chunks of its own, and the writer takes what is complete.
// Threads: the thread itself records; Collect() is the writer's. They share `committed` of a chunk
// (stored with release, loaded with acquire) and, under a mutex, the list of chunks.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <string_view>
#include <vector>

#include "loader/trace/tracer.h"

namespace penstock::loader {

// What a thread said. An event has its time in span.start and its value in span.cpu, a counter
// has its name in span.name besides.
struct TraceEntry {
  enum class Kind : std::uint8_t { kSpan, kEvent, kCounter };
  traces::Span span;
  std::uint32_t object_at = 0;  // text of the object, in the chunk
  std::uint32_t object_size = 0;
  Kind kind = Kind::kSpan;
  traces::EventType event = traces::EventType::kIndexSent;
};

struct TraceChunk {
  static constexpr std::uint32_t kEntries = 1024;
  static constexpr std::uint32_t kTextBytes = 64 * 1024;

  std::array<TraceEntry, kEntries> entries;
  std::array<char, kTextBytes> text;
  std::atomic<std::uint32_t> committed{0};
  std::uint32_t text_used = 0;  // the thread's
  std::uint32_t taken = 0;      // the writer's

  [[nodiscard]] std::string_view Object(const TraceEntry& entry) const {
    return {text.data() + entry.object_at, entry.object_size};
  }
};

// Chunks within a budget. Thread-safe.
class ChunkPool {
 public:
  // At least two chunks. `on_take` is called with every chunk that is handed out.
  ChunkPool(Bytes budget, std::function<void()> on_take);
  // nullptr: the budget is spent.
  [[nodiscard]] TraceChunk* Take();
  void Give(TraceChunk* chunk);
  [[nodiscard]] std::size_t allocated() const;

 private:
  const std::size_t limit_;
  const std::function<void()> on_take_;
  mutable std::mutex mutex_;
  std::vector<std::unique_ptr<TraceChunk>> chunks_;
  std::vector<TraceChunk*> free_;
};

class FileThread final : public ThreadTracer {
 public:
  // `pool` outlives this. `worker`: its number, -1: none.
  FileThread(ChunkPool& pool, ThreadId id, std::int32_t worker);

  [[nodiscard]] ThreadId id() const { return id_; }
  [[nodiscard]] std::int32_t worker() const { return worker_; }
  [[nodiscard]] std::uint64_t dropped() const { return dropped_.load(std::memory_order_relaxed); }
  [[nodiscard]] Bytes read() const { return {read_.load(std::memory_order_relaxed)}; }
  [[nodiscard]] Bytes mapped() const { return {mapped_.load(std::memory_order_relaxed)}; }

  // Calls `visit` with what was committed since the last call, in its order; gives back chunks.
  void Collect(const std::function<void(const TraceEntry&, std::string_view object)>& visit);
  // The thread's: the chunk that it is filling may be given back.
  void Close();

 private:
  static constexpr std::size_t kMaxDepth = 32;  // as the agent's

  struct Open {
    TimeNs start;
    TimeNs cpu;
    NameId name;
    traces::StageId stage;
  };

  void DoSetContext(const Place& place) override { place_ = place; }
  void DoBegin(traces::StageId stage, NameId name) override;
  void DoEnd(Bytes bytes, std::string_view object, std::uint8_t flags) override;
  void DoCancel() override;
  [[nodiscard]] Tick DoNow() const override;
  void DoEmit(traces::StageId stage, NameId name, const Place& place, Tick start, Tick end,
              Bytes bytes, std::string_view object, std::uint8_t flags) override;
  void DoEvent(traces::EventType type, const Place& place, std::int64_t value) override;
  void DoDelivered(const Place& place) override;
  void DoCounter(NameId name, std::int64_t value) override;

  // The next free entry with `object` kept beside it, or nullptr: dropped.
  TraceEntry* Reserve(std::string_view object);
  void Commit();
  bool NextChunk();
  void AddSpan(traces::Span span, const Place& place, std::string_view object);
  // Thread CPU time at `at`, which moves behind the reading if one is made.
  TimeNs CpuAt(TimeNs& at);

  ChunkPool& pool_;
  const ThreadId id_;
  const std::int32_t worker_;

  TraceChunk* current_ = nullptr;
  Place place_;
  std::array<Open, kMaxDepth> open_{};
  std::size_t depth_ = 0;
  TimeNs cpu_at_{-1};
  TimeNs cpu_value_;
  std::uint32_t object_at_ = 0;  // the last object of the current chunk
  std::uint32_t object_size_ = 0;

  std::atomic<std::uint64_t> dropped_{0};  // relaxed: sums, for the summary
  std::atomic<std::uint64_t> read_{0};
  std::atomic<std::uint64_t> mapped_{0};

  std::mutex mutex_;
  std::deque<TraceChunk*> chunks_;  // guarded by mutex_; the last one is being filled
  bool closed_ = false;             // guarded by mutex_: no chunk is being filled
};

}  // namespace penstock::loader
