// SPDX-License-Identifier: Apache-2.0
//
// A training run of any length, as the agent would have recorded it. A sample has the spans of
// scripts/demo/train.py (Pillow, torchvision transforms; 12.5 spans), times are lognormal, and
// events come in the order of PyTorch's loader. Memory does not grow with the length.
#pragma once

#include <cstdint>

#include "traces/pack.h"

namespace penstock::analyzer::testing {

struct LongTrace {
  std::uint64_t spans = 1'000'000;  // the least number; the last batch is always written whole
  int workers = 4;
  int prefetch = 2;
  int batch_size = 64;
  std::uint32_t epoch_batches = 5000;
  std::uint32_t images = 1'281'167;  // number of paths; every epoch draws its samples from them
  double step_ms = 20;               // of the training loop
  bool lean = false;                 // 4 spans a sample, as penstock-load writes them
  std::uint64_t seed = 1;
};

// What was written.
struct LongTraceSize {
  std::uint64_t spans = 0;
  std::uint64_t batches = 0;
  std::uint64_t samples = 0;
};

// Writes the run to `out`, without Finish().
//
// Requires: workers >= 1, prefetch >= 1, batch_size >= 1, epoch_batches >= 1, images >= 1.
LongTraceSize WriteLongTrace(const LongTrace& run, traces::Packer& out);

}  // namespace penstock::analyzer::testing
