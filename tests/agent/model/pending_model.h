// SPDX-License-Identifier: Apache-2.0
//
// Reads that are pending in the header of a thread's chunk, killed at any store: every byte that a
// call returned is in one span, or is counted as lost, once. One thread with one place for a
// pending read, two chunks with room for one record each, a collector.
//
// Steps are stores in the order of the program, as a reader sees them that looks when the thread is
// dead; what it may see earlier is the subject of ring_model.h. They stand for, and change with:
//   Does::kCount .. kCounted     CountRead()                     agent/core/pending_reads.cc
//   Does::kClose .. kClosed      WriteOut()                      agent/core/pending_reads.cc
//   Does::kClaim, kOldFull       ClaimChunk(), NextChunk()       agent/core/chunk_writer.cc
//   the collector's              EndOfLife(), WriteRest(), IsTakenOver(), WritePending()
//                                traces/recording/recording_drain.cc,
//                                traces/recording/recording_records.cc
#pragma once

#include <array>
#include <cstdint>

#include "tests/agent/model/machine.h"

namespace penstock::model {

enum class PendingMutation : std::uint8_t {
  kNone,
  kWithoutClosing,        // nothing says which record a pending read becomes
  kClosedBeforeCleared,   // `closing` is taken back before the pending read is
  kClearedBeforeRecord,   // the pending read is cleared, then written
  kCopyAfterPid,          // a new chunk is the thread's before it has what was pending
  kWithoutPrevious,       // nothing says which chunk a chunk takes over from
  kDeathIsAskedPerChunk,  // a thread may die between two looks of one round
  kLostIsNotMarked,       // bytes without room are counted as lost, and that is all
  kWithoutCounting,       // nothing says that a read is just being counted
  kCount,
};

struct PendingOptions {
  int reads = 4;
  bool kill = true;
  // Each read is of another descriptor than the one before: the pending one is written out.
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

  // As it lies in shared memory. Bytes are sets of reads, as bits.
  struct Chunk {
    State state = State::kFree;
    bool pid = false;
    std::uint8_t anchor = 0;  // of this claim
    std::uint8_t previous = 0;
    std::uint8_t committed = 0;
    std::uint8_t record = 0;
    std::uint8_t pending = 0;
    std::uint8_t closing = kNone;  // the record that it becomes, or kLost
    std::uint8_t counting = 0;
    std::uint8_t pad[7] = {};
  };
  struct Thread {
    Does at = Does::kClaim;
    Does then = Does::kBegin;  // after a write-out
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
  // The collector: which step of its round, what it thought of the thread when the round began.
  std::uint8_t round_at_ = 0;
  bool round_dead_ = false;
  std::uint8_t quiet_ = 0;
  // Reads of the process that were counted, and reads that were moved to the lost ones.
  std::uint8_t counted_ = 0;
  std::uint8_t lost_ = 0;
  std::uint8_t uncounted_ = 0;
  // Nobody in the protocol knows: what the program's calls returned; what is in spans; what a
  // reader knows to be in doubt.
  std::uint8_t returned_ = 0;
  std::uint8_t spans_ = 0;
  std::uint8_t doubt_ = 0;
  const char* violation_ = nullptr;
};

}  // namespace penstock::model
