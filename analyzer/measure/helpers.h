// SPDX-License-Identifier: Apache-2.0
//
// The CPU time of processes that help a loader but are not its workers: a pool that the dataset
// starts, a program that it calls for each sample, a server. Pure.
#pragma once

#include "analyzer/model/run_model.h"
#include "analyzer/model/steady.h"

namespace penstock::analyzer {

// CPU seconds per second in the steady windows. 0: there are none, or nothing is known.
struct HelpersCpu {
  double recorded = 0;  // by RunModel::helpers
  // By processes that recorded nothing: from counters of the processes that waited for their end.
  double unseen = 0;
  [[nodiscard]] double sum() const { return recorded + unseen; }
};

// Measures the processes that work for the main loader.
[[nodiscard]] HelpersCpu MeasureHelpers(const RunModel& model, const SteadyState& steady);

// Whether the main loader, without workers, takes its samples from RunModel::own_processes: for at
// least half of their time its fetches wait for something else than their own reads, and these
// processes have data stages for a quarter of this time, or keep half a core busy.
[[nodiscard]] bool MadeByOwnProcesses(const RunModel& model, const SteadyState& steady);

}  // namespace penstock::analyzer
