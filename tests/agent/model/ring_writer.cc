// SPDX-License-Identifier: Apache-2.0
//
// The steps of a writer.
#include "tests/agent/model/ring_model.h"
#include "tests/agent/model/ring_words.h"

namespace penstock::model {

// Stands for Room() in agent/core/chunk_writer.h.
void Ring::WantRoom(Writer& w) {
  if (w.written == options_.records) {
    w.at = w.chunk != kNobody ? Writes::kPublish : Writes::kEnd;
  } else if (w.chunk != kNobody && w.used < kRoom) {
    w.at = Writes::kPut;
  } else {
    w.at = Writes::kScan;
    w.next = 0;
  }
}

void Ring::WriterStep(int actor, Writer& w, Chooser& choose) {
  const Order release = Order::kRelease;
  switch (w.at) {
    case Writes::kScan:
      if (memory_.Load(actor, State(w.next), Order::kRelaxed, choose) == kFree) {
        w.at = Writes::kClaim;
      } else if (++w.next == options_.chunks) {
        w.at = Writes::kDrop;
      }
      return;
    case Writes::kClaim: {
      bool claimed = true;
      if (Is(Mutation::kClaimWithoutSwap)) {
        memory_.Store(actor, State(w.next), OwnedBy(actor), Order::kRelaxed);
      } else {
        const Order order = Is(Mutation::kClaimWithoutAcquire) ? Order::kRelaxed : Order::kAcquire;
        const std::uint8_t owned = Is(Mutation::kClaimWithoutName) ? kOwned : OwnedBy(actor);
        claimed = memory_.CompareAndSwap(actor, State(w.next), kFree, owned, order);
      }
      if (claimed) {
        std::uint8_t& owner = owner_[w.next];
        if (owner != kNobody) Fail("a chunk has two owners");
        owner = static_cast<std::uint8_t>(actor);
        w.at = Writes::kHeader;
      } else {
        w.at = ++w.next == options_.chunks ? Writes::kDrop : Writes::kScan;
      }
      return;
    }
    case Writes::kHeader: {
      const Order order = Is(Mutation::kPidWithoutRelease) ? Order::kRelaxed : release;
      const auto pid = static_cast<std::uint8_t>(actor + 1);
      if (Is(Mutation::kPidBeforeHeader)) memory_.Store(actor, Pid(w.next), pid, order);
      if (!memory_.Write(actor, Header(w.next), pid))
        Fail("the header is written while it is read");
      if (!Is(Mutation::kPidBeforeHeader)) memory_.Store(actor, Pid(w.next), pid, order);
      w.at = w.chunk != kNobody ? Writes::kOldFull : Writes::kPut;
      if (w.at == Writes::kPut) {
        w.chunk = w.next;
        w.used = 0;
      }
      return;
    }
    case Writes::kOldFull:
      memory_.Store(actor, State(w.chunk), kFull,
                    Is(Mutation::kFullWithoutRelease) ? Order::kRelaxed : release);
      w.chunk = w.next;
      w.used = 0;
      w.at = Writes::kPut;
      return;
    case Writes::kPut: {
      const std::uint8_t id = IdOf(actor, w.written);
      if (Is(Mutation::kFullBeforeLastRecord) && w.used + 1 == kRoom) {
        memory_.Store(actor, State(w.chunk), kFull, release);
      }
      if (!Is(Mutation::kCommitBeforeRecord) &&
          !memory_.Write(actor, Record(w.chunk, w.used), id)) {
        Fail("a record is written while it is read");
      }
      w.at = Writes::kCommit;
      if (Is(Mutation::kFullBeforeLastRecord)) return;
      [[fallthrough]];
    }
    case Writes::kCommit: {
      const std::uint8_t id = IdOf(actor, w.written);
      memory_.Store(actor, Committed(w.chunk), static_cast<std::uint8_t>(w.used + 1),
                    Is(Mutation::kCommitWithoutRelease) ? Order::kRelaxed : release);
      if (Is(Mutation::kCommitBeforeRecord) && !memory_.Write(actor, Record(w.chunk, w.used), id)) {
        Fail("a record is written while it is read");
      }
      finished_ |= BitOf(id);
      ++w.used;
      ++w.written;
      WantRoom(w);
      return;
    }
    case Writes::kDrop:
      dropped_ |= BitOf(IdOf(actor, w.written));
      ++w.written;
      WantRoom(w);
      return;
    case Writes::kPublish:
      memory_.Store(actor, State(w.chunk), kFull,
                    Is(Mutation::kFullWithoutRelease) ? Order::kRelaxed : release);
      w.at = Writes::kEnd;
      memory_.Retire(actor);
      return;
    case Writes::kEnd:
      return;
  }
}

}  // namespace penstock::model
