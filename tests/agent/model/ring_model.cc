// SPDX-License-Identifier: Apache-2.0
#include "tests/agent/model/ring_model.h"

namespace penstock::model {

Ring::Ring(const RingOptions& options) : options_(options) {
  owner_.fill(kNobody);
  const unsigned taker = 1u << TakerActor();
  for (int c = 0; c < options_.chunks; ++c) {
    memory_.SetReaders(State(c), taker | (taker - 1));
    memory_.SetReaders(Committed(c), taker);
    memory_.SetReaders(Pid(c), taker);
    memory_.SetReaders(Drained(c), taker);
  }
  memory_.SetReaders(Commit(), taker);
  for (int w = 0; w < options_.writers; ++w) WantRoom(writers_[static_cast<std::size_t>(w)]);
}

bool Ring::AllEnded() const {
  for (int w = 0; w < options_.writers; ++w) {
    if (!Ended(writers_[static_cast<std::size_t>(w)])) return false;
  }
  return true;
}

bool Ring::Enabled(int actor) const {
  if (actor != TakerActor()) return !Ended(writers_[static_cast<std::size_t>(actor)]);
  // A recovery begins when all writers have ended.
  return taker_.at != Takes::kEnd && (!taker_.recovers || AllEnded());
}

unsigned Ring::Killable() const {
  unsigned bits = 0;
  for (int w = 0; w < options_.writers && kills_ < options_.kills; ++w) {
    bits |= Ended(writers_[static_cast<std::size_t>(w)]) ? 0u : 1u << w;
  }
  if (options_.taker_dies && taker_.deaths == 0 && taker_.at != Takes::kEnd) {
    bits |= 1u << TakerActor();
  }
  return bits;
}

void Ring::Kill(int actor) {
  if (actor != TakerActor()) {
    writers_[static_cast<std::size_t>(actor)].dead = true;
    memory_.Retire(actor);
    ++kills_;
    return;
  }
  // The collector is killed and loses what it had in memory. `penstock recover` begins with what is
  // on disk.
  taker_ = Taker{};
  taker_.deaths = 1;
  taker_.recovers = true;
  taker_.half = memory_.Newest(Commit());
  if (!Is(Mutation::kFlushWithoutCommit)) on_disk_ = counts_[taker_.half];  // recover cuts the rest
  taken_ = on_disk_;
}

void Ring::Step(int actor, Chooser& choose) {
  if (actor == TakerActor()) {
    do {
      TakerStep(choose);
    } while (taker_.at != Takes::kEnd && IsLocal(taker_.at) && violation_ == nullptr);
  } else {
    WriterStep(actor, writers_[static_cast<std::size_t>(actor)], choose);
  }
}

// Checks that each finished record is on disk or counted as dropped. Requires: all writers have
// ended.
void Ring::CheckAll() {
  if ((finished_ & ~(on_disk_ | dropped_)) != 0) Fail("a record is lost and not counted");
}

const char* Ring::Describe(int actor) const {
  static constexpr const char* kWrites[] = {
      "looks for a chunk",       "claims it",           "fills its header",
      "sets its old chunk full", "writes a record",     "commits it",
      "drops a record",          "publishes its chunk", "has ended"};
  static constexpr const char* kTakes[] = {"begins a round",
                                           "opens a chunk",
                                           "reads its state",
                                           "reads what is committed, takes it",
                                           "asks whether its thread is dead",
                                           "looks again whether it is claimed",
                                           "flushes",
                                           "says how far it is",
                                           "commits",
                                           "looks what to release",
                                           "clears committed",
                                           "clears the pid",
                                           "clears drained",
                                           "frees a chunk",
                                           "has ended"};
  return actor == TakerActor()
             ? kTakes[static_cast<int>(taker_.at)]
             : kWrites[static_cast<int>(writers_[static_cast<std::size_t>(actor)].at)];
}

void Ring::Hash(Hasher& hasher) const {
  memory_.Hash(hasher);
  for (const Writer& w : writers_) hasher.AddBytes(w);
  hasher.AddBytes(taker_);
  for (const std::uint64_t word : {finished_, dropped_, taken_, on_disk_, counts_[0], counts_[1]})
    hasher.Add(word);
  hasher.AddBytes(owner_);
  hasher.Add(static_cast<std::uint64_t>(kills_));
}

}  // namespace penstock::model
