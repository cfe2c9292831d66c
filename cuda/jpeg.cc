// SPDX-License-Identifier: Apache-2.0
#include "cuda/jpeg.h"

#include <array>
#include <utility>

#include <fmt/format.h>

#include "cuda/jpeg_backends.h"

namespace penstock::cuda {
namespace {

struct Named {
  JpegBackend backend;
  std::string_view name;
};
constexpr std::array<Named, 4> kBackends = {{{JpegBackend::kAuto, "auto"},
                                             {JpegBackend::kHardware, "hardware"},
                                             {JpegBackend::kGpuHybrid, "gpu-hybrid"},
                                             {JpegBackend::kHybrid, "hybrid"}}};

}  // namespace

Result<JpegBackend> ParseJpegBackend(std::string_view text) {
  for (const Named& named : kBackends) {
    if (named.name == text) return named.backend;
  }
  return Fail(ErrorKind::kUsage,
              fmt::format("{}: there is auto, hardware, gpu-hybrid and hybrid", text));
}

std::string_view JpegBackendName(JpegBackend backend) {
  for (const Named& named : kBackends) {
    if (named.backend == backend) return named.name;
  }
  return "auto";
}

Result<std::unique_ptr<JpegBatches>> JpegBatches::Make(const JpegOptions& options, Device& device) {
  const Result<nvjpeg::Library> library = nvjpeg::Library::Open(options.path);
  PENSTOCK_TRY(library);
  JpegOptions chosen = options;
  if (options.backend == JpegBackend::kAuto) {
    if (auto engines = MakeJpegEngines(*library, options)) return engines;
    chosen.backend = JpegBackend::kGpuHybrid;
  }
  if (chosen.backend == JpegBackend::kHardware) return MakeJpegEngines(*library, chosen);
  return MakeJpegPhases(*library, chosen, device);
}

}  // namespace penstock::cuda
