// SPDX-License-Identifier: Apache-2.0
//
// Attaches the agent's core to a ring in the test's own process, without a preloaded library and
// without a collector. The tests write through agent/core/recorder.h, and a RecordingDrain takes
// the records through the same mapping. So a sanitizer sees both sides of the protocol.
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

// Counts of what a drain has taken. In a span of WriteSpan() the sample is the number of the
// writer, and the batch is the number of the span, which each writer counts from 0. The bytes
// follow from both numbers.
struct Taken {
  std::map<std::int64_t, std::vector<bool>> spans;  // by writer
  std::uint64_t count = 0;                          // of spans that WriteSpan() wrote
  std::uint64_t twice = 0;
  std::uint64_t wrong = 0;       // spans whose bytes do not fit their writer and number
  std::uint64_t unfinished = 0;  // spans that were open
  std::set<std::string> texts;
  std::map<std::string, std::uint64_t> bytes;  // of read spans, by the text of their object
  std::uint64_t reads = 0;
  std::uint64_t events = 0;
  traces::Losses losses;
};

inline constexpr std::uint64_t kRecordsOfChunk = wire::kRecordsPerChunk;

// Writes one span with the fields that Taken expects.
void WriteSpan(std::int64_t writer, std::uint64_t number);

// A fresh ring to which this process attaches anew. Requires: no thread of this process is
// recording, and the calling thread never records, since it would keep its chunk of an old ring.
// Threads: one.
class Ring {
 public:
  explicit Ring(std::uint32_t chunks);
  ~Ring();
  Ring(const Ring&) = delete;
  Ring& operator=(const Ring&) = delete;

  // Starts a thread that takes records in rounds until StopDraining(). `pause_us`: the pause
  // between two rounds.
  void StartDraining(unsigned pause_us);
  // Makes a last round, which finds every thread gone. Returns the counts of all rounds.
  const Taken& StopDraining();

  [[nodiscard]] std::span<std::byte> memory() const { return memory_; }
  // Tells the drain that this process or thread is dead.
  void NoteDead(std::uint32_t pid);
  // Number of chunks that are not free.
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
