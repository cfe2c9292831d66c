// SPDX-License-Identifier: Apache-2.0
//
// Fills columns of a caller from a trace. Pure functions of an immutable trace; thread-safe.
#pragma once

#include <cstdint>
#include <span>

#include "traces/capi/penstock_trace.h"
#include "traces/trace.h"

namespace penstock::traces {

// Writes the spans whose stage is in `stages`, by thread and start, using `threads` threads.
// Returns their number. Requires: each given column has room for trace.span_count() values.
std::uint64_t FillSpans(const Trace& trace, std::uint64_t stages, const PenstockSpans& out,
                        unsigned threads);
// Write all events, or counters, in order of time. Return their number.
// Requires: each given column has room for all of them.
std::uint64_t FillEvents(const Trace& trace, const PenstockEvents& out);
std::uint64_t FillCounters(const Trace& trace, const PenstockCounters& out);
// Writes the nodes of the units whose stage is in `stages`, by unit and node, except those of
// stalls. Returns their number.
// Requires: each given column has room for trace.call_rows().size() values.
std::uint64_t FillFunctions(const Trace& trace, std::uint64_t stages, const PenstockFunctions& out);

// Replaces each id in `column` by its place among the ids that occur, in ascending order. Writes
// those ids to `used`. Returns their number.
// Requires: the ids are below places.size(); places are zeros; `used` has room for
//           min(column.size(), places.size()) ids.
std::uint64_t FillPlaces(std::span<std::uint32_t> column, std::span<std::uint32_t> places,
                         std::uint32_t* used, unsigned threads);

}  // namespace penstock::traces
