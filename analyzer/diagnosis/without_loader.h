// SPDX-License-Identifier: Apache-2.0
//
// Finds what holds back a program in which no loader was seen: from the time of its stages and from
// the threads that wait for others. In a trace of kernels and copies alone, it judges by the use of
// the devices. Pure.
#pragma once

#include <vector>

#include "analyzer/diagnosis/diagnosis.h"
#include "traces/trace.h"

namespace penstock::analyzer {

// The gain of each stage, from its share of the data threads' lifetime. This is the most that the
// run gains if the stage is free and the threads share the work evenly. Empty if no stage of the
// data path was seen; copies to a device alone do not count.
[[nodiscard]] std::vector<Gain> GainsByThreadTime(const StageTable& stages, double life);

// Sets rates, gains, bottleneck, confidence, feed and devices. Requires: diagnosis.run, without a
// loader.
void DiagnoseWithoutLoader(const traces::Trace& trace, Diagnosis& diagnosis);

}  // namespace penstock::analyzer
