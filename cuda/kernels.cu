// SPDX-License-Identifier: Apache-2.0
//
// The kernels: bodies from tile_bodies.h and point_bodies.h with barriers between them. A row of
// the grid is a pass, so one launch serves a whole batch of pictures.
#include <cuda_runtime.h>

#include "cuda/kernels.h"
#include "cuda/point_bodies.h"
#include "cuda/tile_bodies.h"

namespace penstock::cuda {
namespace {

// Adds up `grey` over the block. Greys are integers, so the order does not matter.
__device__ void AddGrey(const Pass& pass, const Memories& memories, unsigned grey) {
  if (pass.sum < 0) return;  // the same for the whole block
  __shared__ unsigned partial[kRows];
  for (int distance = kLanes / 2; distance > 0; distance /= 2) {
    grey += __shfl_down_sync(0xFFFFFFFFU, grey, distance);
  }
  if (threadIdx.x == 0) partial[threadIdx.y] = grey;
  __syncthreads();
  if (threadIdx.x != 0 || threadIdx.y != 0) return;
  unsigned long long sum = 0;
  for (const unsigned part : partial) sum += part;
  atomicAdd(memories.sums + pass.sum, sum);
}

__device__ int Thread() {
  return static_cast<int>(threadIdx.y) * kLanes + static_cast<int>(threadIdx.x);
}

// FetchPass() copies the block's pass to shared memory. If the pass stayed in global memory, the
// compiler would read it again after each store of a pixel. All threads of the block call this; it
// ends with a barrier. A launch has as many blocks for each pass as the largest pass needs, so a
// block may have nothing to do.
struct alignas(16) PassBytes {
  unsigned word[sizeof(Pass) / sizeof(unsigned)];
};
static_assert(sizeof(Pass) % sizeof(unsigned) == 0 && alignof(Pass) <= alignof(PassBytes));

__device__ const Pass& FetchPass(const Pass* passes, PassBytes& shared) {
  const auto* from = reinterpret_cast<const unsigned*>(passes + blockIdx.y);
  constexpr int kWords = sizeof(Pass) / sizeof(unsigned);
  static_assert(kWords <= kThreads);
  if (Thread() < kWords) shared.word[Thread()] = from[Thread()];
  __syncthreads();
  return reinterpret_cast<const Pass&>(shared);
}

template <bool kBlur, Ending kEnding>
__global__ void __launch_bounds__(kThreads, kEnding == Ending::kAny ? 3 : 4)
    TiledPasses(const Pass* passes, Memories memories) {
  extern __shared__ __align__(16) float shared[];
  __shared__ PassBytes bytes;
  const Pass& pass = FetchPass(passes, bytes);
  const int number = static_cast<int>(blockIdx.x);
  if (number >= pass.blocks) return;
  const int lane = static_cast<int>(threadIdx.x);
  const int row = static_cast<int>(threadIdx.y);
  TileBlock block = TileBlockOf(pass, number, shared);
  const unsigned found = PlaceTaps<kBlur>(pass, memories, block, Thread());
  const bool last_x = __syncthreads_or((found & kLastTapX) != 0) != 0;
  const bool last_y = __syncthreads_or((found & kLastTapY) != 0) != 0;
  SetReads<kBlur>(pass, memories, last_x, last_y, &block);
  unsigned grey = 0;
  for (int above = 0; above < block.box.height; above += pass.tile.height) {
    if (above != 0) __syncthreads();
    const TileBlock strip = StripOf(pass, block, above);
    TileDown<kBlur>(pass, memories, strip, lane, row);
    __syncthreads();
    grey += TileAcross<kEnding>(pass, memories, strip, lane, row);
  }
  if constexpr (kEnding == Ending::kAny) AddGrey(pass, memories, grey);
}

template <Ending kEnding>
__global__ void __launch_bounds__(kThreads, 4) PixelPasses(const Pass* passes, Memories memories) {
  __shared__ PassBytes bytes;
  const Pass& pass = FetchPass(passes, bytes);
  const int number = static_cast<int>(blockIdx.x);
  if (number >= pass.blocks) return;
  const unsigned grey = WindowPixels<kEnding>(pass, memories, number, Thread());
  if constexpr (kEnding == Ending::kAny) AddGrey(pass, memories, grey);
}

__global__ void __launch_bounds__(kThreads) StreamPasses(const Pass* passes, Memories memories) {
  __shared__ PassBytes bytes;
  const Pass& pass = FetchPass(passes, bytes);
  const int number = static_cast<int>(blockIdx.x);
  if (number < pass.blocks) StreamPixels(pass, memories, number, Thread());
}

// The kernel for a launch.
using Kernel = void (*)(const Pass*, Memories);
Kernel KernelOf(const Launch& launch) {
  return WithEnding(launch.ending, [&](auto ending) -> Kernel {
    constexpr Ending kEnding = decltype(ending)::value;
    switch (launch.kind) {
      case Launch::Kind::kTiled:
        return TiledPasses<false, kEnding>;
      case Launch::Kind::kBlur:
        return TiledPasses<true, kEnding>;
      case Launch::Kind::kPixels:
        return PixelPasses<kEnding>;
      default:
        return StreamPasses;
    }
  });
}

}  // namespace

int StartLaunch(const Launch& launch, const Pass* passes, const Memories& memories, void* stream) {
  constexpr int kMostRows = 65535;  // of a grid
  const dim3 threads(kLanes, kRows);
  const Kernel kernel = KernelOf(launch);
  auto* const queue = static_cast<cudaStream_t>(stream);
  for (int first = 0; first < launch.count; first += kMostRows) {
    const dim3 grid(static_cast<unsigned>(launch.blocks),
                    static_cast<unsigned>(Least(launch.count - first, kMostRows)));
    const Pass* from = passes + launch.first + first;
    kernel<<<grid, threads, static_cast<unsigned>(launch.shared_bytes), queue>>>(from, memories);
    if (const cudaError_t error = cudaGetLastError(); error != cudaSuccess) return error;
  }
  return cudaSuccess;
}

int FindKernels() {
  cudaFuncAttributes attributes{};
  return cudaFuncGetAttributes(&attributes, StreamPasses);
}

}  // namespace penstock::cuda
