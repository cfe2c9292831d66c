// SPDX-License-Identifier: Apache-2.0
//
// The agent's core attached to a ring of this very process, without a library that is preloaded and
// without a collector: what the drivers write through agent/core/recorder.h is taken by a
// RecordingDrain through the same mapping, so that a sanitizer sees both sides of the protocol.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <set>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "traces/event.h"
#include "traces/pack.h"
#include "traces/wire.h"

namespace penstock::agent::driver {

// What a drain has taken, counted. A span of a driver carries who wrote it (a writer's number, in
// its sample) and its own number (in its batch), from 0 in the writer's order; its bytes follow
// from both.
struct Taken {
  std::map<std::int64_t, std::vector<bool>> spans;  // by writer
  std::uint64_t count = 0;                          // of spans that drivers wrote
  std::uint64_t twice = 0;
  std::uint64_t wrong = 0;       // their bytes are another's
  std::uint64_t unfinished = 0;  // spans of what was in progress
  std::set<std::string> texts;
  std::map<std::string, std::uint64_t> bytes;  // of read spans, by the text of their object
  std::uint64_t reads = 0;
  std::uint64_t events = 0;
  traces::Losses losses;
};

inline constexpr std::uint64_t kRecordsOfChunk = wire::kRecordsPerChunk;

// One span, and the fields that Taken expects of it.
void WriteSpan(std::int64_t writer, std::uint64_t number);

// A fresh ring to which this process attaches anew. Requires: no thread of this process is
// recording; the calling thread itself never records, else it would keep its chunk of an old ring.
// Threads: one.
class Ring {
 public:
  explicit Ring(std::uint32_t chunks);
  ~Ring();
  Ring(const Ring&) = delete;
  Ring& operator=(const Ring&) = delete;

  // Takes what is written, again and again on a thread of its own, until StopDraining().
  // `pause_us`: between two rounds.
  void StartDraining(unsigned pause_us);
  // Another round that finds every thread gone. What was taken in all.
  const Taken& StopDraining();

  [[nodiscard]] std::span<std::byte> memory() const { return memory_; }
  // A process or thread of which the drain is to know that it is dead.
  void NoteDead(std::uint32_t pid);
  // Chunks that are not free.
  [[nodiscard]] std::uint32_t ChunksInUse() const;
  [[nodiscard]] std::uint64_t Dropped() const;

 private:
  class Counter;

  std::span<std::byte> memory_;
  int fd_ = -1;
  std::atomic<bool> stop_{false};
  std::thread drainer_;
  std::mutex mutex_;
  std::set<std::uint32_t> dead_;
  Taken taken_;
};

}  // namespace penstock::agent::driver
