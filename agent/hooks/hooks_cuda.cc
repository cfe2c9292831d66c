// SPDX-License-Identifier: Apache-2.0
//
// Hooks on exported functions of the CUDA runtime, for use without CUPTI. They record how long the
// program was in a copy or a wait, how many bytes were copied, and in which direction. They do not
// see the device's work. They see no calls of programs that link the runtime statically. While
// CUPTI records, a call is only counted. In a process that is not recorded, a call is only passed
// on. Each hook calls the definition that its caller would have got without the hook, so two
// runtimes in one process keep their own functions. The runtime does not throw and does not
// longjmp.

#include "agent/core/text.h"
#include "agent/core/thread_state.h"
#include "agent/gpu/level.h"
#include "agent/hooks/hook.h"
#include "agent/system/strings.h"

namespace penstock::agent {
namespace {

constexpr int kNoRuntime = 35;  // cudaErrorInsufficientDriver: the caller's runtime has gone

// The direction of a copy, from the call's arguments. These do not tell whether memory of the host
// is pinned.
const char* Direction(int kind) {
  switch (kind) {
    case 0:
      return "H2H";
    case 1:
      return "H2D";
    case 2:
      return "D2H";
    case 3:
      return "D2D";
    default:
      return nullptr;  // the runtime finds the direction from the addresses
  }
}

void Record(Stage stage, const char* function, const char* direction, uint64_t bytes,
            uint64_t start) {
  const uint64_t end = Now();
  const int saved = errno;
  const ThreadState* s = Self();
  if (s != nullptr) {
    NoteCudaCalls();
    char line[64];
    Text name{line, sizeof line};
    name.Add(function);
    if (direction != nullptr) {
      name.Add(": ").Add(direction);
    }
    EmitAt(s->context, {.stage = stage,
                        .name = static_cast<uint32_t>(Intern(line, name.size)),
                        .start = start,
                        .duration = end > start ? end - start : 0,
                        .bytes = bytes});
  }
  errno = saved;
}

// Calls the real function and records the call. Decides after the call whether to record it, since
// the first call may initialise CUDA.
template <class Function, class... Arguments>
int Through(Symbol* symbol, void* caller, Stage stage, const char* direction, uint64_t bytes,
            Arguments... arguments) {
  auto* real = reinterpret_cast<Function*>(RealForCaller(symbol, caller));
  if (real == nullptr) {
    CountMiss();
    return kNoRuntime;
  }
  const uint64_t start = Now();
  const int status = real(arguments...);
  if (!Recording()) {
    return status;
  }
  if (HooksCudaCalls()) {
    Record(stage, symbol->name, direction, bytes, start);
  } else if (status == 0) {
    CountCudaCall(direction != nullptr && direction[0] != direction[2] && bytes != 0);
  }
  return status;
}

}  // namespace
}  // namespace penstock::agent

#define PENSTOCK_CUDA(name, parameters, stage, direction, bytes, ...)                      \
  PENSTOCK_EXPORT int name parameters {                                                    \
    using namespace penstock::agent; /* NOLINT: in a macro of this file */                 \
    static Symbol symbol = {#name, nullptr};                                               \
    return Through<int parameters>(&symbol, __builtin_return_address(0), stage, direction, \
                                   bytes __VA_OPT__(, ) __VA_ARGS__);                      \
  }

namespace wire = penstock::wire;

PENSTOCK_CUDA(cudaMemcpy, (void* to, const void* from, size_t size, int kind), wire::kCall,
              Direction(kind), size, to, from, size, kind)
PENSTOCK_CUDA(cudaMemcpy_ptds, (void* to, const void* from, size_t size, int kind), wire::kCall,
              Direction(kind), size, to, from, size, kind)
PENSTOCK_CUDA(cudaMemcpyAsync, (void* to, const void* from, size_t size, int kind, void* stream),
              wire::kCall, Direction(kind), size, to, from, size, kind, stream)
PENSTOCK_CUDA(cudaMemcpyAsync_ptsz,
              (void* to, const void* from, size_t size, int kind, void* stream), wire::kCall,
              Direction(kind), size, to, from, size, kind, stream)
PENSTOCK_CUDA(cudaMemcpy2DAsync,
              (void* to, size_t to_pitch, const void* from, size_t from_pitch, size_t width,
               size_t height, int kind, void* stream),
              wire::kCall, Direction(kind), width* height, to, to_pitch, from, from_pitch, width,
              height, kind, stream)
PENSTOCK_CUDA(cudaStreamSynchronize, (void* stream), wire::kSync, nullptr, 0, stream)
PENSTOCK_CUDA(cudaStreamSynchronize_ptsz, (void* stream), wire::kSync, nullptr, 0, stream)
PENSTOCK_CUDA(cudaEventSynchronize, (void* event), wire::kSync, nullptr, 0, event)
PENSTOCK_CUDA(cudaDeviceSynchronize, (), wire::kSync, nullptr, 0)
PENSTOCK_CUDA(cudaHostAlloc, (void** memory, size_t size, unsigned flags), wire::kCall, nullptr,
              size, memory, size, flags)
PENSTOCK_CUDA(cudaMallocHost, (void** memory, size_t size), wire::kCall, nullptr, size, memory,
              size)
