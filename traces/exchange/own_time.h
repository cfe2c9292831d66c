// SPDX-License-Identifier: Apache-2.0
//
// The times of spans that may be added up in SQL. They agree with the stages of the report, which
// analyzer/model/nesting.h makes.
//
// Feed the spans of one thread in the order of Trace::ForEachBlock, then call Finish(). One sweep
// per thread; not thread-safe.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <functional>
#include <utility>
#include <vector>

#include "traces/event.h"

namespace penstock::traces {

// What a span counts. Units: nanoseconds; -1: nothing, or not known.
struct OwnTime {
  std::int64_t own = -1;      // towards its stage; a decode counts the opening of its image too
  std::int64_t own_cpu = -1;  // CPU time of the same part
  std::int64_t augment = -1;  // of a sample or fetch, or of a transform outside of them: augmenting
  std::int64_t augment_cpu = -1;
  std::int64_t queued = -1;  // of a sample: waiting before reads, which counts as reading
};

class OwnTimeSweep {
 public:
  // Gets every span once, as soon as its times are known: at the latest in Finish().
  using Sink = std::function<void(std::int64_t row, const Span& span, const OwnTime& time)>;

  explicit OwnTimeSweep(Sink sink) : sink_(std::move(sink)) {}

  // `opens`: the span only opens an image, which a later one decodes.
  void Add(std::int64_t row, const Span& span, bool opens);
  void Finish();

 private:
  struct Part {
    std::int64_t wall = 0;
    std::int64_t cpu = 0;
  };
  struct Open {
    std::int64_t row = 0;
    Span span;
    std::int64_t end = 0;
    bool outermost = true;  // no span of the same stage is around it
    bool opens = false;
    std::int64_t read = 0;  // inside, as everything up to `samples`
    Part decode;
    Part tokenize;
    Part augment;  // in transforms outside of samples
    Part collate;
    std::int64_t untimed = 0;  // decoding and tokenizing without a CPU time
    std::uint64_t samples = 0;
    Part child;               // of a transform: the transforms inside it
    std::int64_t last = 0;    // end of the last span inside
    std::int64_t before = 0;  // time right before reads that no span covers

    [[nodiscard]] std::int64_t wall() const { return end - span.start.value; }
    [[nodiscard]] std::int64_t told() const { return decode.wall + tokenize.wall; }
    [[nodiscard]] std::int64_t told_cpu() const { return decode.cpu + tokenize.cpu; }
  };
  struct ActiveRead {
    std::int64_t start = 0;
    std::int64_t end = 0;
    std::int64_t busy = 0;
    bool whole = true;  // the thread read all the time
  };
  struct Opening {
    std::int64_t row = 0;
    Span span;
    OwnTime time;
  };

  void AddRead(std::int64_t row, const Span& span);
  void Close();
  [[nodiscard]] OwnTime CloseTold(const Open& open);
  [[nodiscard]] OwnTime CloseAugment(const Open& open);
  [[nodiscard]] OwnTime CloseSample(const Open& open);
  [[nodiscard]] OwnTime CloseFetch(const Open& open);
  [[nodiscard]] OwnTime CloseCollate(const Open& open);
  void GiveOpening();
  void GiveOpenings();
  [[nodiscard]] bool IsOpen(StageId stage) const;

  Sink sink_;
  std::vector<Open> stack_;
  std::vector<ActiveRead> reads_;
  std::array<std::uint32_t, wire::kStageCount> open_{};
  std::deque<Opening> openings_;  // images that are open and not decoded, the oldest first
};

}  // namespace penstock::traces
