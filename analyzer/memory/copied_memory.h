// SPDX-License-Identifier: Apache-2.0
//
// Measures how much of the training process's memory its forked workers have copied. This needs two
// signals that cost almost nothing: the kernel's counters of each process, and one walk of its page
// tables. If copying ends early, memory_growth.h sees no growth, but the copies still take memory.
// Pure.
#pragma once

#include <optional>

#include "analyzer/model/run_model.h"

namespace penstock::analyzer {

// The values of the worker with the median of `copied`. With an even number of workers, it is the
// lower one of the two in the middle. Units: bytes.
struct CopiedMemory {
  double copied = 0;         // anonymous pages that fork shared and that the worker has copied
  double parent = 0;         // anonymous memory of the training process when it forked
  double fresh = 0;          // anonymous memory that the worker has allocated itself
  double private_bytes = 0;  // all anonymous memory that is private to the worker
  double faults = 0;         // minor faults until the walk: at least one for each page copied
  double seen = 0;           // seconds from its first counter sample to the walk
  std::size_t workers = 0;   // workers that have a walk and these counters
};

// nullopt: workers are threads or are not forked, or no worker has a walk (private_dirty_bytes,
// anonymous_bytes) and the counters of the kernel (rss_anon_bytes, minor_faults).
//
// Estimator: a copied page replaces a shared page. So copying leaves anonymous memory (RssAnon) as
//            it was at the fork, but new memory makes it grow. Private memory minus this growth was
//            copied. Private pages may also belong to a mapped file (private_memory.h), so there
//            are two upper bounds. One comes from the worker's share of anonymous memory
//            (Pss_Anon), as num_workers + 1 processes share each page that is not copied. The other
//            one comes from the minor faults, at least one for each page.
// Source:    proc(5), smaps_rollup; fork(2).
[[nodiscard]] std::optional<CopiedMemory> MeasureCopiedMemory(const RunModel& model,
                                                              const LoaderRun& run,
                                                              double page_bytes);

}  // namespace penstock::analyzer
