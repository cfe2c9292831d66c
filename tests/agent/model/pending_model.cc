// SPDX-License-Identifier: Apache-2.0
#include "tests/agent/model/pending_model.h"

namespace penstock::model {
namespace {

std::uint8_t ReadBit(int read) {
  return static_cast<std::uint8_t>(1u << read);
}

}  // namespace

void Pending::Step(int actor, Chooser& /*choose*/) {
  if (actor == 0) {
    ThreadStep();
  } else {
    TakerStep();
  }
}

void Pending::ThreadStep() {
  Thread& t = thread_;
  Chunk* chunk = t.chunk != kNone ? &chunks_[t.chunk] : nullptr;
  switch (t.at) {
    case Does::kClaim: {  // TakeFreeChunk()
      for (t.next = 0; t.next < kChunks && chunks_[t.next].state != State::kFree;) ++t.next;
      if (t.next == kChunks) {
        t.room = false;
        // A thread without a chunk cannot keep a read pending, so the read is lost (AddLost()).
        if (chunk == nullptr) {
          lost_ = static_cast<std::uint8_t>(lost_ | ReadBit(t.done));
          returned_ = static_cast<std::uint8_t>(returned_ | ReadBit(t.done));
          ++t.done;
          t.at = Does::kBegin;
        } else {
          t.at = Does::kClose;
        }
        return;
      }
      chunks_[t.next].state = State::kOwned;
      t.at = Does::kPid;
      return;
    }
    case Does::kPid: {  // TakeOver(), then pid
      Chunk& fresh = chunks_[t.next];
      fresh.anchor = ++t.claims;
      fresh.previous =
          chunk != nullptr && !Is(PendingMutation::kWithoutPrevious) ? chunk->anchor : 0;
      fresh.pending = chunk != nullptr && !Is(PendingMutation::kCopyAfterPid) ? chunk->pending : 0;
      fresh.closing = kNone;
      fresh.counting = 0;
      fresh.pid = true;
      t.room = true;
      t.at = Does::kOldFull;
      return;
    }
    case Does::kOldFull:
      if (chunk != nullptr) {
        if (Is(PendingMutation::kCopyAfterPid)) chunks_[t.next].pending = chunk->pending;
        chunk->state = State::kFull;
      }
      t.at = chunk != nullptr ? Does::kClose : Does::kCount;
      t.chunk = t.next;
      t.used = 0;
      return;
    case Does::kBegin:
      if (t.done == options_.reads) {
        t.then = Does::kPublish;
        t.at = chunk == nullptr ? Does::kEnd : chunk->pending != 0 ? Does::kRoom : Does::kPublish;
      } else if (chunk == nullptr) {
        t.at = Does::kClaim;
      } else if (chunk->pending != 0 && options_.alternate) {
        t.then = Does::kCount;
        t.at = Does::kRoom;
      } else {
        t.at = Does::kCount;
      }
      return;
    case Does::kCount:  // CountRead()
      if (!Is(PendingMutation::kWithoutCounting)) chunk->counting = ReadBit(t.done);
      t.at = Does::kAdd;
      return;
    case Does::kAdd:
      counted_ = static_cast<std::uint8_t>(counted_ | ReadBit(t.done));
      t.at = Does::kAddToRead;
      return;
    case Does::kAddToRead:
      chunk->pending = static_cast<std::uint8_t>(chunk->pending | ReadBit(t.done));
      t.at = Does::kCounted;
      return;
    case Does::kCounted:
      chunk->counting = 0;
      returned_ = static_cast<std::uint8_t>(returned_ | ReadBit(t.done));
      ++t.done;
      t.at = Does::kBegin;
      return;
    case Does::kRoom:  // WriteOut()
      t.room = true;
      t.at = t.used == 0 ? Does::kClose : Does::kClaim;
      return;
    case Does::kClose:
      if (!Is(PendingMutation::kWithoutClosing) &&
          !(Is(PendingMutation::kLostIsNotMarked) && !t.room)) {
        chunk->closing = t.room ? t.used : kLost;
      }
      t.at = !t.room                                     ? Does::kLose
             : Is(PendingMutation::kClearedBeforeRecord) ? Does::kClear
                                                         : Does::kRecord;
      return;
    case Does::kRecord:  // Put()
      chunk->record = Is(PendingMutation::kClearedBeforeRecord) ? uncounted_ : chunk->pending;
      chunk->committed = ++t.used;
      t.at = Is(PendingMutation::kClearedBeforeRecord) ? Does::kClosed : Does::kClear;
      return;
    case Does::kLose:  // MoveToLost(): adds to the lost bytes, then subtracts from the counted ones
      lost_ = static_cast<std::uint8_t>(lost_ | chunk->pending);
      t.at = Does::kUncount;
      return;
    case Does::kUncount:
      counted_ = static_cast<std::uint8_t>(counted_ & ~chunk->pending);
      t.at = Does::kClear;
      return;
    case Does::kClear:
      if (Is(PendingMutation::kClosedBeforeCleared)) chunk->closing = kNone;
      t.at = Does::kClosed;
      if (Is(PendingMutation::kClearedBeforeRecord) && t.room) {
        uncounted_ = chunk->pending;  // in a register
        t.at = Does::kRecord;
      }
      if (!Is(PendingMutation::kClosedBeforeCleared)) chunk->pending = 0;
      return;
    case Does::kClosed:
      chunk->pending = 0;
      chunk->closing = kNone;
      t.at = t.then;
      return;
    case Does::kPublish:
      chunk->state = State::kFull;
      t.at = Does::kEnd;
      return;
    case Does::kEnd:
      return;
  }
}

void Pending::TakerStep() {
  if (round_at_ == 0) round_dead_ = dead_ || thread_.at == Does::kEnd;
  const bool was_over = round_dead_;
  if (round_at_ < kChunks) {
    Drain(round_at_);
  } else if (round_at_ < 2 * kChunks) {
    EndOfLife(round_at_ - kChunks);
  } else {
    Release();
    round_at_ = 0;
    quiet_ = static_cast<std::uint8_t>(was_over ? quiet_ + 1 : 0);
    if (quiet_ == 2) Check();
    return;
  }
  ++round_at_;
}

void Pending::Span(std::uint8_t bytes) {
  if ((spans_ & bytes) != 0) Fail("bytes are in two spans");
  spans_ = static_cast<std::uint8_t>(spans_ | bytes);
}

void Pending::Drain(int i) {
  const auto at = static_cast<std::size_t>(i);
  const Chunk& chunk = chunks_[at];
  Seen& seen = seen_[at];
  if (!chunk.pid || seen.finished) return;
  seen.open = true;
  const bool full = chunk.state == State::kFull;
  if (seen.taken < chunk.committed) {
    Span(chunk.record);
    seen.taken = chunk.committed;
  }
  seen.finished = full;
}

bool Pending::IsTakenOver(int i) const {
  const Chunk& chunk = chunks_[static_cast<std::size_t>(i)];
  const Chunk& other = chunks_[static_cast<std::size_t>(1 - i)];
  return chunk.state == State::kFull || (other.pid && other.previous == chunk.anchor);
}

void Pending::EndOfLife(int i) {
  const auto at = static_cast<std::size_t>(i);
  Seen& seen = seen_[at];
  const bool dead =
      Is(PendingMutation::kDeathIsAskedPerChunk) ? dead_ || thread_.at == Does::kEnd : round_dead_;
  if (!seen.open || seen.finished || seen.rest_done) return;
  if (chunks_[at].state == State::kFull) {
    Drain(i);
    return;
  }
  if (!dead) return;
  Drain(i);
  seen.rest_done = true;
  seen.finished = true;
  if (IsTakenOver(i)) return;
  const Chunk& chunk = chunks_[at];  // WritePending()
  doubt_ = static_cast<std::uint8_t>(doubt_ | chunk.counting);
  const bool closing = chunk.closing != kNone;
  const bool written = closing && chunk.closing != kLost && chunk.committed > chunk.closing;
  if (chunk.pending == 0 || written) return;
  if (closing && chunk.closing == kLost) doubt_ = static_cast<std::uint8_t>(doubt_ | chunk.pending);
  Span(chunk.pending);
}

void Pending::Release() {
  for (std::size_t i = 0; i < kChunks; ++i) {
    if (seen_[i].finished) {
      chunks_[i] = Chunk{};
      seen_[i] = Seen{};
    }
  }
}

// Checks that every byte that a call returned is either in a span or counted as lost. Bytes that
// the reader knows to be in doubt may be both.
void Pending::Check() {
  const int in_doubt = doubt_;
  const int sure = 0xff & ~in_doubt;
  if ((spans_ & lost_ & sure) != 0) Fail("bytes are in a span and counted as lost");
  if ((returned_ & ~(spans_ | lost_)) != 0) Fail("bytes are in no span and not counted");
  if (((counted_ ^ spans_) & sure) != 0) Fail("the process's count is not what is in spans");
}

const char* Pending::Describe(int actor) const {
  static constexpr const char* kDoes[] = {"takes a chunk",
                                          "says it has it",
                                          "sets the old one full",
                                          "begins",
                                          "says what it counts",
                                          "counts it",
                                          "adds it to the pending read",
                                          "says it has counted",
                                          "asks for room",
                                          "says which record a pending read becomes",
                                          "writes the record",
                                          "adds to what is lost",
                                          "takes it off what is counted",
                                          "clears the pending read",
                                          "says it is done",
                                          "publishes its chunk",
                                          "has ended"};
  return actor == 0                ? kDoes[static_cast<int>(thread_.at)]
         : round_at_ < kChunks     ? "drains a chunk"
         : round_at_ < 2 * kChunks ? "looks whether a chunk's thread is dead"
                                   : "gives chunks back";
}

void Pending::Hash(Hasher& hasher) const {
  for (const Chunk& chunk : chunks_) hasher.AddBytes(chunk);
  hasher.AddBytes(thread_);
  hasher.AddBytes(seen_);
  const std::uint8_t rest[] = {dead_, round_at_,  round_dead_, quiet_, counted_,
                               lost_, uncounted_, returned_,   spans_, doubt_};
  for (const std::uint8_t value : rest) hasher.Add(value);
}

}  // namespace penstock::model
