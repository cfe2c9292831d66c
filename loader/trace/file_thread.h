// SPDX-License-Identifier: Apache-2.0
//
// One thread of a FileTracer. It fills chunks of its own, from which the writer takes complete
// entries.
// Threads: the thread itself records; the writer calls Collect(). Both use `committed` of a chunk
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

// An entry that a thread recorded. An event has its time in span.start and its value in span.cpu; a
// counter also has its name in span.name.
struct TraceEntry {
  enum class Kind : std::uint8_t { kSpan, kEvent, kCounter };
  traces::Span span;
  std::uint32_t object_at = 0;  // place of the object's text in the chunk
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
  std::uint32_t text_used = 0;  // used by the thread alone
  std::uint32_t taken = 0;      // used by the writer alone

  [[nodiscard]] std::string_view Object(const TraceEntry& entry) const {
    return {text.data() + entry.object_at, entry.object_size};
  }
};

// Hands out chunks within a budget. Thread-safe.
class ChunkPool {
 public:
  // The budget holds at least two chunks. `on_take` is called for every chunk that is handed out.
  ChunkPool(Bytes budget, std::function<void()> on_take);
  // nullptr if the budget is used up.
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
  // `worker`: number of the worker; -1: none. Requires: `pool` outlives this object.
  FileThread(ChunkPool& pool, ThreadId id, std::int32_t worker);

  [[nodiscard]] ThreadId id() const { return id_; }
  [[nodiscard]] std::int32_t worker() const { return worker_; }
  [[nodiscard]] std::uint64_t dropped() const { return dropped_.load(std::memory_order_relaxed); }
  [[nodiscard]] Bytes read() const { return {read_.load(std::memory_order_relaxed)}; }
  [[nodiscard]] Bytes mapped() const { return {mapped_.load(std::memory_order_relaxed)}; }

  // Calls `visit` for the entries committed since the last call, in order. Gives empty chunks back.
  void Collect(const std::function<void(const TraceEntry&, std::string_view object)>& visit);
  // Called by the thread: the chunk that it fills may now be given back.
  void Close();

 private:
  static constexpr std::size_t kMaxDepth = 32;  // as in the agent

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

  // Returns the next free entry, with `object` stored beside it. nullptr: the entry is dropped.
  TraceEntry* Reserve(std::string_view object);
  void Commit();
  bool NextChunk();
  void AddSpan(traces::Span span, const Place& place, std::string_view object);
  // Thread CPU time at `at`. If the clock is read, `at` becomes the moment after the reading.
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
  std::uint32_t object_at_ = 0;  // the last object in the current chunk
  std::uint32_t object_size_ = 0;

  std::atomic<std::uint64_t> dropped_{0};  // relaxed: sums, for the summary
  std::atomic<std::uint64_t> read_{0};
  std::atomic<std::uint64_t> mapped_{0};

  std::mutex mutex_;
  std::deque<TraceChunk*> chunks_;  // guarded by mutex_; the last one is being filled
  bool closed_ = false;             // guarded by mutex_: no chunk is being filled
};

}  // namespace penstock::loader
