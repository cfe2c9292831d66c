// SPDX-License-Identifier: Apache-2.0
#include "tests/agent/model/linear_model.h"

#include <cstdlib>

namespace penstock::model {
namespace {

constexpr int kRecordsOfOne = 6;

std::uint32_t RecordOf(int process, int number) {
  return 1u << (process * kRecordsOfOne + number);
}

}  // namespace

unsigned Linear::Killable() const {
  unsigned bits = 0;
  for (int p = 0; p < options_.processes && kills_ < options_.kills; ++p) {
    bits |= Ended(p) ? 0u : 1u << p;
  }
  return bits;
}

void Linear::Kill(int actor) {
  processes_[static_cast<std::size_t>(actor)].dead = true;
  ++kills_;
  CheckEnd();
}

void Linear::Step(int actor, Chooser& /*choose*/) {
  StepOf(actor, processes_[static_cast<std::size_t>(actor)]);
  CheckEnd();
}

// Stands for IsDead() and ClaimerIsDead(). Returns whether the owner of the chunk, or the process
// that was claiming it, has ended.
bool Linear::IsOfTheDead(const Chunk& chunk) const {
  if (chunk.state == kFree || chunk.state == kSweeping) return false;
  const int owner = chunk.pid != 0 ? chunk.pid - 1 : (chunk.state >> 2) - 1;
  return owner >= 0 && Ended(owner);
}

void Linear::WriteOut(Chunk& chunk) {
  chunk.drained = true;
  file_[chunk.index] = chunk.records;
}

// Makes a process write out and free a chunk: RetireChunk(), FreeChunk(). `then`: its next step.
void Linear::Give(Process& p, std::uint8_t chunk, At then) {
  p.other = chunk;
  p.then = then;
  p.at = Is(LinearMutation::kFreeBeforeWrite) ? At::kGiveReset : At::kRetire;
}

void Linear::StepOf(int me, Process& p) {
  Chunk* own = p.chunk != kNone ? &chunks_[p.chunk] : nullptr;
  Chunk& other = chunks_[p.other];
  const auto pid = static_cast<std::uint8_t>(me + 1);
  switch (p.at) {
    case At::kTake:
      if (p.done == options_.records) {
        p.at = At::kEnd;
        return;
      }
      for (std::uint8_t c = 0; c < options_.chunks; ++c) {
        if (chunks_[c].state == kFree) {
          chunks_[c].state = OwnedBy(me);
          p.chunk = c;
          p.at = At::kPlace;
          p.looked = false;
          return;
        }
      }
      p.at = p.looked ? At::kDrop : At::kLook;
      p.looked = !p.looked;
      p.other = 0;
      return;
    case At::kPlace:
      if (next_place_ >= kPlaces) std::abort();
      p.place = next_place_++;
      p.at = own->pid == pid ? At::kReset : At::kHead;
      return;
    case At::kHead:
      own->index = p.place;
      own->pid = pid;
      p.at = At::kPut;
      return;
    case At::kPut:
      if (own->pid != pid || own->state != OwnedBy(me))
        Fail("a chunk is swept while its owner fills it");
      own->records |= RecordOf(me, p.done);
      finished_ |= RecordOf(me, p.done);
      ++p.done;
      if (p.done == options_.records) {
        own->state = kSweeping;
        Give(p, p.chunk, At::kEnd);
      } else {
        p.at = Is(LinearMutation::kResetBeforeWrite) ? At::kPlace : At::kWrite;
      }
      return;
    case At::kWrite:  // RenewLinearChunk()
      WriteOut(*own);
      p.at = Is(LinearMutation::kResetBeforeWrite) ? At::kIndex
             : Is(LinearMutation::kPlaceIsKept)    ? At::kReset
                                                   : At::kPlace;
      return;
    case At::kReset:
      if (Is(LinearMutation::kIndexBeforeReset)) {
        own->index = p.place;
      } else {
        own->records = 0;
      }
      p.at = Is(LinearMutation::kResetBeforeWrite) ? At::kWrite : At::kIndex;
      return;
    case At::kIndex:
      if (Is(LinearMutation::kIndexBeforeReset)) {
        own->records = 0;
      } else if (!Is(LinearMutation::kPlaceIsKept)) {
        own->index = p.place;
      }
      p.at = At::kRenewed;
      return;
    case At::kRenewed:
      own->drained = false;
      p.at = At::kPut;
      return;
    case At::kLook:  // ReclaimDeadChunks()
      if (p.other == options_.chunks) {
        p.at = At::kTake;
        return;
      }
      p.word = other.state;
      if (IsOfTheDead(other)) {
        p.at = At::kSwap;
      } else {
        ++p.other;
      }
      return;
    case At::kSwap:
      if (other.state != p.word && !Is(LinearMutation::kSweepWithoutSwap)) {
        ++p.other;
        p.at = At::kLook;
        return;
      }
      other.state = kSweeping;
      if (other.pid != 0) {
        Give(p, p.other, At::kLook);
      } else {
        p.then = At::kLook;
        p.at = At::kGiveFree;
      }
      return;
    case At::kRetire:
      if (other.records == 0 && other.drained && !Is(LinearMutation::kEmptyIsWritten)) {
        if (next_place_ >= kPlaces) std::abort();
        p.place = next_place_++;  // IsBetweenPlaces()
        p.at = At::kMove;
        return;
      }
      WriteOut(other);
      p.at = Is(LinearMutation::kFreeBeforeWrite) ? At::kGivePid : At::kGiveReset;
      return;
    case At::kMove:
      other.index = p.place;
      other.drained = false;
      p.at = At::kRetire;
      return;
    case At::kGiveReset:
      other.records = 0;
      p.at = Is(LinearMutation::kFreeBeforeWrite) ? At::kRetire : At::kGivePid;
      return;
    case At::kGivePid:
      other.pid = 0;
      other.drained = false;
      p.at = At::kGiveFree;
      return;
    case At::kGiveFree:
      other.state = kFree;
      p.at = p.then;
      if (p.then == At::kLook) {
        ++p.other;
      } else {
        p.chunk = kNone;
      }
      return;
    case At::kDrop:
      dropped_ |= RecordOf(me, p.done);
      ++p.done;
      p.at = At::kTake;
      return;
    case At::kEnd:
      return;
  }
}

// Does what a reader does when all processes have ended, and checks what it gets. If a chunk in
// memory has records, they replace those at the chunk's place in the file.
void Linear::CheckEnd() {
  for (int p = 0; p < options_.processes; ++p) {
    if (!Ended(p)) return;
  }
  std::array<std::uint32_t, kPlaces> joined = file_;
  for (int c = 0; c < options_.chunks; ++c) {
    const Chunk& chunk = chunks_[static_cast<std::size_t>(c)];
    if (chunk.pid != 0 && chunk.state != kFree && chunk.records != 0)
      joined[chunk.index] = chunk.records;
  }
  std::uint32_t told = 0;
  for (const std::uint32_t records : joined) {
    if ((told & records) != 0) Fail("a record is told twice");
    told |= records;
  }
  if ((finished_ & ~(told | dropped_)) != 0) Fail("a record is lost and not counted");
}

const char* Linear::Describe(int actor) const {
  static constexpr const char* kDoes[] = {"takes a chunk",
                                          "takes a place",
                                          "fills the header",
                                          "writes a record",
                                          "writes the chunk out",
                                          "resets it",
                                          "names its new place",
                                          "has renewed it",
                                          "looks for chunks of the dead",
                                          "takes one to sweep it",
                                          "writes a chunk out, to free it",
                                          "gives it another place",
                                          "resets that",
                                          "clears its pid",
                                          "frees it",
                                          "drops a record",
                                          "has ended"};
  return kDoes[static_cast<int>(processes_[static_cast<std::size_t>(actor)].at)];
}

void Linear::Hash(Hasher& hasher) const {
  hasher.AddBytes(chunks_);
  hasher.AddBytes(processes_);
  for (const std::uint32_t records : file_) hasher.Add(records);
  hasher.Add(next_place_ | std::uint64_t{kills_} << 8);
  hasher.Add(finished_ | std::uint64_t{dropped_} << 32);
}

}  // namespace penstock::model
