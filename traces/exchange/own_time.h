// SPDX-License-Identifier: Apache-2.0
//
// The times of spans that may be added up in SQL. They are those of the report's stages, since both
// come from traces/nesting.h.
//
// Feed the spans of one thread in the order of Trace::ForEachBlock, then call Finish(). One sweep
// per thread; not thread-safe.
#pragma once

#include <cstdint>
#include <functional>
#include <utility>

#include "traces/event.h"
#include "traces/nesting.h"

namespace penstock::traces {

// What a span counts. Units: nanoseconds; -1: nothing, or not known.
struct OwnTime {
  std::int64_t own = -1;      // towards its stage; a decode counts the opening of its image too
  std::int64_t own_cpu = -1;  // CPU time of the same part
  std::int64_t augment = -1;  // of a sample or fetch, or of a transform outside of them: augmenting
  std::int64_t augment_cpu = -1;
  std::int64_t queued = -1;  // of a sample: waiting before reads, which counts as reading
};

class OwnTimeSweep final : private NestingSink {
 public:
  // Gets every span once, as soon as its times are known: at the latest in Finish().
  using Sink = std::function<void(std::int64_t row, const Span& span, const OwnTime& time)>;

  explicit OwnTimeSweep(Sink sink) : sink_(std::move(sink)), sweep_(*this) {}
  OwnTimeSweep(const OwnTimeSweep&) = delete;
  OwnTimeSweep& operator=(const OwnTimeSweep&) = delete;

  // `opens`: the span only opens an image, which a later one decodes.
  void Add(std::int64_t row, const Span& span, bool opens) { sweep_.Add(span, opens, row); }
  void Finish() { sweep_.Finish(); }

 private:
  void OnCounted(const Counted& counted) override;
  void OnDone(std::int64_t row, const Span& span) override;

  Sink sink_;
  OwnTime time_;  // of the span whose OnDone() is next
  NestingSweep sweep_;
};

}  // namespace penstock::traces
