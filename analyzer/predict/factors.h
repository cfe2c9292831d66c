// SPDX-License-Identifier: Apache-2.0
//
// What the time of a run is made of, and how a pipeline looks where one of it costs more or less.
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
  kCompute,   // whatever the consumer does between batches
  kStartup,   // worker start, dataset open, first batches
  kPrefetch,  // variance, in-order head-of-line blocking, missing credit
  kNone,
};

[[nodiscard]] std::string_view FactorName(Factor factor);

enum class FirstBatches { kScaled, kKept };

// What `factor` costs in every batch (and sample) takes `scale` times as long; so does its part of
// the first batches' extra cost if that is scaled too. kStartup and kPrefetch are no such cost, nor
// is kNone: they change nothing.
void ScaleFactor(Pipeline& pipeline, Factor factor, double scale, FirstBatches first);
// Likewise the transforms of whole batches that the loop computes itself: kAugment is the
// dataset's.
void ScaleLoopTransforms(Pipeline& pipeline, double scale);

// All that computes takes `scale` times as long: on faster or slower cores. Start-up counts as
// computing; waiting stays.
void ScaleComputing(Pipeline& pipeline, double scale);

}  // namespace penstock::analyzer
