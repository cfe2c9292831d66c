// SPDX-License-Identifier: Apache-2.0
//
// How much of the GPU is asked to be recorded in this process, and how much can be.
// Threads: any; facts are written by the caller.
#pragma once

#include <stdint.h>

namespace penstock::agent {

// The values of PENSTOCK_GPU. kYield: all but CUPTI, which only one tool can use and which is left
// to the program's own profiler.
enum class GpuLevel : uint32_t { kOff, kNvtx, kNvml, kCalls, kYield, kCupti, kAuto };

// Takes the value of PENSTOCK_GPU, and makes NVTX and the driver load the agent, unless their
// variables are set. Called once, by the constructor. `variable` and `set` are the functions of
// boot.cc on the environment.
void StartGpu(const char* level, const char* (*variable)(const char*),
              void (*set)(const char*, const char*));

// What PENSTOCK_GPU asked for; kOff where nothing is recorded.
GpuLevel AskedGpuLevel();
// True if the hooks on the CUDA runtime's exported functions write records (level kCalls), because
// CUPTI cannot be used or the program keeps it.
bool HooksCudaCalls();

// "cupti", ...
const char* NameOf(GpuLevel level);

// Writes the level that this process has reached, and the reason why not more ("": none), into its
// facts. Lets the hooks on the CUDA runtime record, or stops them, by that level.
void ReachGpuLevel(GpuLevel level, const char* reason);
// Called by the hooks on the CUDA runtime when they write a record. The first call says that level
// kCalls is reached, unless ReachGpuLevel() was called before.
void NoteCudaCalls();
// Calls of the CUDA runtime that the hooks only passed on, since CUPTI should record them.
struct CudaCalls {
  uint64_t all;
  uint64_t copies;  // those between host and device
};
// Counts one. `copies`: between host and device.
void CountCudaCall(bool copies);
CudaCalls CountedCudaCalls();
// Writes a fact of this process.
void GpuFact(const char* key, const char* value);
void GpuFact(const char* key, uint64_t value);

}  // namespace penstock::agent
