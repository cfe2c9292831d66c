// SPDX-License-Identifier: Apache-2.0
//
// A model of the ring's protocol (traces/wire.h, ChunkHeader) for the search of machine.h. Writers
// claim and fill chunks, and may be killed. A collector takes records, writes them to disk and
// frees chunks, and may be killed too. `penstock recover` then takes the rest. In the model a chunk
// holds two records.
//
// The steps stand for this code. Whoever changes the code changes them too.
//   Writes::kScan .. kOldFull   ClaimChunk(), NextChunk()   agent/core/chunk_writer.cc
//   Writes::kPut                Put()                       agent/core/chunk_writer.h
//   Writes::kPublish            PublishChunk()              agent/core/chunk_writer.cc
//   Takes::kOpen .. kClaimer    Drain(), OpenChunk(), DrainChunk()
//                                                           traces/recording/recording_drain.cc
//                               EndOfLife(), FreeClaim()    traces/recording/recording_ends.cc
//   Takes::kDrained             SaveProgress()              traces/recording/recording_drain.cc
//   Takes::kCommit              PackedWriter::WriteMark()   traces/packed/packer.cc; a mark is
//                               valid only as a whole, so it is one store here
//   Takes::kRelease             Release()                   traces/recording/recording_drain.cc
//   Takes::kClearCommitted .. kFree  ChunkView::Recycle()   traces/recording/recording_chunk.h
#pragma once

#include <array>
#include <cstdint>

#include "tests/agent/model/machine.h"

namespace penstock::model {

// Each mutation makes the protocol wrong in one place. The search must find a violation for each.
enum class Mutation : std::uint8_t {
  kNone,
  // the writer
  kClaimWithoutAcquire,
  kPidWithoutRelease,
  kPidBeforeHeader,
  kCommitWithoutRelease,
  kCommitBeforeRecord,
  kFullWithoutRelease,
  kFullBeforeLastRecord,
  kClaimWithoutSwap,  // a load and a store instead of a compare-and-swap
  kClaimWithoutName,  // a writer that is killed while it claims keeps the chunk for ever
  // the drain
  kStateAfterCommitted,
  kStateWithoutAcquire,
  kPidWithoutAcquire,
  kCommittedWithoutAcquire,
  kDeadWithoutLastLook,
  kDeadIsTakenForGranted,
  kFreeWithoutRelease,
  kFreeBeforeCommitted,
  kFreeBeforePid,
  kCommittedIsKept,
  kClaimerWithoutLastLook,
  kFlushWithoutCommit,  // recover takes all that is on disk, with or without a mark
  kCommitBeforeDrained,
  kRecycleBeforeCommit,
  kCount,
};

struct RingOptions {
  int writers = 2;
  int chunks = 2;
  int records = 3;          // of each writer
  int kills = 0;            // of writers
  bool taker_dies = false;  // the collector may be killed once; a recovery follows
  Mutation mutation = Mutation::kNone;
};

class Ring {
 public:
  explicit Ring(const RingOptions& options);

  [[nodiscard]] int Actors() const { return options_.writers + 1; }
  [[nodiscard]] bool Enabled(int actor) const;
  void Step(int actor, Chooser& choose);
  [[nodiscard]] unsigned Killable() const;
  void Kill(int actor);
  [[nodiscard]] const char* Violation() const { return violation_; }
  [[nodiscard]] const char* Describe(int actor) const;
  void Normalise() { memory_.Normalise(); }
  void Hash(Hasher& hasher) const;

 private:
  static constexpr int kMaxChunks = 3;
  static constexpr int kRoom = 2;  // records in a chunk
  static constexpr std::uint8_t kNobody = 0xff;

  enum class Writes : std::uint8_t {
    kScan,
    kClaim,
    kHeader,
    kOldFull,
    kPut,
    kCommit,
    kDrop,
    kPublish,
    kEnd
  };
  enum class Takes : std::uint8_t {
    kBegin,
    kOpen,
    kState,
    kCommitted,
    kEndOfLife,
    kClaimer,
    kFlush,
    kDrained,
    kCommit,
    kRelease,
    kClearCommitted,
    kClearPid,
    kClearDrained,
    kFree,
    kEnd,
  };

  struct Writer {
    Writes at = Writes::kScan;
    std::uint8_t chunk = kNobody;  // the chunk that it fills
    std::uint8_t next = 0;         // the chunk that it looks at or is claiming
    std::uint8_t used = 0;
    std::uint8_t written = 0;  // records, also those that were dropped
    bool dead = false;
    std::uint8_t pad[2] = {};
  };
  // What a drain remembers of a chunk: traces::ChunkState.
  struct Seen {
    std::uint8_t thread = kNobody;
    std::uint8_t taken = 0;
    bool finished = false;
    std::uint8_t pad = 0;
  };
  struct Taker {
    Takes at = Takes::kBegin;
    std::uint8_t chunk = 0;
    bool second = false;     // in the second pass over the chunks, for EndOfLife()
    bool last = false;       // this is the last look at a chunk whose thread is dead
    bool all_ended = false;  // every writer had ended when this round began
    bool recovers = false;
    std::uint8_t state = 0;
    std::uint8_t committed = 0;
    std::uint8_t quiet = 0;  // rounds since every writer ended
    std::uint8_t deaths = 0;
    std::uint8_t half = 0;   // which half of `drained` is valid
    bool abandoned = false;  // the chunk's claimer is dead, so the chunk is freed at once
    std::uint8_t pad[4] = {};
    std::array<Seen, kMaxChunks> seen{};
    std::uint8_t pad2[4] = {};
  };

  // Numbers of locations in Memory, first of the atomics, then of the plain ones.
  [[nodiscard]] static int State(int chunk) { return chunk * 4; }
  [[nodiscard]] static int Committed(int chunk) { return chunk * 4 + 1; }
  [[nodiscard]] static int Pid(int chunk) { return chunk * 4 + 2; }
  [[nodiscard]] static int Drained(int chunk) { return chunk * 4 + 3; }
  [[nodiscard]] static int Commit() { return kMaxChunks * 4; }
  [[nodiscard]] static int Header(int chunk) { return chunk * (kRoom + 1); }
  [[nodiscard]] static int Record(int chunk, int i) { return chunk * (kRoom + 1) + 1 + i; }

  [[nodiscard]] bool Is(Mutation mutation) const { return options_.mutation == mutation; }
  [[nodiscard]] int TakerActor() const { return options_.writers; }
  [[nodiscard]] bool Ended(const Writer& w) const { return w.dead || w.at == Writes::kEnd; }
  [[nodiscard]] bool AllEnded() const;
  void Fail(const char* what) { violation_ = violation_ == nullptr ? what : violation_; }

  [[nodiscard]] bool IsLocal(Takes at) const;
  void WriterStep(int actor, Writer& w, Chooser& choose);
  void WantRoom(Writer& w);
  void TakerStep(Chooser& choose);
  void Open(Chooser& choose);
  void AfterChunk();
  void EndOfLife(Chooser& choose);
  void TakeRecord();
  void AfterRelease();
  void EndOfRound();
  void BeginRelease();
  void CheckAll();

  RingOptions options_;
  Memory memory_;
  std::array<Writer, kMaxActors> writers_{};
  Taker taker_;
  // Only the checks need these: which records are finished, dropped, taken and on disk, and which
  // writer has which chunk.
  std::uint64_t finished_ = 0;
  std::uint64_t dropped_ = 0;
  std::uint64_t taken_ = 0;
  std::uint64_t on_disk_ = 0;
  std::array<std::uint64_t, 2> counts_{};  // records on disk when each half of `drained` was saved
  std::array<std::uint8_t, 8> owner_{};
  int kills_ = 0;
  const char* violation_ = nullptr;
};

}  // namespace penstock::model
