// SPDX-License-Identifier: Apache-2.0
//
// The spans of one thread in ascending order from blocks that may overlap: a span is recorded
// when it ends, so a long parent lies blocks behind its children. Function, thread-safe.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "traces/packed/section.h"

namespace penstock::traces::packed {

// Visits all spans of `blocks` (any order) in ascending order; blocks that turn out damaged are
// left out. `more`: further spans, in the order of StartsBefore. Cost: every block decoded once, at
// most a few held at a time; more often only if more than kMaxHeldBlocks of them overlap.
void MergeBlocks(const MappedFile& file, std::span<const SectionRef> blocks,
                 const std::function<void(std::span<const Span>)>& visit,
                 std::span<const Span> more = {});

inline constexpr std::size_t kMaxHeldBlocks = 16;

}  // namespace penstock::traces::packed
