// SPDX-License-Identifier: Apache-2.0
//
// The spans of one thread, ascending by start, from blocks that may overlap: spans are recorded
// when they end, so a long parent may be many blocks after its children. Function, thread-safe.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "traces/packed/section.h"

namespace penstock::traces::packed {

// Visits the spans of all `blocks` in the order of StartsBefore, a run of spans at a time. The
// blocks need no order. Damaged blocks are left out. `more`: further spans, already sorted.
// Requires: no block has zero items.
// Cost: decodes each block once if at most kMaxHeldBlocks of them overlap, and then holds at most
//       so many. If more overlap, decodes some again; after four decodes per block on average,
//       holds all that overlap.
void MergeBlocks(const MappedFile& file, std::span<const SectionRef> blocks,
                 const std::function<void(std::span<const Span>)>& visit,
                 std::span<const Span> more = {});

inline constexpr std::size_t kMaxHeldBlocks = 16;

}  // namespace penstock::traces::packed
