// SPDX-License-Identifier: Apache-2.0
//
// What holds back a program in which no loader was seen. This is concluded from the time of its
// stages, from the threads that wait for others, or, in a trace of kernels and copies alone, from
// the use of the devices. Pure.
#pragma once

#include <vector>

#include "analyzer/diagnosis/diagnosis.h"
#include "traces/trace.h"

namespace penstock::analyzer {

// The share of each stage in the life of the data threads, as a gain: the most that the run gains
// if the stage is free and the threads share the work evenly. Empty if no stage of the data path
// was seen; copies to a device alone do not count.
[[nodiscard]] std::vector<Gain> GainsByThreadTime(const StageTable& stages, double life);

// Sets rates, gains, bottleneck, confidence, feed and devices. Requires: diagnosis.run, without a
// loader.
void DiagnoseWithoutLoader(const traces::Trace& trace, Diagnosis& diagnosis);

}  // namespace penstock::analyzer
