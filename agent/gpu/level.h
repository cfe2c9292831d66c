// SPDX-License-Identifier: Apache-2.0
//
// How much of the GPU is to be recorded in this process, and how much it came to.
// Threads: any; facts are written by the caller.
#pragma once

#include <stdint.h>

namespace penstock::agent {

// PENSTOCK_GPU. kYield: all but CUPTI, whose one place is left to the program's own profiler.
enum class GpuLevel : uint32_t { kOff, kNvtx, kNvml, kCalls, kYield, kCupti, kAuto };

// Reads PENSTOCK_GPU and points NVTX and the driver at the agent, where nobody else has pointed
// them anywhere. Called once, by the constructor, with the functions of boot.cc on the environment.
void StartGpu(const char* level, const char* (*variable)(const char*),
              void (*set)(const char*, const char*));

// What was asked for; kOff where nothing is recorded.
GpuLevel AskedGpuLevel();
// True where calls of the CUDA runtime are to be recorded by its exported functions: CUPTI was not
// asked for, or was not to be had.
bool HooksCudaCalls();

// "cupti", ...
const char* NameOf(GpuLevel level);

// The level that this process has come to, and why not more (""): into its facts, and the hooks on
// the runtime are switched accordingly.
void ReachGpuLevel(GpuLevel level, const char* reason);
// The hooks on the runtime record their first call: in a process that CUPTI is not asked in, that
// is when its level is reached.
void NoteCudaCalls();
// Calls of the runtime that the hooks passed through while CUPTI recorded: what it is to tell of.
struct CudaCalls {
  uint64_t all;
  uint64_t copies;  // of them, those between host and device
};
void CountCudaCall(bool copies);
CudaCalls CountedCudaCalls();
// A fact of this process.
void GpuFact(const char* key, const char* value);
void GpuFact(const char* key, uint64_t value);

}  // namespace penstock::agent
