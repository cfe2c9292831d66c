// SPDX-License-Identifier: Apache-2.0
//
// How much of the training process's memory its forked workers have copied, from signals that cost
// next to nothing: what the kernel counts for each process, and a single walk of its page tables.
// Copying that is over early is no growth (memory_growth.h), but takes as much memory. Pure.
#pragma once

#include <optional>

#include "analyzer/model/run_model.h"

namespace penstock::analyzer {

// Bytes of the median worker.
struct CopiedMemory {
  double copied = 0;         // anonymous pages that fork shared and that are its own by now
  double parent = 0;         // anonymous memory of the training process when it forked
  double fresh = 0;          // anonymous memory that it took besides
  double private_bytes = 0;  // anonymous and its own, in all
  double faults = 0;         // minor faults until then: at least one for each page copied
  double seen = 0;           // seconds of its life until the walk
  std::size_t workers = 0;   // that were seen
};

// nullopt: workers are not forked, or no walk of one (private_dirty_bytes, anonymous_bytes) lies
// beside what the kernel counts (rss_anon_bytes, minor_faults).
//
// Estimator: a page that is copied takes the place of the shared one, so anonymous memory
//            (RssAnon) stays what it was at the fork, where new memory makes it grow. So what is
//            private is copied but for that growth. Private pages may be of a mapped file too
//            (private_memory.h): the share of anonymous memory (Pss_Anon) among `workers` + 1
//            processes bounds it, and so do the minor faults, one for each page at least.
// Source:    proc(5), smaps_rollup; fork(2).
[[nodiscard]] std::optional<CopiedMemory> MeasureCopiedMemory(const RunModel& model,
                                                              const LoaderRun& run,
                                                              double page_bytes);

}  // namespace penstock::analyzer
