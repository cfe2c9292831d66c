// SPDX-License-Identifier: Apache-2.0
//
// How much of the GPU is asked to be recorded in this process, and how much can be.
// Threads: any; facts are written by the caller.
#pragma once

#include <stdint.h>

namespace penstock::agent {

// The values of PENSTOCK_GPU. kYield: everything except CUPTI. Only one tool can use CUPTI, and the
// program's own profiler gets it.
enum class GpuLevel : uint32_t { kOff, kNvtx, kNvml, kCalls, kYield, kCupti, kAuto };

// Takes the value of PENSTOCK_GPU, and makes NVTX and the driver load the agent, unless
// CUDA_INJECTION64_PATH or NVTX_INJECTION64_PATH already names another library. Called once, by the
// constructor. `variable` and `set` are the functions of boot.cc on the environment.
void StartGpu(const char* level, const char* (*variable)(const char*),
              void (*set)(const char*, const char*));

// What PENSTOCK_GPU asked for; kOff if nothing is recorded.
GpuLevel AskedGpuLevel();
// True if the hooks on the CUDA runtime's exported functions write records (level kCalls), because
// CUPTI cannot be used or the program keeps it.
bool HooksCudaCalls();

// "cupti", ...
const char* NameOf(GpuLevel level);

// Writes into the facts of this process the level that it has reached, and why it has reached no
// higher one ("": no reason). The level decides whether the hooks on the CUDA runtime record.
void ReachGpuLevel(GpuLevel level, const char* reason);
// Called by the hooks on the CUDA runtime when they write a record. The first call reports that
// level kCalls is reached, unless ReachGpuLevel() was called before.
void NoteCudaCalls();
// Calls of the CUDA runtime that the hooks only passed on, since CUPTI should record them.
struct CudaCalls {
  uint64_t all;
  uint64_t copies;  // those between host and device
};
// Counts one such call. `copies`: it copies between host and device.
void CountCudaCall(bool copies);
CudaCalls CountedCudaCalls();
// Writes a fact of this process.
void GpuFact(const char* key, const char* value);
void GpuFact(const char* key, uint64_t value);

}  // namespace penstock::agent
