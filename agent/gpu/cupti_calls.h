// SPDX-License-Identifier: Apache-2.0
//
// What CUPTI is asked to record: kinds of records, and calls that copy, launch, wait or allocate.
// The numbers of the calls are CUPTI's, which never change once a call is added.
// tests/agent/gpu/cupti_layout_test.cc compares them with CUPTI's headers.
#pragma once

#include <stdint.h>

#include "agent/gpu/cupti_abi.h"

namespace penstock::agent::cupti {

inline constexpr uint32_t kRecordedKinds[] = {kMemcpy,     kMemset,          kConcurrentKernel,
                                              kMemcpyPeer, kSynchronization, kOverhead,
                                              kRuntime,    kDriver};

inline constexpr uint16_t kRuntimeCalls[] = {
    25,  27,  26,  152, 153,  // cudaMallocHost, HostAlloc, FreeHost, HostRegister, HostUnregister
    20,  22,  373, 374, 375, 376,       // cudaMalloc, cudaFree, ...Async
    31,  32,  39,  41,  44,  144, 145,  // cudaMemcpy, 2D, ToSymbol, Async, 2DAsync, 3D, 3DAsync
    225, 228, 246, 160, 161,            // cudaMemcpyAsync_ptsz, 2D, 3D, cudaMemcpyPeer, PeerAsync
    215, 216, 223, 245, 233,            // cudaMemcpy_ptds, 2D, ToSymbol, 3D, cudaMemset_ptds
    482, 483, 509, 510,                 // cudaMemcpyBatchAsync
    49,  51,  235, 252, 253, 449, 450,  // cudaMemset, MemsetAsync, MemPrefetchAsync
    131, 239, 137, 165,                 // cudaStreamSynchronize, Event-, Device-
    211, 214, 430, 431, 269, 270, 505, 506,  // cudaLaunchKernel, ExC, Cooperative, of CUDA 13
    311, 312,                                // cudaGraphLaunch
};

// Calls of programs that use the driver directly (Triton, JAX). They are recorded where CUPTI can
// record single calls (kChoosesCalls). If a call of the runtime makes a driver call, both have the
// same correlation, and AddCall() keeps the runtime call. But waits and allocations are written at
// once: if the record of such a driver call comes first, AddCall() keeps the driver call.
inline constexpr uint16_t kDriverCalls[] = {
    39,  294, 379,                           // cuMemHostAlloc, cuMemAllocHost, cuMemHostRegister
    276, 277, 278, 279, 305, 306,            // cuMemcpyHtoD, Async, DtoH, Async, cuMemcpy, Async
    397, 421, 398, 422, 408, 418,            // ..._ptds, ..._ptsz
    17,  121, 126, 440,                      // cuCtxSynchronize, Event-, Stream-
    307, 442, 477, 478, 514, 515, 652, 653,  // cuLaunchKernel, Cooperative, cuGraphLaunch, KernelEx
};

}  // namespace penstock::agent::cupti
