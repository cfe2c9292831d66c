// SPDX-License-Identifier: Apache-2.0
#include "cuda/emulate.h"

#include <cstddef>
#include <vector>

#include "cuda/point_bodies.h"
#include "cuda/tile_bodies.h"

namespace penstock::cuda {
namespace {

template <class Body>
void ForEachThread(Body&& body) {
  for (int row = 0; row < kRows; ++row) {
    for (int lane = 0; lane < kLanes; ++lane) body(lane, row);
  }
}

unsigned TiledBlock(const Pass& pass, const Memories& memories, int number,
                    std::vector<float>& shared) {
  shared.assign(static_cast<std::size_t>(pass.tile.shared_bytes) / sizeof(float), 0.0F);
  const TileBlock block = TileBlockOf(pass, number, shared.data());
  unsigned grey = 0;
  for (int thread = 0; thread < kThreads; ++thread) PlaceTaps(pass, memories, block, thread);
  ForEachThread([&](int lane, int row) { TileDown(pass, memories, block, lane, row); });
  ForEachThread([&](int lane, int row) { grey += TileAcross(pass, memories, block, lane, row); });
  return grey;
}

unsigned FlatBlock(const Pass& pass, const Memories& memories, int number) {
  const bool stream = pass.gather == Gather::kStream;
  const int items = pass.kept.width * pass.kept.height / (stream ? 4 : 1);
  unsigned grey = 0;
  for (int thread = 0; thread < kThreads; ++thread) {
    const int index = number * kThreads + thread;
    if (index >= items) break;
    if (stream) {
      StreamFour(pass, memories, index);
    } else {
      grey += WindowPixel(pass, memories, index);
    }
  }
  return grey;
}

}  // namespace

void Emulate(std::span<const Launch> launches, std::span<const Pass> passes,
             const Memories& memories) {
  std::vector<float> shared;
  for (const Launch& launch : launches) {
    for (const Pass& pass : passes.subspan(static_cast<std::size_t>(launch.first),
                                           static_cast<std::size_t>(launch.count))) {
      for (int block = 0; block < launch.blocks; ++block) {
        if (block >= pass.blocks) break;
        const unsigned grey = launch.kind == Launch::Kind::kTiled
                                  ? TiledBlock(pass, memories, block, shared)
                                  : FlatBlock(pass, memories, block);
        if (pass.sum >= 0) memories.sums[pass.sum] += grey;
      }
    }
  }
}

}  // namespace penstock::cuda
