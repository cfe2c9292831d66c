// SPDX-License-Identifier: Apache-2.0
//
// The orders in which a Trace returns its contents. Pure functions.
#pragma once

#include "traces/event.h"

namespace penstock::traces {

// Ascending start; at equal starts the longest first, then the outermost.
[[nodiscard]] constexpr bool StartsBefore(const Span& a, const Span& b) {
  if (a.start != b.start) {
    return a.start < b.start;
  }
  if (a.duration != b.duration) {
    return a.duration > b.duration;
  }
  return a.depth < b.depth;
}

// For stable sorts of Event and CounterSample.
struct AtBefore {
  template <class T>
  constexpr bool operator()(const T& a, const T& b) const {
    return a.at < b.at;
  }
};

// For stable sorts of UnitRow and CallRow.
struct UnitBefore {
  template <class T>
  constexpr bool operator()(const T& a, const T& b) const {
    return a.at != b.at ? a.at < b.at : a.thread < b.thread;
  }
};

}  // namespace penstock::traces
