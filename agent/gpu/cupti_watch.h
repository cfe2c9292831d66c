// SPDX-License-Identifier: Apache-2.0
//
// Watches whether CUPTI's records still come to the agent. Another client in the process can
// register its own functions for buffers and disable kinds of records for everybody (Kineto of
// PyTorch 2.8 does both without subscribing). Nothing fails then, but no records come although the
// program goes on calling CUDA. A device that is never idle looks the same for a while, since CUPTI
// withholds a buffer as long as a record in it has not ended.
// Threads: one.
#pragma once

#include <stdint.h>

namespace penstock::agent::cupti {

class RecordsWatch {
 public:
  // Totals since the beginning, except `out`.
  struct Seen {
    uint64_t calls;     // of the runtime that CUPTI should record
    uint64_t copies;    // of them, between host and device
    uint64_t records;   // of CUPTI
    uint64_t copied;    // of them, of copies
    uint64_t lost;      // records that came and were lost: of unknown kind
    uint64_t out;       // buffers that CUPTI has
    uint64_t capacity;  // most calls that fit into one buffer
  };

  // Takes the totals after a flush; `seen.calls` and `seen.copies` are from before it. `last`: it
  // was a forced flush, so CUPTI withholds nothing.
  void Look(const Seen& seen, double seconds, bool last);
  // Why records are missing; "" if nothing was noticed. `changed()`: Look() has just changed it.
  [[nodiscard]] const char* reason() const { return reason_; }
  [[nodiscard]] bool changed() const { return changed_; }

 private:
  // Tracks one kind of record: how many the program has asked for since one came.
  struct Silence {
    uint64_t came;
    uint64_t asked;     // records asked for until one came last
    uint64_t asked_at;  // records asked for until the last look
    uint32_t looks;     // looks, since one came last, at which more were asked for
    double since;       // when one came last, in seconds
  };
  static void Update(Silence& silence, uint64_t asked, uint64_t came, double seconds);
  static bool IsSure(const Silence& silence, const Seen& seen, bool last);
  void Tell(const char* before, double seconds, const char* after);

  Silence records_ = {};
  Silence copies_ = {};
  bool sure_ = false;
  bool changed_ = false;
  char reason_[160] = "";
};

}  // namespace penstock::agent::cupti
