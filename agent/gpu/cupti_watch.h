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
  // Totals since the beginning, except `out` and `capacity`.
  struct Seen {
    uint64_t calls;     // calls of the CUDA runtime that CUPTI should record
    uint64_t copies;    // those of `calls` that copy between host and device
    uint64_t records;   // records that came from CUPTI
    uint64_t copied;    // those of `records` that are records of copies
    uint64_t lost;      // records that came but were lost, so their kind is not known
    uint64_t out;       // buffers that CUPTI holds at this moment
    uint64_t capacity;  // most calls that fit into one buffer
  };

  // Takes the totals after a flush; `seen.calls` and `seen.copies` are from before it. `seconds`:
  // since the recording of the GPU began. `last`: it was a forced flush, so CUPTI withholds
  // nothing.
  void Look(const Seen& seen, double seconds, bool last);
  // Why records are missing; "" if none are.
  [[nodiscard]] const char* reason() const { return reason_; }
  // Whether the last Look() changed the reason.
  [[nodiscard]] bool changed() const { return changed_; }

 private:
  // One kind of record: how many calls should have had a record since the last record came.
  struct Silence {
    uint64_t came;           // records that came, in all
    uint64_t calls_by_then;  // calls when a record came last
    uint64_t calls_by_now;   // calls at the last look
    uint32_t looks;  // looks since a record came last that saw more calls than the one before
    double since;    // when a record came last, in seconds
  };
  static void Update(Silence& silence, uint64_t calls, uint64_t came, double seconds);
  static bool IsSure(const Silence& silence, const Seen& seen, bool last);
  void Tell(const char* before, double seconds, const char* after);

  Silence records_ = {};
  Silence copies_ = {};
  bool sure_ = false;  // the reason is final
  bool changed_ = false;
  char reason_[160] = "";
};

}  // namespace penstock::agent::cupti
