// SPDX-License-Identifier: Apache-2.0
//
// A model of pending reads: a thread sums reads of a descriptor in the header of its chunk, and
// writes them as one span later. Even if the thread is killed at any store, every byte that a call
// returned is either in one span or counted as lost. The model has one thread with one place for a
// pending read, two chunks with room for one record each, and a collector.
//
// Each step is a store, in the order of the code. A collector that looks after the thread's death
// sees the stores in this order; ring_model.h is about one that looks earlier. The steps stand for
// this code. Whoever changes the code changes them too.
//   Does::kCount .. kCounted     CountRead()                     agent/core/pending_reads.cc
//   Does::kClose .. kClosed      WriteOut()                      agent/core/pending_reads.cc
//   Does::kClaim, kOldFull       ClaimChunk(), NextChunk()       agent/core/chunk_writer.cc
//   the collector's              EndOfLife(), WriteRest(), IsTakenOver(), WritePending()
//                                traces/recording/recording_ends.cc,
//                                traces/recording/recording_records.cc
#pragma once

#include <array>
#include <cstdint>

#include "tests/agent/model/machine.h"

namespace penstock::model {

enum class PendingMutation : std::uint8_t {
  kNone,
  kWithoutClosing,        // nothing says which record a pending read becomes
  kClosedBeforeCleared,   // `closing` is cleared before the pending read is cleared
  kClearedBeforeRecord,   // the pending read is cleared before its record is written
  kCopyAfterPid,          // a new chunk gets the thread's pid before it gets the pending read
  kWithoutPrevious,       // a new chunk does not name the chunk that it replaces
  kDeathIsAskedPerChunk,  // a thread may die between two chunks of one round
  kLostIsNotMarked,       // bytes without room count as lost, but `closing` does not say so
  kWithoutCounting,       // nothing says that a read is just being counted
  kCount,
};

struct PendingOptions {
  int reads = 4;
  bool kill = true;
  // Each read is of another descriptor than the read before, so the thread writes out the earlier
  // one.
  bool alternate = true;
  PendingMutation mutation = PendingMutation::kNone;
};

class Pending {
 public:
  explicit Pending(const PendingOptions& options) : options_(options) {}

  [[nodiscard]] int Actors() const { return 2; }
  [[nodiscard]] bool Enabled(int actor) const {
    return actor == 0 ? !dead_ && thread_.at != Does::kEnd : quiet_ < 2;
  }
  void Step(int actor, Chooser& choose);
  [[nodiscard]] unsigned Killable() const {
    return options_.kill && !dead_ && thread_.at != Does::kEnd ? 1u : 0u;
  }
  void Kill(int) { dead_ = true; }
  [[nodiscard]] const char* Violation() const { return violation_; }
  [[nodiscard]] const char* Describe(int actor) const;
  void Normalise() {}
  void Hash(Hasher& hasher) const;

 private:
  static constexpr int kChunks = 2;
  static constexpr std::uint8_t kNone = 0xff;
  static constexpr std::uint8_t kLost = 0xfe;

  enum class Does : std::uint8_t {
    kClaim,
    kPid,
    kOldFull,
    kBegin,
    kCount,
    kAdd,
    kAddToRead,
    kCounted,
    kRoom,
    kClose,
    kRecord,
    kLose,
    kUncount,
    kClear,
    kClosed,
    kPublish,
    kEnd,
  };
  enum class State : std::uint8_t { kFree, kOwned, kFull };

  // A chunk as it lies in shared memory. Sets of reads are bits of a byte.
  struct Chunk {
    State state = State::kFree;
    bool pid = false;
    std::uint8_t anchor = 0;  // the number of the claim
    std::uint8_t previous = 0;
    std::uint8_t committed = 0;
    std::uint8_t record = 0;
    std::uint8_t pending = 0;
    std::uint8_t closing = kNone;  // the record that the pending read becomes, or kLost
    std::uint8_t counting = 0;
    std::uint8_t pad[7] = {};
  };
  struct Thread {
    Does at = Does::kClaim;
    Does then = Does::kBegin;  // the step after a write-out
    std::uint8_t chunk = kNone;
    std::uint8_t next = 0;
    std::uint8_t used = 0;
    std::uint8_t done = 0;  // reads
    std::uint8_t claims = 0;
    bool room = false;
  };
  struct Seen {
    bool open = false;
    std::uint8_t taken = 0;
    bool finished = false;
    bool rest_done = false;
  };

  [[nodiscard]] bool Is(PendingMutation m) const { return options_.mutation == m; }
  void ThreadStep();
  void TakerStep();
  void Drain(int i);
  void EndOfLife(int i);
  void Release();
  void Check();
  void Span(std::uint8_t bytes);
  [[nodiscard]] bool IsTakenOver(int i) const;
  void Fail(const char* what) { violation_ = violation_ == nullptr ? what : violation_; }

  PendingOptions options_;
  std::array<Chunk, kChunks> chunks_{};
  Thread thread_;
  std::array<Seen, kChunks> seen_{};
  bool dead_ = false;
  // The collector: the step of its round, and whether the thread was dead when the round began.
  std::uint8_t round_at_ = 0;
  bool round_dead_ = false;
  std::uint8_t quiet_ = 0;
  // Sets of reads: those that the process has counted, those that it counts as lost, and one that a
  // wrong order of steps keeps only in a register.
  std::uint8_t counted_ = 0;
  std::uint8_t lost_ = 0;
  std::uint8_t uncounted_ = 0;
  // Sets of reads that only the check needs: returned by the program's calls, in spans, and in
  // doubt for the reader.
  std::uint8_t returned_ = 0;
  std::uint8_t spans_ = 0;
  std::uint8_t doubt_ = 0;
  const char* violation_ = nullptr;
};

}  // namespace penstock::model
