// SPDX-License-Identifier: Apache-2.0
//
// Who works for a loader beside those that make its batches: threads of the dataset's own, and
// processes that are no workers of a loader. Pure.
#pragma once

#include <span>

#include "analyzer/model/run_builder.h"
#include "analyzer/model/run_model.h"
#include "traces/trace.h"

namespace penstock::analyzer {

// Sets LoaderRun::threads_cpu and threads_stages: who makes the batches waits for those threads.
void FindThreadsBeside(LoaderRun& run, const RunBuilder& builder,
                       std::span<const traces::ThreadInfo> threads);

// Sets RunModel::helpers.
void FindHelpers(RunModel& model, const RunBuilder& builder, const traces::Trace& trace);

}  // namespace penstock::analyzer
