// SPDX-License-Identifier: Apache-2.0
//
// The anonymous memory of a forked process over time: the private part, and the part that it still
// shares with the process that forked it. Values; pure.
#pragma once

#include <vector>

#include "analyzer/model/run_model.h"

namespace penstock::analyzer {

// Bytes at each walk of the process's page tables. Shapes: all [walks].
struct PrivateMemory {
  std::vector<double> at;      // seconds
  std::vector<double> own;     // anonymous and private
  std::vector<double> shared;  // anonymous and shared
  std::vector<double> cached;  // pages of files that nobody else maps
};

// `private_dirty`, `anonymous`, `anonymous_share`, `uss`: private_dirty_bytes, anonymous_bytes,
// pss_anon_bytes and uss_bytes of one process; the last two may be nullptr. `workers`: the number
// of processes that were forked from the same process as this one, itself included.
//
// Estimator: copying raises private dirty minus anonymous memory by the bytes that are copied. But
//            private dirty pages may also belong to a mapped file (in tmpfs, or not written back
//            yet). The process's share of anonymous memory does not contain such pages. Copying a
//            page that `workers` + 1 processes share raises this share by at least workers /
//            (workers + 1) of the page. The rise divided by this fraction is an upper bound of the
//            copied bytes. The smaller of the two estimates at the last walk is used for all walks.
[[nodiscard]] PrivateMemory SplitMemory(const CounterSeries& private_dirty,
                                        const CounterSeries& anonymous,
                                        const CounterSeries* anonymous_share,
                                        const CounterSeries* uss, int workers);

}  // namespace penstock::analyzer
