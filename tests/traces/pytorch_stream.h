// SPDX-License-Identifier: Apache-2.0
//
// Writes a realistic stream of spans, for tests and measurements of packing.
#pragma once

#include <cstdint>

#include "traces/pack.h"

namespace penstock::traces::testing {

// Spans like those of a PyTorch run over an image folder. For each image: sample, read, decode,
// augment with three transforms inside it. For each batch: fetch, collate, put and idle; in the
// training process get, wait and step. Each epoch is a random permutation of `images` indices, each
// image has a path, and times are lognormal.
struct StreamOptions {
  std::uint32_t images = 50'000;
  std::uint32_t epochs = 1;
  std::uint32_t batch = 64;
  std::uint32_t workers = 4;
  std::uint64_t seed = 1;
};
// Returns the number of spans.
std::uint64_t WritePytorchLike(const StreamOptions& options, Packer& out);

}  // namespace penstock::traces::testing
