// SPDX-License-Identifier: Apache-2.0
#include "loader/pipeline/digest.h"

#include <array>

#include "traces/base/xxh64.h"

namespace penstock::loader {

void Digest::Add(const Batch& batch) {
  if (epochs_.empty() || epochs_.back().epoch != batch.epoch()) {
    epochs_.push_back({batch.epoch(), 0, 0, 0});
  }
  EpochDigest& epoch = epochs_.back();
  for (std::size_t i = 0; i < batch.size(); ++i) {
    const std::span<const std::byte> pixels = batch.sample(i);
    const std::array<std::uint64_t, 3> sample = {static_cast<std::uint64_t>(batch.labels()[i]),
                                                 batch.ids()[i],
                                                 Xxh64(pixels.data(), pixels.size())};
    const std::uint64_t hash = Xxh64(sample.data(), sizeof sample);
    const std::array<std::uint64_t, 2> chained = {epoch.ordered, hash};
    epoch.ordered = Xxh64(chained.data(), sizeof chained);
    epoch.unordered += hash;
    ++epoch.samples;
  }
}

}  // namespace penstock::loader
