// SPDX-License-Identifier: Apache-2.0

#include "agent/gpu/level.h"

#include "agent/core/process.h"
#include "agent/core/recorder.h"
#include "agent/core/text.h"
#include "agent/core/thread_state.h"
#include "agent/system/strings.h"
#include "agent/system/sys.h"

namespace penstock::agent {
namespace {

GpuLevel g_asked = GpuLevel::kOff;
// Atomic, bool: the hooks on the CUDA runtime write records. StartGpu() sets it if it is clear by
// then that CUPTI cannot be used. ReachGpuLevel() sets or clears it once the level is known.
uint32_t g_hook_calls = 0;
// The libraries that CUDA_INJECTION64_PATH and NVTX_INJECTION64_PATH name instead of the agent, ""
// if none. These are copies, since the program may free its environment.
char g_other_cuda_tool[512] = "";
char g_other_nvtx_tool[512] = "";
uint32_t g_told = 0;                 // atomic, bool: the facts name the other tools
uint32_t g_reached = 0;              // atomic, bool: the level is known
alignas(64) CudaCalls g_calls = {};  // atomics, relaxed; written by every thread

struct LevelName {
  GpuLevel level;
  const char* name;
};
constexpr LevelName kNames[] = {
    {GpuLevel::kOff, "off"},     {GpuLevel::kNvtx, "nvtx"},   {GpuLevel::kNvml, "nvml"},
    {GpuLevel::kCalls, "calls"}, {GpuLevel::kYield, "yield"}, {GpuLevel::kCupti, "cupti"},
    {GpuLevel::kAuto, "auto"},
};

bool Same(const char* a, const char* b) {
  return StartsWith(a, b) && a[Length(b)] == 0;
}

// Sets the variable `name` to the agent's path. If it names another library already, leaves it so
// and copies that path to `other`.
template <size_t kSize>
void PointToAgent(const char* name, const char* (*variable)(const char*),
                  void (*set)(const char*, const char*), char (&other)[kSize]) {
  const char* present = variable(name);
  if (present == nullptr || present[0] == 0) {
    set(name, g_config.agent);
  } else if (!Same(present, g_config.agent)) {
    Text{other, kSize}.Add(present);
  }
}

}  // namespace

const char* NameOf(GpuLevel level) {
  for (const LevelName& known : kNames) {
    if (known.level == level) {
      return known.name;
    }
  }
  return "off";
}

void StartGpu(const char* level, const char* (*variable)(const char*),
              void (*set)(const char*, const char*)) {
  g_asked = GpuLevel::kAuto;
  for (const LevelName& known : kNames) {
    if (level != nullptr && Same(level, known.name)) {
      g_asked = known.level;
    }
  }
  if (g_asked == GpuLevel::kOff) {
    return;
  }
  PointToAgent("NVTX_INJECTION64_PATH", variable, set, g_other_nvtx_tool);
  const bool cupti = g_asked == GpuLevel::kCupti || g_asked == GpuLevel::kAuto;
  if (cupti) {
    PointToAgent("CUDA_INJECTION64_PATH", variable, set, g_other_cuda_tool);
  }
  const bool calls = g_asked == GpuLevel::kCalls || g_asked == GpuLevel::kYield;
  if (calls || g_other_cuda_tool[0] != 0) {
    __atomic_store_n(&g_hook_calls, 1u, __ATOMIC_RELAXED);
  }
}

GpuLevel AskedGpuLevel() {
  return g_asked;
}

bool HooksCudaCalls() {
  return __atomic_load_n(&g_hook_calls, __ATOMIC_RELAXED) != 0;
}

void CountCudaCall(bool copies) {
  __atomic_fetch_add(&g_calls.all, uint64_t{1}, __ATOMIC_RELAXED);
  if (copies) {
    __atomic_fetch_add(&g_calls.copies, uint64_t{1}, __ATOMIC_RELAXED);
  }
}

CudaCalls CountedCudaCalls() {
  return {__atomic_load_n(&g_calls.all, __ATOMIC_RELAXED),
          __atomic_load_n(&g_calls.copies, __ATOMIC_RELAXED)};
}

void GpuFact(const char* key, const char* value) {
  char line[1024];
  Text text{line, sizeof line};
  text.Add(key).Add("=").Add(value);
  EmitText(wire::kTextFact, wire::HashOf(key, Length(key)), line, text.size);
}

void GpuFact(const char* key, uint64_t value) {
  char number[24];
  Text text{number, sizeof number};
  text.Number(value);
  GpuFact(key, number);
}

void NoteCudaCalls() {
  if (__builtin_expect(__atomic_load_n(&g_reached, __ATOMIC_RELAXED) != 0, 1) ||
      __atomic_exchange_n(&g_reached, 1u, __ATOMIC_RELAXED) != 0) {
    return;
  }
  ReachGpuLevel(GpuLevel::kCalls, g_asked == GpuLevel::kYield ? "CUPTI is left to the program"
                                  : g_other_cuda_tool[0] != 0
                                      ? "CUDA_INJECTION64_PATH names another tool"
                                      : "");
}

void ReachGpuLevel(GpuLevel level, const char* reason) {
  __atomic_store_n(&g_reached, 1u, __ATOMIC_RELAXED);
  if (level == GpuLevel::kNvtx && g_asked != GpuLevel::kNvtx && g_asked != GpuLevel::kNvml) {
    level = GpuLevel::kCalls;  // the hooks on the CUDA runtime record instead of CUPTI
  }
  __atomic_store_n(&g_hook_calls, level == GpuLevel::kCalls ? 1u : 0u, __ATOMIC_RELAXED);
  GpuFact("gpu.level", NameOf(level));
  if (reason[0] != 0) {
    GpuFact("gpu.reason", reason);
  }
  if (__atomic_exchange_n(&g_told, 1u, __ATOMIC_RELAXED) == 0) {
    if (g_other_nvtx_tool[0] != 0) {
      GpuFact("gpu.nvtx_tool", g_other_nvtx_tool);
    }
    if (g_other_cuda_tool[0] != 0) {
      GpuFact("gpu.cuda_tool", g_other_cuda_tool);
    }
  }
}

}  // namespace penstock::agent
