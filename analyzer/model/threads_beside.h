// SPDX-License-Identifier: Apache-2.0
//
// Finds what works for a loader besides the threads and processes that make its batches: the
// dataset's own threads, and processes that are not workers. Pure.
#pragma once

#include <span>

#include "analyzer/model/run_builder.h"
#include "analyzer/model/run_model.h"
#include "traces/trace.h"

namespace penstock::analyzer {

// Sets LoaderRun::threads_cpu, threads_stages and stage_threads: the work of threads that do not
// make batches themselves.
void FindThreadsBeside(LoaderRun& run, const RunBuilder& builder,
                       std::span<const traces::ThreadInfo> threads);

// Sets RunModel::helpers and RunModel::own_processes.
void FindHelpers(RunModel& model, const RunBuilder& builder, const traces::Trace& trace);

}  // namespace penstock::analyzer
