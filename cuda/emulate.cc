// SPDX-License-Identifier: Apache-2.0
#include "cuda/emulate.h"

#include <cmath>
#include <cstddef>
#include <vector>

#include "cuda/point_bodies.h"
#include "cuda/tile_bodies.h"

namespace penstock::cuda {
namespace {

using Floats = std::vector<FourFloats>;

template <class Body>
void ForEachThread(Body&& body) {
  for (int row = 0; row < kRows; ++row) {
    for (int lane = 0; lane < kLanes; ++lane) body(lane, row);
  }
}

template <bool kBlur, Ending kEnding>
unsigned TiledBlock(const Pass& pass, const Memories& memories, int number, Floats& shared) {
  // Shared memory begins undefined, as on a GPU: NaN.
  shared.assign((static_cast<std::size_t>(pass.tile.shared_bytes) + sizeof(FourFloats) - 1) /
                    sizeof(FourFloats),
                {{NAN, NAN, NAN, NAN}});
  TileBlock block = TileBlockOf(pass, number, shared.data()->value);
  unsigned found = 0;
  for (int thread = 0; thread < kThreads; ++thread) {
    found |= PlaceTaps<kBlur>(pass, memories, block, thread);
  }
  SetReads<kBlur>(pass, memories, (found & kLastTapX) != 0, (found & kLastTapY) != 0, &block);
  unsigned grey = 0;
  for (int above = 0; above < block.box.height; above += pass.tile.height) {
    const TileBlock strip = StripOf(pass, block, above);
    ForEachThread([&](int lane, int row) { TileDown<kBlur>(pass, memories, strip, lane, row); });
    ForEachThread(
        [&](int lane, int row) { grey += TileAcross<kEnding>(pass, memories, strip, lane, row); });
  }
  return grey;
}

template <Ending kEnding>
unsigned PixelBlock(const Pass& pass, const Memories& memories, int number, Floats& /*shared*/) {
  unsigned grey = 0;
  for (int thread = 0; thread < kThreads; ++thread) {
    grey += WindowPixels<kEnding>(pass, memories, number, thread);
  }
  return grey;
}

unsigned StreamBlock(const Pass& pass, const Memories& memories, int number, Floats& /*shared*/) {
  for (int thread = 0; thread < kThreads; ++thread) StreamPixels(pass, memories, number, thread);
  return 0;
}

// The function for one block of a launch, chosen as kernels.cu chooses its kernel.
using Block = unsigned (*)(const Pass&, const Memories&, int, Floats&);
Block BlockOf(const Launch& launch) {
  return WithEnding(launch.ending, [&](auto ending) -> Block {
    constexpr Ending kEnding = decltype(ending)::value;
    switch (launch.kind) {
      case Launch::Kind::kTiled:
        return TiledBlock<false, kEnding>;
      case Launch::Kind::kBlur:
        return TiledBlock<true, kEnding>;
      case Launch::Kind::kPixels:
        return PixelBlock<kEnding>;
      default:
        return StreamBlock;
    }
  });
}

}  // namespace

void Emulate(std::span<const Launch> launches, std::span<const Pass> passes,
             const Memories& memories) {
  Floats shared;
  for (const Launch& launch : launches) {
    const Block make = BlockOf(launch);
    for (const Pass& pass : passes.subspan(static_cast<std::size_t>(launch.first),
                                           static_cast<std::size_t>(launch.count))) {
      for (int block = 0; block < launch.blocks; ++block) {
        if (block >= pass.blocks) break;
        const unsigned grey = make(pass, memories, block, shared);
        if (pass.sum >= 0) memories.sums[pass.sum] += grey;
      }
    }
  }
}

}  // namespace penstock::cuda
