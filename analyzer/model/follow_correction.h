// SPDX-License-Identifier: Apache-2.0
//
// Corrects the times of followed units for what following changes besides the events that the agent
// takes off (traces/FORMAT.md, "Followed units"). Values; pure functions.
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

// The part of a function's own time in which the interpreter ran bytecode, from units whose lines
// were followed. In the rest it waited for a lock or computed in C, in an operator or a loop, which
// are no calls. A function that is not there ran bytecode all the time.
using InterpretedParts = std::map<FunctionKey, double>;
[[nodiscard]] InterpretedParts PartsOf(const traces::Trace& trace,
                                       std::span<const traces::CallTree* const> with_lines);

struct FollowCorrection {
  double interpreter = 1;  // factor for the time of interpreted code
  double costs = 1;        // real cost of the events, over the cost that was taken off
  InterpretedParts parts;
};

// Before Python 3.12, following a unit slows down its interpreted code, but not C code. And an
// event may have cost less, or more, than where the cost was measured. Neighbouring units tell how
// long the followed ones would have taken if not followed. If they are longer, events are taken to
// have cost less. If they are shorter, interpreted code is taken to have been slowed down before
// Python 3.12, and events to have cost more since. One correction for all units evens out
// differences between samples. The interpreter's factor is kept within 0.3 and 1: slowdowns of 1.3
// to 2.4 times were measured (factors of 0.77 to 0.42), and neighbours may be shorter by chance.
// The factor of the costs is at most 2.5: 2.2 was measured in a deep copy of 700 dictionaries,
// whose 130,000 events are not in the caches as those of the calibration are.
[[nodiscard]] FollowCorrection CorrectionOf(const traces::Trace& trace,
                                            std::span<const traces::CallTree* const> trees,
                                            InterpretedParts parts);

// The own time of each node, corrected. Units: nanoseconds.
[[nodiscard]] std::vector<double> OwnTimes(const traces::Trace& trace, const traces::CallTree& tree,
                                           const FollowCorrection& correction);

}  // namespace penstock::analyzer
