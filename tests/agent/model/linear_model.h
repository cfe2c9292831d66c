// SPDX-License-Identifier: Apache-2.0
//
// A model of recording without a collector. Processes fill chunks of a shared segment, write each
// chunk to a place of its own in the file and go on in the same memory. A process that finds no
// free chunk sweeps: it writes out and frees the chunks of dead processes. A reader joins file and
// segment. Even if processes are killed at any store, the reader gets each record once. In the
// model a process has one thread, and a chunk has room for one record. Each step is a store; a
// process makes its stores in the order of the code.
//
// The steps stand for this code. Whoever changes the code changes them too.
//   At::kTake .. kHead     TakeFreeChunk(), TakePlace(), ClaimChunk()  agent/core/chunk_writer.cc
//   At::kWrite .. kIndex   RenewLinearChunk()                        agent/core/chunk_writer.cc
//   At::kLook .. kGiveFree ReclaimDeadChunks(), RetireChunk(), WriteOutTo(), FreeChunk()
//                                                                      agent/core/linear_chunks.cc
//   Join()                   traces/recording/join_segment.cc
#pragma once

#include <array>
#include <cstdint>

#include "tests/agent/model/machine.h"

namespace penstock::model {

enum class LinearMutation : std::uint8_t {
  kNone,
  kIndexBeforeReset,  // the chunk names its new place while it still holds the old records
  kResetBeforeWrite,
  kFreeBeforeWrite,   // a chunk that is given back is free before it is written
  kClaimWithoutName,  // the state of a chunk does not say who claimed it
  kSweepWithoutSwap,  // two processes may sweep the same chunk
  kPlaceIsKept,       // the next use of a chunk goes to the same place
  kEmptyIsWritten,    // an empty chunk is written over its records in the file
  kCount,
};

struct LinearOptions {
  int processes = 2;
  int chunks = 1;
  int records = 3;  // of each process
  int kills = 1;
  LinearMutation mutation = LinearMutation::kNone;
};

class Linear {
 public:
  explicit Linear(const LinearOptions& options) : options_(options) {}

  [[nodiscard]] int Actors() const { return options_.processes; }
  [[nodiscard]] bool Enabled(int actor) const { return !Ended(actor); }
  void Step(int actor, Chooser& choose);
  [[nodiscard]] unsigned Killable() const;
  void Kill(int actor);
  [[nodiscard]] const char* Violation() const { return violation_; }
  [[nodiscard]] const char* Describe(int actor) const;
  void Normalise() {}
  void Hash(Hasher& hasher) const;

 private:
  static constexpr int kMaxChunks = 2;
  static constexpr int kPlaces = 12;
  static constexpr std::uint8_t kNone = 0xff;
  static constexpr std::uint8_t kFree = 0;
  static constexpr std::uint8_t kSweeping = 3;

  enum class At : std::uint8_t {
    kTake,
    kPlace,
    kHead,
    kPut,
    kWrite,
    kReset,
    kIndex,
    kRenewed,
    kLook,
    kSwap,
    kRetire,
    kMove,
    kGiveReset,
    kGivePid,
    kGiveFree,
    kDrop,
    kEnd,
  };
  struct Chunk {
    std::uint8_t state = kFree;
    std::uint8_t pid = 0;
    std::uint8_t index = 0;
    bool drained = false;       // the records are in the file
    std::uint32_t records = 0;  // one bit for each record that was committed since the last reset
  };
  struct Process {
    At at = At::kTake;
    At then = At::kTake;  // the step after a chunk was given back
    std::uint8_t chunk = kNone;
    std::uint8_t other = 0;  // the chunk that it sweeps
    std::uint8_t word = 0;   // the state of `other` when the process looked at it
    std::uint8_t place = 0;
    std::uint8_t done = 0;
    bool dead = false;
    bool looked = false;  // it found no free chunk and has looked for chunks of dead processes
    std::uint8_t pad[7] = {};
  };

  [[nodiscard]] bool Is(LinearMutation m) const { return options_.mutation == m; }
  [[nodiscard]] bool Ended(int p) const {
    const Process& process = processes_[static_cast<std::size_t>(p)];
    return process.dead || process.at == At::kEnd;
  }
  [[nodiscard]] std::uint8_t OwnedBy(int p) const {
    return static_cast<std::uint8_t>(Is(LinearMutation::kClaimWithoutName) ? 1 : 1 | (p + 1) << 2);
  }
  [[nodiscard]] bool IsOfTheDead(const Chunk& chunk) const;
  void StepOf(int me, Process& p);
  void Give(Process& p, std::uint8_t chunk, At then);
  void WriteOut(Chunk& chunk);
  void CheckEnd();
  void Fail(const char* what) { violation_ = violation_ == nullptr ? what : violation_; }

  LinearOptions options_;
  std::array<Chunk, kMaxChunks> chunks_{};
  std::array<Process, kMaxActors> processes_{};
  std::array<std::uint32_t, kPlaces> file_{};
  std::uint8_t next_place_ = 0;
  std::uint8_t kills_ = 0;
  std::uint32_t finished_ = 0;
  std::uint32_t dropped_ = 0;
  const char* violation_ = nullptr;
};

}  // namespace penstock::model
