// SPDX-License-Identifier: Apache-2.0
//
// The kernels: bodies from tile_bodies.h and point_bodies.h with barriers between them. A row of
// the grid is a pass, so that one launch serves the pictures of a whole batch.
#include <cuda_runtime.h>

#include "cuda/kernels.h"
#include "cuda/point_bodies.h"
#include "cuda/tile_bodies.h"

namespace penstock::cuda {
namespace {

// Adds up `grey` over the block; integers, so the order does not matter.
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

// The block's pass in shared memory, where stores of pixels do not make the compiler read it again
// from global memory. For all threads of the block; ends with a barrier.
struct alignas(16) PassBytes {
  unsigned word[sizeof(Pass) / sizeof(unsigned)];
};
static_assert(sizeof(Pass) % sizeof(unsigned) == 0 && alignof(Pass) <= alignof(PassBytes));

__device__ const Pass& FetchPass(const Pass* passes, PassBytes& shared) {
  const auto* from = reinterpret_cast<const unsigned*>(passes + blockIdx.y);
  constexpr int kWords = sizeof(Pass) / sizeof(unsigned);
  for (int i = Thread(); i < kWords; i += kThreads) shared.word[i] = from[i];
  __syncthreads();
  return reinterpret_cast<const Pass&>(shared);
}

// Blocks beyond those of their pass: the launch has as many as the largest pass needs.
__device__ bool IsBeyond(const Pass* passes) {
  return static_cast<int>(blockIdx.x) >= passes[blockIdx.y].blocks;
}

__global__ void __launch_bounds__(kThreads) TiledPasses(const Pass* passes, Memories memories) {
  extern __shared__ float shared[];
  __shared__ PassBytes bytes;
  if (IsBeyond(passes)) return;
  const Pass& pass = FetchPass(passes, bytes);
  const int number = static_cast<int>(blockIdx.x);
  const int lane = static_cast<int>(threadIdx.x);
  const int row = static_cast<int>(threadIdx.y);
  const TileBlock block = TileBlockOf(pass, number, shared);
  PlaceTaps(pass, memories, block, Thread());
  __syncthreads();
  TileDown(pass, memories, block, lane, row);
  __syncthreads();
  AddGrey(pass, memories, TileAcross(pass, memories, block, lane, row));
}

__global__ void __launch_bounds__(kThreads) PixelPasses(const Pass* passes, Memories memories) {
  __shared__ PassBytes bytes;
  if (IsBeyond(passes)) return;
  const Pass& pass = FetchPass(passes, bytes);
  const int index = static_cast<int>(blockIdx.x) * kThreads + Thread();
  const bool inside = index < pass.kept.width * pass.kept.height;
  AddGrey(pass, memories, inside ? WindowPixel(pass, memories, index) : 0U);
}

__global__ void __launch_bounds__(kThreads) StreamPasses(const Pass* passes, Memories memories) {
  __shared__ PassBytes bytes;
  if (IsBeyond(passes)) return;
  const Pass& pass = FetchPass(passes, bytes);
  const int index = static_cast<int>(blockIdx.x) * kThreads + Thread();
  if (index < pass.kept.width / 4 * pass.kept.height) StreamFour(pass, memories, index);
}

}  // namespace

int StartLaunch(const Launch& launch, const Pass* passes, const Memories& memories, void* stream) {
  constexpr int kMostRows = 65535;  // of a grid
  const dim3 threads(kLanes, kRows);
  auto* const queue = static_cast<cudaStream_t>(stream);
  for (int first = 0; first < launch.count; first += kMostRows) {
    const dim3 grid(static_cast<unsigned>(launch.blocks),
                    static_cast<unsigned>(Least(launch.count - first, kMostRows)));
    const Pass* from = passes + launch.first + first;
    if (launch.kind == Launch::Kind::kTiled) {
      TiledPasses<<<grid, threads, static_cast<unsigned>(launch.shared_bytes), queue>>>(from,
                                                                                        memories);
    } else if (launch.kind == Launch::Kind::kPixels) {
      PixelPasses<<<grid, threads, 0, queue>>>(from, memories);
    } else {
      StreamPasses<<<grid, threads, 0, queue>>>(from, memories);
    }
    if (const cudaError_t error = cudaGetLastError(); error != cudaSuccess) return error;
  }
  return cudaSuccess;
}

int FindKernels() {
  cudaFuncAttributes attributes{};
  return cudaFuncGetAttributes(&attributes, TiledPasses);
}

}  // namespace penstock::cuda
