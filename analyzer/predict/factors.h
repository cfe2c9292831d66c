// SPDX-License-Identifier: Apache-2.0
//
// What the time of a run is made of, and loader models in which one part costs more or less.
// Values; pure functions.
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
  kCompute,   // what the training loop does between batches
  kStartup,   // worker start, dataset open, first batches
  kPrefetch,  // variance, in-order head-of-line blocking, missing credit
  kNone,
};

[[nodiscard]] std::string_view FactorName(Factor factor);

enum class FirstBatches { kScaled, kKept };

// Makes `factor` take `scale` times as long in every batch (and sample), and in the extra cost of
// first batches if `first` says so. kStartup, kPrefetch and kNone are not such costs: they change
// nothing.
void ScaleFactor(Pipeline& pipeline, Factor factor, double scale, FirstBatches first);
// The same for transforms of whole batches that the loop computes itself; kAugment is the
// dataset's.
void ScaleLoopTransforms(Pipeline& pipeline, double scale);

// Makes all computing take `scale` times as long, as on faster or slower cores. Start-up counts as
// computing; waiting stays.
void ScaleComputing(Pipeline& pipeline, double scale);

}  // namespace penstock::analyzer
