// SPDX-License-Identifier: Apache-2.0
//
// What the exporters for viewers share: tracks on which spans nest, names, and the way of a batch.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "traces/trace.h"

namespace penstock::traces {

// Viewers nest the spans of a track by time. Those of a thread nest but for a few: a read that is
// open across samples, an asynchronous one. Each of these goes to the first further track on which
// it nests.
class Nesting {
 public:
  static constexpr std::uint32_t kMostTracks = 256;

  // The track of a span, from 0 to kMostTracks - 1; on the last one a span that does not nest is
  // cut at the end of the one around it. `ended` is told of each span on any track that is over by
  // its start, in the order of their ends on that track.
  //
  // Requires: spans come as ForEachBlock gives them. Cost: O(tracks).
  std::uint32_t Place(const Span& span,
                      const std::function<void(std::uint32_t track, TimeNs end)>& ended);
  // Ends all that is open.
  void Finish(const std::function<void(std::uint32_t track, TimeNs end)>& ended);
  [[nodiscard]] std::uint32_t tracks() const { return static_cast<std::uint32_t>(open_.size()); }

 private:
  std::vector<std::vector<TimeNs>> open_;  // per track the ends, outermost first
};

// "worker 3 (pid 12)", "consumer (pid 10)", "python3 (pid 10)".
[[nodiscard]] std::string ProcessLabel(const ProcessInfo& process);
// The thread's own name, or "thread 12".
[[nodiscard]] std::string ThreadLabel(const ThreadInfo& thread);
// The span's own name, or its stage's.
[[nodiscard]] std::string_view SpanLabel(const Trace& trace, const Span& span);

// Where a span stands on the way of its batch through the processes.
enum class FlowStep { kNone, kBegin, kStep, kEnd };
[[nodiscard]] FlowStep FlowStepOf(const Span& span);
// A number of the batch, the same on every track; never 0.
[[nodiscard]] std::uint64_t FlowId(BatchKey batch);

// The note by which our own exports are known again.
inline constexpr char kOwnNote[] = "penstock";

// What a counter counts, by its name.
enum class CounterUnit { kCount, kBytes, kNanoseconds };
[[nodiscard]] CounterUnit UnitOf(std::string_view counter);

}  // namespace penstock::traces
