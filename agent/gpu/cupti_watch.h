// SPDX-License-Identifier: Apache-2.0
//
// Whether CUPTI's records still come to the agent. Another client in the process can register its
// own functions for buffers, and disable kinds of records for everybody (Kineto of PyTorch 2.8 does
// both without subscribing): nothing fails then, records stay away. What tells is that the program
// goes on calling. A device that is never idle looks the same for a while: CUPTI withholds a buffer
// with a record in it that has not ended.
// Threads: one.
#pragma once

#include <stdint.h>

namespace penstock::agent::cupti {

class RecordsWatch {
 public:
  // Counted up since the beginning, but for `out`.
  struct Seen {
    uint64_t calls;     // of the runtime, that CUPTI is to tell of
    uint64_t copies;    // of them, between host and device
    uint64_t records;   // of CUPTI
    uint64_t copied;    // of them, of copies
    uint64_t lost;      // records that came, in vain: they may have been of anything
    uint64_t out;       // buffers that CUPTI has
    uint64_t capacity;  // calls that fit into one at most
  };

  // What a flush has brought. `seen.calls` and `seen.copies` are from before that flush. `last`: it
  // was a forced one, nothing is withheld any more.
  void Look(const Seen& seen, double seconds, bool last);
  // Why there are not all records; "": nothing has been noticed. It is new if `changed()`.
  [[nodiscard]] const char* reason() const { return reason_; }
  [[nodiscard]] bool changed() const { return changed_; }

 private:
  // Something that is to come when it is asked for.
  struct Silence {
    uint64_t came;
    uint64_t asked;     // when something came last
    uint64_t asked_at;  // the last look
    uint32_t looks;     // that found something asked for and nothing come
    double since;       // seconds, when something came last
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
