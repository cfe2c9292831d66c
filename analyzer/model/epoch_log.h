// SPDX-License-Identifier: Apache-2.0
//
// When the iterators of a trace were made, were exhausted, and were shut down. Filled while a trace
// is read; not thread-safe.
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "traces/event.h"

namespace penstock::analyzer {

// One pass over a loader's dataset.
struct Iterator {
  ProcessId consumer;
  std::uint16_t generation = 0;

  auto operator<=>(const Iterator& other) const = default;
};

// Units: nanoseconds of the trace's clock.
class EpochLog {
 public:
  // Only the first start of an iterator counts.
  void AddStart(Iterator iterator, std::int64_t at) { times_[iterator].Start(at); }
  void AddEnd(Iterator iterator) { times_[iterator].ended = true; }
  // Adds the time of the next() that found the iterator exhausted.
  void AddStop(Iterator iterator, std::int64_t time) { times_[iterator].stop += time; }
  // Adds a span in which a training process made an iterator. Generation 0: the span does not tell
  // which one (DALI, the reference loader).
  void AddStartup(Iterator iterator, std::int64_t from, std::int64_t to) {
    startups_.push_back({iterator, from, to});
  }

  // When the program began to make the iterator. This is the time of its start event, or of its
  // first wait if the wait is earlier. But if this time lies in a startup span, or up to 1 ms after
  // its end, the result is the start of the span. Spans of other iterators do not count.
  [[nodiscard]] std::int64_t StartOf(Iterator iterator, std::int64_t first_wait) const;
  [[nodiscard]] bool Ended(Iterator iterator) const;
  // Seconds of the next() that found the iterator exhausted; 0: not seen.
  [[nodiscard]] double StopOf(Iterator iterator) const;

 private:
  struct Times {
    std::optional<std::int64_t> start;
    std::int64_t stop = 0;
    bool ended = false;

    void Start(std::int64_t at) {
      if (!start) start = at;
    }
  };
  struct Startup {
    Iterator iterator;
    std::int64_t from = 0;
    std::int64_t to = 0;
  };
  std::map<Iterator, Times> times_;
  std::vector<Startup> startups_;
};

}  // namespace penstock::analyzer
