// SPDX-License-Identifier: Apache-2.0
//
// The anonymous memory of a forked process over time: what of it is its own, and what it still
// shares with the process that forked it. Values; pure.
#pragma once

#include <vector>

#include "analyzer/model/run_model.h"

namespace penstock::analyzer {

// Bytes at each walk of its page tables. Shapes: all [walks].
struct PrivateMemory {
  std::vector<double> at;      // seconds
  std::vector<double> own;     // anonymous and private
  std::vector<double> shared;  // anonymous and shared
  std::vector<double> cached;  // pages of files that nobody else maps
};

// `own`, `anonymous`, `share`, `private_all`: private_dirty_bytes, anonymous_bytes, pss_anon_bytes
// and uss_bytes of one process; the last two may be missing. `workers`: that were forked alike.
//
// Estimator: private minus anonymous memory rises by what is copied. But private dirty pages may
// also be of a mapped file (in tmpfs, or not written back yet), of which the share of anonymous
// memory knows nothing: by what is copied it rises, over `workers` + 1 sharers of a page, by a part
// of workers / (workers + 1) at least. So that over this part is the most that can have been
// copied, and the smaller of the two is taken.
[[nodiscard]] PrivateMemory SplitMemory(const CounterSeries& own, const CounterSeries& anonymous,
                                        const CounterSeries* share,
                                        const CounterSeries* private_all, int workers);

}  // namespace penstock::analyzer
