// SPDX-License-Identifier: Apache-2.0
//
// Corrects the times of followed units (traces/FORMAT.md, "Followed units"). The agent already
// subtracts a calibrated cost of events; following also changes times in other ways. Values, whose
// keys refer to strings of the trace; pure functions.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string_view>
#include <tuple>
#include <vector>

#include "traces/call_trees.h"

namespace penstock::analyzer {

[[nodiscard]] inline double Nanoseconds(TimeNs time) {
  return static_cast<double>(time.value);
}

// File, first line, name.
using FunctionKey = std::tuple<std::string_view, std::uint32_t, std::string_view>;
[[nodiscard]] FunctionKey KeyOf(const traces::Trace& trace, const traces::CallNode& node);

// The fraction of a function's own time in which the interpreter ran bytecode, from units whose
// lines were followed. In the rest of its own time the function waited for a lock, or computed in C
// without a call, for example in an operator. A function that is missing here is assumed to have
// run bytecode all the time.
using InterpretedParts = std::map<FunctionKey, double>;
[[nodiscard]] InterpretedParts PartsOf(const traces::Trace& trace,
                                       std::span<const traces::CallTree* const> with_lines);

struct FollowCorrection {
  double interpreter = 1;  // factor for the time of interpreted code
  double costs = 1;        // real cost of the events, over the cost that was subtracted
  InterpretedParts parts;
};

// Before Python 3.12, following a unit slows down its interpreted code, but not its C code. An
// event may also have cost less or more than in the calibration. Neighbouring units that were not
// followed show how long the followed units would have taken. They are compared with the followed
// units' times, from which the costs are already subtracted. If neighbours took longer, events are
// assumed to have cost less than was subtracted. If neighbours took less time, the assumption
// depends on the version: before Python 3.12 interpreted code was slowed down, in later versions
// events cost more. Nothing is said of the costs if they are less than a tenth of the units' time
// (ours), since units differ that much by chance. One correction for all units evens out
// differences between samples.
//
// The interpreter's factor is kept within 0.3 and 1: slowdowns of 1.3 to 2.4 times were measured
// (factors of 0.77 to 0.42), and neighbours may be shorter by chance. The factor of the costs is at
// most 2.5: 2.2 was measured in a deep copy of 700 dictionaries. The data of its 130,000 events do
// not stay in the caches, unlike those of the calibration.
[[nodiscard]] FollowCorrection CorrectionOf(const traces::Trace& trace,
                                            std::span<const traces::CallTree* const> trees,
                                            InterpretedParts parts);

// The own time of each node, corrected. Units: nanoseconds.
[[nodiscard]] std::vector<double> OwnTimes(const traces::Trace& trace, const traces::CallTree& tree,
                                           const FollowCorrection& correction);

}  // namespace penstock::analyzer
