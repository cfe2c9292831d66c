// SPDX-License-Identifier: Apache-2.0
//
// Fills a caller's columns from a trace. Pure functions of an immutable trace; thread-safe.
#pragma once

#include <cstdint>

#include "traces/capi/penstock_trace.h"
#include "traces/trace.h"

namespace penstock::traces {

// The spans whose stage is in `stages`, by thread and start, with `threads` threads; how many.
// Requires: room for trace.span_count() in each column that is there.
std::uint64_t FillSpans(const Trace& trace, std::uint64_t stages, const PenstockSpans& out,
                        unsigned threads);
std::uint64_t FillEvents(const Trace& trace, const PenstockEvents& out);
std::uint64_t FillCounters(const Trace& trace, const PenstockCounters& out);
// The nodes of the units whose stage is in `stages`, by unit and node; how many.
// Requires: room for trace.call_rows().size() in each column that is there.
std::uint64_t FillFunctions(const Trace& trace, std::uint64_t stages, const PenstockFunctions& out);

}  // namespace penstock::traces
