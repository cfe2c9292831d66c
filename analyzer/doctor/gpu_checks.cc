// SPDX-License-Identifier: Apache-2.0
//
// How much of the GPU a recording will see, as far as environment variables tell. The driver and
// NVTX each load only one tool, and only one user at a time can have CUPTI.
#include <array>
#include <string>
#include <string_view>

#include <fmt/core.h>

#include "analyzer/doctor/doctor.h"

namespace penstock::analyzer {
namespace {

bool IsElsewhere(std::string_view tool) {
  return !tool.empty() && tool.find(kAgentLibrary) == std::string_view::npos;
}

}  // namespace

void CheckGpuTools(const DoctorInput& input, Checks& checks) {
  const std::string_view cuda = Variable(input, "CUDA_INJECTION64_PATH");
  if (IsElsewhere(cuda)) {
    checks.push_back({"cuda-injection", Health::kWarn,
                      fmt::format("CUDA_INJECTION64_PATH names {}", cuda),
                      "the driver loads that tool: kernels and copies on the device are not seen, "
                      "only calls of a dynamically linked CUDA runtime",
                      "unset CUDA_INJECTION64_PATH while recording"});
  }
  const std::string_view nvtx = Variable(input, "NVTX_INJECTION64_PATH");
  if (IsElsewhere(nvtx)) {
    const bool cupti = nvtx.find("libcupti") != std::string_view::npos;
    checks.push_back(
        {"nvtx-injection", Health::kWarn, fmt::format("NVTX_INJECTION64_PATH names {}", nvtx),
         cupti ? "the program's ranges are not seen; the first one makes that tool use "
                 "CUPTI, which only one tool can: kernels and copies are not seen"
               : "the program's ranges are not seen",
         "unset NVTX_INJECTION64_PATH while recording"});
  }
  for (const char* name : {"NSYS_PROFILING_SESSION_ID", "NV_NSIGHT_INJECTION_PORT_BASE",
                           "NV_COMPUTE_PROFILER_PERFWORKS_DIR"}) {
    if (Variable(input, name).empty()) continue;
    checks.push_back({"nsight", Health::kWarn, fmt::format("{} is set: Nsight is at work", name),
                      "it uses CUPTI, which only one tool can: kernels and copies are not seen",
                      "record without Nsight"});
    break;
  }
  if (!Variable(input, "KINETO_USE_DAEMON").empty()) {
    checks.push_back({"kineto", Health::kWarn, "KINETO_USE_DAEMON is set",
                      "PyTorch's own profiler takes CUPTI at import, which only one tool can use: "
                      "kernels and copies are not seen",
                      "unset it, or record with --gpu yield and import its trace"});
  }
}

}  // namespace penstock::analyzer
