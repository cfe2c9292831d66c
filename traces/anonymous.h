// SPDX-License-Identifier: Apache-2.0
//
// A trace without the names of people, machines, files and the program's own functions, for a
// report of a bug. Times, sizes, counts and the names of libraries stay, so that an analysis of it
// has the same numbers.
#pragma once

#include <memory>

#include "traces/stand_ins.h"
#include "traces/trace.h"

namespace penstock::traces {

// `trace` and `names` must outlive the result. Cost: one pass over all spans, and the memory of
// their strings, events and calls.
[[nodiscard]] std::unique_ptr<Trace> WithoutNames(const Trace& trace, StandIns& names);

}  // namespace penstock::traces
