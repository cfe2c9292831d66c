// SPDX-License-Identifier: Apache-2.0
//
// Writes a realistic stream of spans, for tests and measurements of packing.
#pragma once

#include <cstdint>

#include "traces/pack.h"

namespace penstock::traces::testing {

// Spans like those of a PyTorch run over an image folder. An image has the spans sample, read,
// decode, and augment with three transforms inside it. A batch has fetch, collate, put and idle in
// the worker, and get, wait and step in the training process. Each epoch is a random permutation of
// `images` indices, each image has a path, and times are lognormal.
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
