// SPDX-License-Identifier: Apache-2.0
//
// How the clocks of several traces of one run stand to each other. Values; pure.
//
// Traces of one boot share CLOCK_MONOTONIC, but for the offset of a time namespace, which is known.
// Between hosts two things tell: the collective at the end of each step, which no rank leaves
// before all have entered it, and the wall clocks, as far as somebody keeps them right.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/ranks/tracks.h"
#include "traces/base/result.h"
#include "traces/merge.h"
#include "traces/trace.h"

namespace penstock::analyzer {

enum class AlignBy {
  kReference,   // the first trace: its clock is that of the result
  kSameClock,   // of one boot
  kCollective,  // the ends of steps
  kWallClock,   // CLOCK_REALTIME of both hosts
  kNothing,     // both begin at once: there is nothing to go by
};
// "reference", "same clock", "collective", "wall clock", "nothing".
[[nodiscard]] std::string_view AlignName(AlignBy by);

// What to go by: the best there is, or one of them only.
enum class AlignMethod { kAuto, kSameClock, kCollective, kWallClock };
// "auto", "clock", "steps", "wall". Errors: kUsage.
[[nodiscard]] Result<AlignMethod> ParseAlignMethod(std::string_view text);

// What of a trace tells of its clock.
struct ClockView {
  std::string boot_id;    // "": not known
  TimeNs namespace_zero;  // offset of its time namespace
  std::optional<TimeNs> realtime_offset;
  TimeNs begin;
  std::vector<RankTrack> tracks;
};
[[nodiscard]] ClockView ViewClock(const traces::Trace& trace, const RunModel& run);

// One host in one iteration.
struct HostPassing {
  std::int64_t delivered = kNever;  // the last of its ranks has its batch
  std::int64_t ended = kNever;      // the first of them is through
};
using HostPassings = std::map<Iteration, HostPassing>;
// Cost: O(passings log passings).
[[nodiscard]] HostPassings PassingsOf(std::span<const RankTrack> tracks);

// The ends of steps that two hosts share, as an estimate of the offset between their clocks.
//
// Estimator:   median over the iterations of the difference between the ends of the step, of each
//              host that of its first rank to come out; with a drift (Theil and Sen, then least
//              squares) where it is three of its standard errors and below 500 ppm. Moved into the
//              bounds that causality sets: nobody ends a step before all have their batch.
// Assumes:     ranks leave the collective together, and what the loop does after it takes as long
//              everywhere; half of what it does not is in the estimate.
// Few samples: below 8 common iterations there is no estimate.
// Source:      ours; bounds as in F. Cristian, Distributed Computing 3 (1989).
struct StepEstimate {
  traces::ClockShift shift;     // from the second host's clock to the first's
  double uncertainty = 0;       // seconds: half of the differences are nearer than that
  std::optional<double> bound;  // seconds: surely nearer than that, if causality holds
  std::size_t iterations = 0;
  bool together = false;  // the differences stay within a step: the ranks do wait for each other
};
[[nodiscard]] std::optional<StepEstimate> EstimateBySteps(const HostPassings& first,
                                                          const HostPassings& second);

struct Alignment {
  AlignBy by = AlignBy::kReference;
  traces::ClockShift shift;  // to the clock of the first trace
  // Seconds; 0: exact. Of wall clocks nobody knows: what time servers usually keep is assumed.
  double uncertainty = 0;
  std::optional<double> bound;            // as StepEstimate
  std::size_t iterations = 0;             // that it was found from
  std::optional<double> wall_difference;  // seconds that the wall clocks differ by, where known

  // As facts of the merged trace: align.by, align.offset_ns, align.uncertainty_ns, ...
  [[nodiscard]] std::map<std::string, std::string> Facts() const;
};

// One of each view, in their order. Traces of one boot are aligned as one.
// Cost: O(iterations log iterations) per host, and 2000 pairs for the drift.
[[nodiscard]] std::vector<Alignment> AlignClocks(std::span<const ClockView> views,
                                                 AlignMethod method);

}  // namespace penstock::analyzer
