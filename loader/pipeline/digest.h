// SPDX-License-Identifier: Apache-2.0
//
// A digest of the delivered samples: for each epoch a hash over the label, the id and the pixels of
// every sample. Two runs with the same digests have delivered the same bytes in the same order,
// whatever their batch sizes. For the consumer.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "loader/pipeline/pipeline.h"

namespace penstock::loader {

struct EpochDigest {
  std::uint64_t epoch = 0;
  std::uint64_t samples = 0;
  std::uint64_t ordered = 0;    // depends on the order of the samples
  std::uint64_t unordered = 0;  // a sum: the values of all ranks add up to that of the epoch
};

class Digest {
 public:
  // Cost: about 0.1 ns per byte of pixels.
  void Add(const Batch& batch);
  // Epochs in the order in which they came.
  [[nodiscard]] std::span<const EpochDigest> epochs() const { return epochs_; }

 private:
  std::vector<EpochDigest> epochs_;
};

}  // namespace penstock::loader
