// SPDX-License-Identifier: Apache-2.0
//
// Shared by the exporters for viewers: tracks on which spans nest, names, and the way of a batch.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "traces/trace.h"

namespace penstock::traces {

// Puts spans on tracks. Viewers nest the spans of a track by time. Most spans of a thread nest, but
// some do not: a read that is open across samples, or an asynchronous one. Such a span goes to the
// first further track on which it nests.
class Nesting {
 public:
  static constexpr std::uint32_t kMostTracks = 256;

  // Returns the track of a span, from 0 to kMostTracks - 1. A span that does not nest even on the
  // last one is cut at the end of the span around it. Calls `ended` for each earlier span on any
  // track that has ended by the start of `span`, in the order of the ends on that track.
  //
  // Requires: spans come as ForEachBlock gives them. Cost: O(tracks).
  std::uint32_t Place(const Span& span,
                      const std::function<void(std::uint32_t track, TimeNs end)>& ended);
  // Ends all open spans.
  void Finish(const std::function<void(std::uint32_t track, TimeNs end)>& ended);
  [[nodiscard]] std::uint32_t tracks() const { return static_cast<std::uint32_t>(open_.size()); }

 private:
  std::vector<std::vector<TimeNs>> open_;  // by track: ends of open spans, outermost first
};

// "worker 3 (pid 12)", "consumer (pid 10)", "python3 (pid 10)".
[[nodiscard]] std::string ProcessLabel(const ProcessInfo& process);
// The thread's own name, or "thread 12".
[[nodiscard]] std::string ThreadLabel(const ThreadInfo& thread);
// The span's own name, or its stage's.
[[nodiscard]] std::string_view SpanLabel(const Trace& trace, const Span& span);

// The position of a span on the way of its batch through the processes.
enum class FlowStep { kNone, kBegin, kStep, kEnd };
[[nodiscard]] FlowStep FlowStepOf(const Span& span);
// The number of a batch's flow, the same on every track of a rank; never 0. Ranks number their
// batches alike, so the number has the rank too (-1: there are no ranks).
[[nodiscard]] std::uint64_t FlowId(BatchKey batch, std::int32_t rank);
// The rank of a thread's process; -1: it has none.
[[nodiscard]] std::int32_t RankOf(const Trace& trace, std::uint32_t thread);

// The mark by which our own exports are recognised.
inline constexpr char kOwnNote[] = "penstock";
// The category of the calls of followed units in our exports.
inline constexpr char kFunctionsCategory[] = "functions";

// What a counter measures, by its name.
enum class CounterUnit { kCount, kBytes, kNanoseconds };
[[nodiscard]] CounterUnit UnitOf(std::string_view counter);

}  // namespace penstock::traces
