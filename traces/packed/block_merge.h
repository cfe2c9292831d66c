// SPDX-License-Identifier: Apache-2.0
//
// The spans of one thread in ascending order, from blocks that may overlap: spans are recorded when
// they end, so a long parent may be many blocks after its children. Function, thread-safe.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "traces/packed/section.h"

namespace penstock::traces::packed {

// Visits all spans of `blocks`, which may come in any order, in the order of StartsBefore. Damaged
// blocks are left out. `more`: further spans, in that order.
// Requires: no block has zero items.
// Cost: decodes every block once, or more often if more than kMaxHeldBlocks of them overlap; holds
//       a few blocks at a time.
void MergeBlocks(const MappedFile& file, std::span<const SectionRef> blocks,
                 const std::function<void(std::span<const Span>)>& visit,
                 std::span<const Span> more = {});

inline constexpr std::size_t kMaxHeldBlocks = 16;

}  // namespace penstock::traces::packed
