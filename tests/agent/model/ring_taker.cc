// SPDX-License-Identifier: Apache-2.0
//
// The steps of the collector, and of the recovery after it was killed.
#include "tests/agent/model/ring_model.h"
#include "tests/agent/model/ring_words.h"

namespace penstock::model {
namespace {

// `drained` has two halves. The last mark in the collector's file says which half is valid.
std::uint8_t Half(std::uint8_t drained, int half) {
  return half == 0 ? drained & 15 : drained >> 4;
}
std::uint8_t WithHalf(std::uint8_t drained, int half, std::uint8_t value) {
  return static_cast<std::uint8_t>(half == 0 ? (drained & 0xf0) | value
                                             : (drained & 15) | value << 4);
}

}  // namespace

// Returns whether a step may be done together with the step before it, since other actors cannot
// see a difference.
bool Ring::IsLocal(Takes at) const {
  const bool ordered =
      options_.taker_dies || Is(Mutation::kFreeBeforeCommitted) || Is(Mutation::kFreeBeforePid);
  const Seen& seen = taker_.seen[taker_.chunk < kMaxChunks ? taker_.chunk : 0];
  switch (at) {
    case Takes::kBegin:
    case Takes::kRelease:
      return true;
    case Takes::kEndOfLife:
      return seen.finished;
    case Takes::kFlush:
      return !options_.taker_dies;
    case Takes::kClearPid:
    case Takes::kClearDrained:
    case Takes::kFree:
      return !ordered;
    default:
      return false;
  }
}

// The collector repeats RecordingDrain::Drain(), its own Flush() and RecordingDrain::Release().
// This does the next step of that.
void Ring::TakerStep(Chooser& choose) {
  const int me = TakerActor();
  Taker& t = taker_;
  Seen& seen = t.seen[t.chunk < kMaxChunks ? t.chunk : 0];
  const auto clear = [&](Takes next, int atomic) {
    memory_.Store(me, atomic, 0, Order::kRelaxed);
    t.at = next;
  };
  switch (t.at) {
    case Takes::kBegin:
      t.all_ended = AllEnded();
      if (t.all_ended) {  // the collector has seen the end of each writer
        for (int w = 0; w < options_.writers; ++w) memory_.Learn(me, w);
      }
      t.chunk = 0;
      t.second = false;
      t.last = false;
      t.at = Takes::kOpen;
      return;
    case Takes::kOpen:
      Open(choose);
      return;
    case Takes::kState:  // DrainChunk()
      if (Is(Mutation::kStateAfterCommitted)) {
        t.committed = memory_.Load(me, Committed(t.chunk), Order::kAcquire, choose);
      } else {
        t.state = memory_.Load(
            me, State(t.chunk),
            Is(Mutation::kStateWithoutAcquire) ? Order::kRelaxed : Order::kAcquire, choose);
      }
      t.at = Takes::kCommitted;
      return;
    case Takes::kCommitted:
      if (Is(Mutation::kStateAfterCommitted)) {
        t.state = memory_.Load(me, State(t.chunk), Order::kAcquire, choose);
      } else {
        t.committed = memory_.Load(
            me, Committed(t.chunk),
            Is(Mutation::kCommittedWithoutAcquire) ? Order::kRelaxed : Order::kAcquire, choose);
      }
      while (seen.taken < t.committed && violation_ == nullptr) TakeRecord();
      seen.finished = seen.finished || t.state == kFull || t.last;
      AfterChunk();
      return;
    case Takes::kEndOfLife:
      EndOfLife(choose);
      return;
    case Takes::kClaimer:
      // FreeClaim(). The claimer is dead, so all its stores are visible now.
      if (memory_.Load(me, Pid(t.chunk), Order::kAcquire, choose) != 0 &&
          !Is(Mutation::kClaimerWithoutLastLook)) {
        AfterChunk();
        return;
      }
      t.abandoned = true;
      if (!memory_.Write(me, Header(t.chunk), 0)) Fail("a header is cleared while it is written");
      t.at = Takes::kFree;
      return;
    case Takes::kFlush:
      on_disk_ = taken_;
      t.chunk = 0;
      if (!options_.taker_dies) {
        BeginRelease();
      } else if (t.recovers) {
        CheckAll();
        t.at = Takes::kEnd;
      } else if (Is(Mutation::kCommitBeforeDrained)) {
        t.at = Takes::kCommit;
      } else if (Is(Mutation::kRecycleBeforeCommit)) {
        BeginRelease();
      } else {
        t.at = Takes::kDrained;
      }
      return;
    case Takes::kDrained:  // SaveProgress()
      if (seen.thread != kNobody) {
        const std::uint8_t old = memory_.Load(me, Drained(t.chunk), Order::kRelaxed, choose);
        memory_.Store(me, Drained(t.chunk), WithHalf(old, 1 - t.half, seen.taken), Order::kRelaxed);
      }
      if (++t.chunk == options_.chunks) {
        t.chunk = 0;
        t.at = Takes::kCommit;
        if (Is(Mutation::kCommitBeforeDrained)) BeginRelease();
      }
      return;
    case Takes::kCommit:
      t.half = static_cast<std::uint8_t>(1 - t.half);
      counts_[t.half] = on_disk_;
      memory_.Store(me, Commit(), t.half, Order::kRelease);
      t.chunk = 0;
      if (Is(Mutation::kCommitBeforeDrained)) {
        t.half = static_cast<std::uint8_t>(1 - t.half);
        t.at = Takes::kDrained;
      } else if (Is(Mutation::kRecycleBeforeCommit)) {
        EndOfRound();
      } else {
        BeginRelease();
      }
      return;
    case Takes::kRelease:  // Release()
      if (seen.thread != kNobody && seen.finished) {
        t.at = Is(Mutation::kFreeBeforeCommitted) || Is(Mutation::kFreeBeforePid)
                   ? Takes::kFree
                   : Takes::kClearCommitted;
        return;
      }
      AfterRelease();
      return;
    case Takes::kClearCommitted:  // ChunkView::Recycle()
      if (Is(Mutation::kCommittedIsKept)) {
        t.at = Takes::kClearPid;
      } else {
        clear(Takes::kClearPid, Committed(t.chunk));
      }
      return;
    case Takes::kClearPid:
      clear(Takes::kClearDrained, Pid(t.chunk));
      return;
    case Takes::kClearDrained:
      memory_.Store(me, Drained(t.chunk), 0, Order::kRelaxed);
      if (Is(Mutation::kFreeBeforeCommitted) || Is(Mutation::kFreeBeforePid)) {
        seen = Seen{};
        AfterRelease();
        return;
      }
      if (!memory_.Write(me, Header(t.chunk), 0)) Fail("a header is cleared while it is written");
      t.at = Takes::kFree;
      return;
    case Takes::kFree: {
      std::uint8_t& owner = owner_[t.chunk];
      if (owner != kNobody) {
        const Writer& w = writers_[owner];
        if (!w.dead && w.at != Writes::kEnd && w.chunk == t.chunk) {
          Fail("a chunk is given back while its owner fills it");
        }
      }
      owner = kNobody;
      memory_.Store(me, State(t.chunk), kFree,
                    Is(Mutation::kFreeWithoutRelease) ? Order::kRelaxed : Order::kRelease);
      if (t.abandoned) {
        t.abandoned = false;
        AfterChunk();
        return;
      }
      if (Is(Mutation::kFreeBeforeCommitted)) {
        t.at = Takes::kClearCommitted;
        return;
      }
      if (Is(Mutation::kFreeBeforePid)) {
        memory_.Store(me, Committed(t.chunk), 0, Order::kRelaxed);
        t.at = Takes::kClearPid;
        return;
      }
      seen = Seen{};
      AfterRelease();
      return;
    }
    case Takes::kEnd:
      return;
  }
}

// Stands for OpenChunk().
void Ring::Open(Chooser& choose) {
  const int me = TakerActor();
  Taker& t = taker_;
  Seen& seen = t.seen[t.chunk];
  const std::uint8_t pid =
      memory_.Load(me, Pid(t.chunk),
                   Is(Mutation::kPidWithoutAcquire) ? Order::kRelaxed : Order::kAcquire, choose);
  if (pid == 0) {  // free, or being claimed
    AfterChunk();
    return;
  }
  if (seen.thread == kNobody) {
    std::uint8_t header = 0;
    if (!memory_.Read(me, Header(t.chunk), &header) || header != pid) {
      Fail("a header is read before it is whole");
      return;
    }
    seen.thread = static_cast<std::uint8_t>(pid - 1);
    seen.taken = Half(memory_.Load(me, Drained(t.chunk), Order::kRelaxed, choose), t.half);
  }
  t.at = Takes::kState;
}

void Ring::TakeRecord() {
  Taker& t = taker_;
  Seen& seen = t.seen[t.chunk];
  std::uint8_t id = 0;
  if (!memory_.Read(TakerActor(), Record(t.chunk, seen.taken), &id)) {
    Fail("a torn record is taken");
    return;
  }
  if (id / kMaxRecords != seen.thread) Fail("a record is taken as another thread's");
  if ((taken_ & BitOf(id)) != 0) Fail("a record is taken twice");
  taken_ |= BitOf(id);
  ++seen.taken;
}

void Ring::AfterChunk() {
  Taker& t = taker_;
  t.last = false;
  t.at = t.second ? Takes::kEndOfLife : Takes::kOpen;
  if (++t.chunk == options_.chunks) {
    t.chunk = 0;
    t.at = t.second ? Takes::kFlush : Takes::kEndOfLife;
    t.second = true;
  }
}

// Stands for EndOfLife(), for one chunk.
void Ring::EndOfLife(Chooser& choose) {
  const int me = TakerActor();
  Taker& t = taker_;
  Seen& seen = t.seen[t.chunk];
  if (seen.finished) {
    AfterChunk();
    return;
  }
  const std::uint8_t word = memory_.Load(me, State(t.chunk), Order::kAcquire, choose);
  if (seen.thread == kNobody) {
    const int claimer = StateIn(word) == kOwned ? (word >> 2) - 1 : -1;
    if (t.recovers || claimer < 0 || !Ended(writers_[static_cast<std::size_t>(claimer)])) {
      AfterChunk();
      return;
    }
    memory_.Learn(me, claimer);
    t.at = Takes::kClaimer;
    return;
  }
  if (StateIn(word) == kFull) {
    t.at = Takes::kOpen;  // the thread has filled it since the first pass
    return;
  }
  const bool dead = Ended(writers_[seen.thread]) || Is(Mutation::kDeadIsTakenForGranted);
  if (!dead) {
    AfterChunk();
    return;
  }
  memory_.Learn(me, seen.thread);
  if (Is(Mutation::kDeadWithoutLastLook)) {
    seen.finished = true;
    AfterChunk();
    return;
  }
  t.last = true;
  t.at = Takes::kOpen;
}

void Ring::BeginRelease() {
  taker_.chunk = 0;
  taker_.at = Takes::kRelease;
}

void Ring::AfterRelease() {
  taker_.at = Takes::kRelease;
  if (++taker_.chunk < options_.chunks) return;
  taker_.chunk = 0;
  if (Is(Mutation::kRecycleBeforeCommit) && options_.taker_dies) {
    taker_.at = Takes::kDrained;
  } else {
    EndOfRound();
  }
}

void Ring::EndOfRound() {
  Taker& t = taker_;
  t.chunk = 0;
  t.at = Takes::kBegin;
  // Only the next round frees a chunk that was filled during this round.
  t.quiet = static_cast<std::uint8_t>(t.all_ended ? t.quiet + 1 : 0);
  if (t.quiet == 2) {
    CheckAll();
    for (int c = 0; c < options_.chunks; ++c) {
      if (memory_.Newest(State(c)) != kFree) Fail("a chunk of a dead thread is never given back");
    }
    t.at = Takes::kEnd;
  }
}

}  // namespace penstock::model
