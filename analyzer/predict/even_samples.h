// SPDX-License-Identifier: Apache-2.0
//
// A loader model in which no sample takes much longer than the others. Values; pure functions.
#pragma once

#include <vector>

#include "analyzer/model/run_model.h"
#include "analyzer/model/sample_tail.h"
#include "analyzer/simulate/pipeline.h"

namespace penstock::analyzer {

// The time that slow samples take beyond the median, in the form in which it is subtracted.
struct EvenSamples {
  std::vector<double> excess;  // seconds, by Demand::source; the mean of those of batches that were
                               // examined if the batch was not
  SamplePart part = SamplePart::kAugment;  // where most of it is spent
  double median = 0;                       // seconds of a sample
  double least = 0;                        // slow samples take longer
  double for_cores = 0;                    // share of waiting outside of reads that does not count

  [[nodiscard]] bool any() const { return !excess.empty(); }
};

[[nodiscard]] EvenSamples EvenSamplesOf(const LoaderRun& run, const SampleTail& tail);

// `pipeline` with slow samples that take as long as the median. The excess is subtracted from the
// part where most of it is spent, and what exceeds this part from the other parts of samples.
[[nodiscard]] Pipeline WithEvenSamples(Pipeline pipeline, const EvenSamples& even);

}  // namespace penstock::analyzer
