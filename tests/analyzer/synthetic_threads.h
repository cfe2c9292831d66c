// SPDX-License-Identifier: Apache-2.0
//
// Traces of the reference loader, in which threads of one process fill batches together, sample by
// sample. All costs are known.
#pragma once

#include <functional>

#include "tests/analyzer/synthetic.h"

namespace penstock::analyzer::testing {

// Costs of one sample in milliseconds.
struct SampleCosts {
  double read = 0.5;
  double decode = 4;
  double augment = 2;
};

struct SyntheticThreads {
  int threads = 4;  // 0: the training loop makes its samples itself
  int prefetch = 4;
  int batch_size = 8;
  int batches = 200;  // of each epoch
  int epochs = 1;
  int cores = 16;
  double cpu_share = 1;  // CPU time of decode and augment over their wall time without `sleep`
  double sleep = 0;      // ms that decoding sleeps, in addition to its cost
  double collate = 0;    // ms, by the thread that makes the last sample of a batch
  double step = 4;       // ms
  double start = 2;      // ms until the threads run
  bool facts = true;
  std::function<SampleCosts(int sample)> costs = [](int) { return SampleCosts{}; };
};

[[nodiscard]] traces::TraceData MakeThreads(const SyntheticThreads& run);
[[nodiscard]] std::unique_ptr<traces::Trace> ThreadsTrace(const SyntheticThreads& run);

}  // namespace penstock::analyzer::testing
