// SPDX-License-Identifier: Apache-2.0
#include "analyzer/report/coverage.h"

#include <algorithm>
#include <array>
#include <set>

#include <fmt/core.h>

namespace penstock::analyzer {
namespace {

struct Entry {
  std::string_view part;  // of the path, lower case
  Sight sight;
  std::string_view what;
};

// First match decides: special cases come before the libraries that they contain.
constexpr std::array kLibraries = {
    Entry{"nvjpeg2k", Sight::kBlind, "JPEG 2000 decoding on the GPU (nvJPEG2000)"},
    Entry{"nvjpeg", Sight::kBlind, "JPEG decoding on the GPU (nvJPEG)"},
    Entry{"nvimgcodec", Sight::kBlind, "image decoding on the GPU (nvImageCodec)"},
    Entry{"libdali", Sight::kBlind, "NVIDIA DALI: its operators are known by its NVTX ranges only"},
    Entry{"simplejpeg", Sight::kBlind, "simplejpeg: it carries libjpeg-turbo inside itself"},
    Entry{"tensorflow", Sight::kBlind,
          "TensorFlow: of what its threads do, reads and JPEG and PNG decoding are seen"},
    Entry{"decord", Sight::kBlind, "video decoding (decord)"},
    Entry{"torchcodec", Sight::kBlind, "video decoding (TorchCodec)"},
    Entry{"libavcodec", Sight::kBlind, "video decoding (FFmpeg, libavcodec)"},
    Entry{"libnvcuvid", Sight::kBlind, "video decoding on the GPU (NVDEC)"},
    Entry{"libcufile", Sight::kBlind, "reads straight into GPU memory (GPUDirect Storage, cuFile)"},
    Entry{"libaio", Sight::kBlind, "asynchronous reads (libaio)"},
    // Not hooked by symbol; Pillow's and OpenCV's use of them is, from Python.
    Entry{"libheif", Sight::kPython, "HEIF decoding (libheif)"},
    Entry{"libavif", Sight::kPython, "AVIF decoding (libavif)"},
    Entry{"libdav1d", Sight::kPython, "AVIF decoding (dav1d)"},
    Entry{"libtiff", Sight::kPython, "TIFF decoding (libtiff)"},
    Entry{"libopenjp2", Sight::kPython, "JPEG 2000 decoding (OpenJPEG)"},
    Entry{"libjxl", Sight::kPython, "JPEG XL decoding (libjxl)"},
    Entry{"kvikio", Sight::kBlind, "reads straight into GPU memory (KvikIO)"},
    Entry{"/cv2/", Sight::kPython, "OpenCV"},
    Entry{"opencv", Sight::kPython, "OpenCV"},
    Entry{"libturbojpeg", Sight::kSeen, "libjpeg-turbo"},
    Entry{"libjpeg", Sight::kSeen, "libjpeg"},
    Entry{"libpng", Sight::kSeen, "libpng"},
    Entry{"libwebp", Sight::kSeen, "libwebp"},
};

struct Feature {
  std::uint32_t bit;
  std::string_view what;
};
constexpr std::array kFeatures = {
    Feature{wire::kFeatureIoUring,
            "reads through io_uring: they pass every hook, so `read` is "
            "short of them"},
    Feature{wire::kFeatureAio, "asynchronous reads (libaio): `read` is short of them"},
    Feature{wire::kFeatureMapped,
            "mapped files: their bytes come in as page faults, inside the decode or transform that "
            "touches them"},
    Feature{wire::kFeatureIsolated,
            "an isolated Python (-I or -E): loader, transforms and OpenCV were not hooked"},
    Feature{wire::kFeatureSandboxed,
            "a process that locked itself in (seccomp): nothing of it was recorded from then on"},
    Feature{wire::kFeatureLimited,
            "a process whose limits of memory (ulimit -v, -d, -l) leave no room for the recording: "
            "what it did is counted as lost"},
};

std::string Lower(std::string_view text) {
  std::string lower(text);
  std::transform(lower.begin(), lower.end(), lower.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  return lower;
}

}  // namespace

double Coverage::fraction() const {
  if (!known || bytes_total == 0) return known ? 1 : 0;
  return std::min(1.0, static_cast<double>(bytes_seen) / static_cast<double>(bytes_total));
}

LibrarySight SightOf(std::string_view path) {
  const std::string lower = Lower(path);
  for (const Entry& entry : kLibraries) {
    if (lower.find(entry.part) != std::string::npos) return {entry.sight, entry.what};
  }
  return {};
}

Coverage MeasureCoverage(const traces::Trace& trace) {
  Coverage coverage;
  std::set<std::string> blind;
  std::uint64_t misses = 0;
  for (const traces::ProcessInfo& process : trace.processes()) {
    coverage.network += process.bytes_network.value;
    coverage.mapped += process.bytes_mapped.value;
    misses += process.hook_misses;
    if (process.bytes_kernel.value > 0) {
      coverage.known = true;
      // A process cannot have seen more than there was: the surplus of one hides no gap of another.
      coverage.bytes_seen += std::min(process.bytes_hooked.value, process.bytes_kernel.value);
      coverage.bytes_total += process.bytes_kernel.value;
    }
    const bool python = (process.features & wire::kFeaturePython) != 0;
    // It says itself what it reads, by whatever way. Page faults of a map it cannot tell either.
    constexpr std::uint32_t kWaysOfReading = wire::kFeatureIoUring | wire::kFeatureAio;
    const bool native = (process.features & wire::kFeatureNative) != 0;
    for (const Feature& feature : kFeatures) {
      // Isolated, and the hooks are in all the same: the agent brought them in by another way.
      if (feature.bit == wire::kFeatureIsolated && python) continue;
      if (native && (feature.bit & kWaysOfReading) != 0) continue;
      if ((process.features & feature.bit) != 0) blind.insert(std::string(feature.what));
    }
    for (const std::string& library : process.libraries) {
      const LibrarySight sight = SightOf(library);
      if (sight.sight == Sight::kBlind) {
        blind.insert(
            fmt::format("{}: loaded; what it does counts to the stage around it", sight.what));
      }
      if (sight.sight == Sight::kPython && !python) {
        blind.insert(fmt::format("{}: seen from Python only, and this is not Python", sight.what));
      }
    }
  }
  if (misses > 0) {
    blind.insert(fmt::format("{} calls whose library could not be found again", misses));
  }
  coverage.blind.assign(blind.begin(), blind.end());
  return coverage;
}

}  // namespace penstock::analyzer
