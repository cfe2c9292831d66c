// SPDX-License-Identifier: Apache-2.0
//
// The parts of a run's time, and loader models in which one part costs more or less. Values; pure
// functions.
#pragma once

#include <string_view>

#include "analyzer/simulate/pipeline.h"

namespace penstock::analyzer {

enum class Factor {
  kRead,
  kDecode,
  kAugment,
  kTokenize,  // text to tokens
  kCollate,
  kTransfer,  // put, get, unpickling, pinning
  kH2d,
  kCompute,   // the step of the training loop
  kStartup,   // worker start, dataset open, first batches
  kPrefetch,  // variance, in-order head-of-line blocking, missing credit
  kNone,
};

[[nodiscard]] std::string_view FactorName(Factor factor);
// Whether the factor is a part of the data path. The step, start-up and the prefetch depth are not.
[[nodiscard]] bool IsPart(Factor factor);

enum class FirstBatches { kScaled, kKept };

// Makes `factor` take `scale` times as long in every batch (and sample), and in the extra cost of
// first batches if `first` says so. kStartup, kPrefetch and kNone are not costs of a batch, so they
// change nothing.
void ScaleFactor(Pipeline& pipeline, Factor factor, double scale, FirstBatches first);
// The same for transforms of whole batches that the loop computes itself. kAugment does not contain
// these: it is the augmenting of the dataset.
void ScaleLoopTransforms(Pipeline& pipeline, double scale);

// Adds Pipeline::threads_doubt to Pipeline::doubt, only once. ScaleFactor() calls this for the
// parts that workers compute.
void DoubtThreads(Pipeline& pipeline);

// Makes all computing take `scale` times as long, as on faster or slower cores. Start-up counts as
// computing; waiting stays.
void ScaleComputing(Pipeline& pipeline, double scale);

}  // namespace penstock::analyzer
