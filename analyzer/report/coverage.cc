// SPDX-License-Identifier: Apache-2.0
#include "analyzer/report/coverage.h"

#include <algorithm>
#include <array>
#include <set>
#include <string>

#include "analyzer/words/limits.h"

namespace penstock::analyzer {
namespace {

using WordsOf = Statement (*)();

template <const Message& Does, FixedName Name>
Statement Library() {
  return Say<Does>(Give<"name">(Name.view()));
}
template <const Message& Said>
Statement Just() {
  return Say<Said>();
}

struct Entry {
  std::string_view part;  // a part of OwnPath() in lower case
  Sight sight;
  WordsOf what = nullptr;  // names the library if it is not seen
  bool gpu = false;        // useless without a GPU, but frameworks load it even without one
};

// The first match decides: special cases come before the libraries that contain them.
constexpr std::array kLibraries = {
    Entry{"nvjpeg2k", Sight::kBlind, Library<words::kGpuJpeg2000, "nvJPEG2000">, true},
    Entry{"nvjpeg", Sight::kBlind, Library<words::kGpuJpeg, "nvJPEG">, true},
    Entry{"libdali", Sight::kBlind, Just<words::kDali>},
    Entry{"tensorflow", Sight::kBlind, Just<words::kTensorFlow>},
    Entry{"libnvcuvid", Sight::kBlind, Library<words::kGpuVideo, "NVDEC">, true},
    Entry{"libcufile", Sight::kBlind, Library<words::kGpuReads, "GPUDirect Storage, cuFile">, true},
    Entry{"libaio", Sight::kBlind, Library<words::kAioReads, "libaio">},
    // These are not hooked by symbol, but calls from Python are seen. For codecs, these are the
    // calls of Pillow and OpenCV, which use the codecs.
    Entry{"nvimgcodec", Sight::kPython, Library<words::kGpuImages, "nvImageCodec">},
    Entry{"simplejpeg", Sight::kPython, Library<words::kJpeg, "simplejpeg">},
    Entry{"decord", Sight::kPython, Library<words::kVideo, "decord">},
    Entry{"torchcodec", Sight::kPython, Library<words::kVideo, "TorchCodec">},
    Entry{"libheif", Sight::kPython, Library<words::kHeif, "libheif">},
    Entry{"libavif", Sight::kPython, Library<words::kAvif, "libavif">},
    Entry{"libdav1d", Sight::kPython, Library<words::kAvif, "dav1d">},
    Entry{"libtiff", Sight::kPython, Library<words::kTiff, "libtiff">},
    Entry{"libopenjp2", Sight::kPython, Library<words::kJpeg2000, "OpenJPEG">},
    Entry{"libjxl", Sight::kPython, Library<words::kJpegXl, "libjxl">},
    Entry{"kvikio", Sight::kBlind, Library<words::kGpuReads, "KvikIO">},
    Entry{"/cv2/", Sight::kPython, Library<words::kNamedLibrary, "OpenCV">},
    Entry{"opencv", Sight::kPython, Library<words::kNamedLibrary, "OpenCV">},
    Entry{"libavcodec", Sight::kSeen},
    Entry{"libturbojpeg", Sight::kSeen},
    Entry{"libjpeg", Sight::kSeen},
    Entry{"libpng", Sight::kSeen},
    Entry{"libwebp", Sight::kSeen},
};

struct Feature {
  std::uint32_t bit;
  WordsOf what;
};
constexpr std::array kFeatures = {
    Feature{wire::kFeatureIoUring, Just<words::kIoUring>},
    Feature{wire::kFeatureAio, Just<words::kAsynchronous>},
    Feature{wire::kFeatureMapped, Just<words::kMappedFiles>},
    Feature{wire::kFeatureIsolated, Just<words::kIsolated>},
    Feature{wire::kFeatureSandboxed, Just<words::kSandboxed>},
    Feature{wire::kFeatureLimited, Just<words::kLimited>},
};

std::string Lower(std::string_view text) {
  std::string lower(text);
  std::transform(lower.begin(), lower.end(), lower.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  return lower;
}

// The part of a path that tells which library it is: the part within the folder of packages, or
// else the file and its folder. Folders above may have any name: an environment may be
// "tensorflow".
std::string_view OwnPath(std::string_view path) {
  for (const std::string_view packages : {"/site-packages/", "/dist-packages/"}) {
    const std::size_t at = path.rfind(packages);
    if (at != std::string_view::npos) return path.substr(at + packages.size() - 1);
  }
  const std::size_t file = path.rfind('/');
  if (file == std::string_view::npos || file == 0) return path;
  const std::size_t folder = path.rfind('/', file - 1);
  return folder == std::string_view::npos ? path : path.substr(folder);
}

}  // namespace

double Coverage::fraction() const {
  if (!known || bytes_total == 0) return known ? 1 : 0;
  return std::min(1.0, static_cast<double>(bytes_seen) / static_cast<double>(bytes_total));
}

LibrarySight SightOf(std::string_view path) {
  const std::string lower = Lower(OwnPath(path));
  for (const Entry& entry : kLibraries) {
    if (lower.find(entry.part) != std::string::npos) {
      return {entry.sight, entry.what != nullptr ? entry.what() : Statement{}, entry.gpu};
    }
  }
  return {};
}

Coverage MeasureCoverage(const traces::Trace& trace, bool used_gpu) {
  Coverage coverage;
  Statements& blind = coverage.blind;
  std::uint64_t misses = 0;
  std::uint64_t uncounted = 0;  // bytes that hooks saw in processes without the kernel's count
  std::set<std::uint32_t> pids;
  for (const traces::ProcessInfo& process : trace.processes()) pids.insert(process.pid);
  // The sampler of GPUs records the fact gpu.nvml even on a machine without GPUs.
  const bool no_gpu = !used_gpu && trace.facts().count("gpu.nvml") > 0;
  for (const traces::ProcessInfo& process : trace.processes()) {
    coverage.network += process.bytes_network.value;
    coverage.mapped += process.bytes_mapped.value;
    misses += process.hook_misses;
    if (process.bytes_kernel.value > 0) {
      coverage.known = true;
      // Hooks may count more bytes than the kernel. The surplus of one process must not hide the
      // gap of another.
      coverage.bytes_seen += std::min(process.bytes_hooked.value, process.bytes_kernel.value);
      coverage.bytes_total += process.bytes_kernel.value;
    } else {
      uncounted += process.bytes_hooked.value;
    }
    constexpr std::uint32_t kHooked = wire::kFeaturePython | wire::kFeatureHooks;
    const bool python = (process.features & kHooked) != 0;
    // The reference loader records all of its reads itself, in whatever way it reads. Only page
    // faults of a mapped file are not seen.
    constexpr std::uint32_t kWaysOfReading = wire::kFeatureIoUring | wire::kFeatureAio;
    const bool native = (process.features & wire::kFeatureNative) != 0;
    for (const Feature& feature : kFeatures) {
      // The hooks are in place, so the agent got into this isolated process by another way.
      if (feature.bit == wire::kFeatureIsolated && python) continue;
      if (native && (feature.bit & kWaysOfReading) != 0) continue;
      if ((process.features & feature.bit) == 0) continue;
      const bool child = pids.count(process.parent) > 0;
      blind.push_back(feature.bit == wire::kFeatureIsolated && child ? Say<words::kIsolatedChild>()
                                                                     : feature.what());
    }
    for (const std::string& library : process.libraries) {
      const LibrarySight found = SightOf(library);
      if (no_gpu && found.gpu) continue;
      const auto named = Give<"library">(found.what);
      if (found.sight == Sight::kBlind) blind.push_back(Say<words::kLoadedUnseen>(named));
      if (found.sight == Sight::kPython && !python) {
        blind.push_back(Say<words::kSeenFromPython>(named));
      }
    }
  }
  if (coverage.known) {
    constexpr double kNotable = 0.05;  // share of the bytes
    coverage.bytes_seen += uncounted;
    coverage.bytes_total += uncounted;
    if (static_cast<double>(uncounted) > kNotable * static_cast<double>(coverage.bytes_total)) {
      blind.push_back(Say<words::kEndedUncounted>(Give<"bytes">(uncounted)));
    }
  }
  if (misses > 0) blind.push_back(Say<words::kUnknownCallers>(Give<"calls">(misses)));
  SortAndMerge(blind);
  return coverage;
}

}  // namespace penstock::analyzer
