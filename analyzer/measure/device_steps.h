// SPDX-License-Identifier: Apache-2.0
//
// Sets the length of steps from the device's work, if kernels were recorded. The time between two
// batches in the loop is not this length. The loop may wait for the next batch while the device is
// still busy, or wait in a copy while the device finishes the batch before. Pure.
//
// A step lasts as long as the device works on its batch. This work ends with the batch's last
// kernel or copy. It begins with the delivery of the batch, or when the device has finished the
// batch before, whichever is later. It lasts at least as long as the loop took. Its copy time is
// the time of transfers during which no kernel ran, not the time in copy calls. Assumes that the
// loop is never so far ahead of the device that it hides jitter of the loader.
#pragma once

#include "analyzer/model/device_records.h"
#include "analyzer/model/run_model.h"
#include "analyzer/model/steady.h"
#include "analyzer/simulate/pipeline.h"

namespace penstock::analyzer {

// Changes the steps of `pipeline`, which is built from `run`. Without kernels it changes nothing.
// Does not change the last step of each epoch and steps that are pauses, including pauses before
// the steady window.
void UseDevice(const LoaderRun& run, const DeviceRecords& records, const SteadyState& steady,
               Pipeline& pipeline);

}  // namespace penstock::analyzer
