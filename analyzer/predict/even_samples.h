// SPDX-License-Identifier: Apache-2.0
//
// A loader model in which no sample takes much longer than the others. Values; pure functions.
#pragma once

#include <vector>

#include "analyzer/model/run_model.h"
#include "analyzer/model/sample_tail.h"
#include "analyzer/simulate/pipeline.h"

namespace penstock::analyzer {

// The time that slow samples take beyond the median, and where to subtract it.
struct EvenSamples {
  std::vector<double> excess;  // seconds, by Demand::source; for batches that were not examined,
                               // the mean of the others
  SamplePart part = SamplePart::kAugment;  // where most of the excess is spent
  double median = 0;                       // seconds of a sample
  double least = 0;                        // slow samples take longer than this many seconds
  double for_cores = 0;                    // share of waiting outside of reads that does not count

  [[nodiscard]] bool any() const { return !excess.empty(); }
};

[[nodiscard]] EvenSamples EvenSamplesOf(const LoaderRun& run, const SampleTail& tail);

// `pipeline` with slow samples that take as long as the median. The excess is subtracted from the
// part where most of it is spent. If the excess is longer than this part, the rest is subtracted
// from the other parts of samples.
[[nodiscard]] Pipeline WithEvenSamples(Pipeline pipeline, const EvenSamples& even);

}  // namespace penstock::analyzer
