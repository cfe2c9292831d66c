// SPDX-License-Identifier: Apache-2.0
//
// How the clocks of several traces of one run relate to each other. Values; pure.
//
// Traces of one boot share CLOCK_MONOTONIC, except for the known offset of a time namespace. Two
// things relate the clocks of different hosts. One is the collective at the end of each step: no
// rank leaves it before all have entered it. The other is the wall clocks, if a time server keeps
// them right.
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
  kReference,   // this is the first trace; the result uses its clock
  kSameClock,   // it is of the same boot as the first trace
  kCollective,  // the ends of steps
  kWallClock,   // CLOCK_REALTIME of both hosts
  kNothing,     // nothing is known: both are assumed to begin at the same time
};
// "reference", "same clock", "collective", "wall clock" or "nothing".
[[nodiscard]] std::string_view AlignName(AlignBy by);

// How to align: by the best way there is, or by one way only.
enum class AlignMethod { kAuto, kSameClock, kCollective, kWallClock };
// Reads "auto", "clock", "steps" or "wall". Errors: kUsage.
[[nodiscard]] Result<AlignMethod> ParseAlignMethod(std::string_view text);

// What a trace tells about its clock.
struct ClockView {
  std::string boot_id;    // "": not known
  TimeNs namespace_zero;  // offset of its time namespace
  std::optional<TimeNs> realtime_offset;
  TimeNs begin;
  std::vector<RankTrack> tracks;
};
[[nodiscard]] ClockView ViewClock(const traces::Trace& trace, const RunModel& run);

// One host in one iteration, on the host's clock.
struct HostPassing {
  std::int64_t delivered = kNever;  // when the last of the host's ranks got its batch
  std::int64_t ended = kNever;      // when the first of the host's ranks ended the step
};
using HostPassings = std::map<Iteration, HostPassing>;
// Cost: O(passings log passings).
[[nodiscard]] HostPassings PassingsOf(std::span<const RankTrack> tracks);

// The offset between the clocks of two hosts, estimated from the ends of steps that they share.
//
// Estimator:   median over the iterations of the difference between the ends of the step. On each
//              host, the end of the rank that ends first counts. A drift (Theil and Sen, then least
//              squares) is included if it exceeds three of its standard errors, moves the
//              difference by more than its interquartile range, and is below 500 ppm. The estimate
//              is moved into the bounds of causality: no rank ends a step before all have their
//              batch.
// Assumes:     ranks leave the collective together, and the rest of the step takes equally long on
//              every rank. If it does not, half of the difference is an error of the estimate.
// Few samples: below 8 common iterations there is no estimate.
// Source:      ours; bounds as in F. Cristian, Distributed Computing 3 (1989).
struct StepEstimate {
  traces::ClockShift shift;     // from the second host's clock to the first's
  double uncertainty = 0;       // seconds; half of the differences are within this of the estimate
  std::optional<double> bound;  // seconds; the error is surely smaller, if causality holds
  std::size_t iterations = 0;
  // Differences are small beside a step and drift by less than 500 ppm, so the ranks do wait for
  // each other.
  bool together = false;
};
[[nodiscard]] std::optional<StepEstimate> EstimateBySteps(const HostPassings& first,
                                                          const HostPassings& second);

struct Alignment {
  AlignBy by = AlignBy::kReference;
  traces::ClockShift shift;  // to the clock of the first trace
  // Seconds; 0: exact, or nothing is known (AlignBy::kNothing). A trace does not tell the error of
  // wall clocks. For them this is an assumed bound, which time servers always keep.
  double uncertainty = 0;
  std::optional<double> bound;            // as in StepEstimate
  std::size_t iterations = 0;             // number of iterations that the shift was found from
  std::optional<double> wall_difference;  // seconds between the wall clocks, if known

  // The facts of the merged trace: align.by, align.offset_ns, align.uncertainty_ns, ...
  [[nodiscard]] std::map<std::string, std::string> Facts() const;
};

// One alignment for each view, in their order. With kAuto and kSameClock, traces of one boot are
// aligned as one.
// Cost: O(iterations log iterations) for each host, and some 20,000 pairs of points for its drift.
[[nodiscard]] std::vector<Alignment> AlignClocks(std::span<const ClockView> views,
                                                 AlignMethod method);

}  // namespace penstock::analyzer
