// SPDX-License-Identifier: Apache-2.0
#include "loader/main/device_arguments.h"

#include <algorithm>
#include <charconv>
#include <string_view>

#include <fmt/format.h>

#include "traces/base/command_line.h"

namespace penstock::loader {
namespace {

// "cpu", "cuda", "cuda:1" or "emulated".
Result<void> ReadDevice(std::string_view text, LoadArguments* arguments) {
  constexpr std::string_view kNumbered = "cuda:";
  if (text == "cpu" || text == "cuda" || text == "emulated") {
    arguments->device = text;
    return {};
  }
  if (text.substr(0, kNumbered.size()) == kNumbered) {
    const std::string_view digits = text.substr(kNumbered.size());
    const auto [end, error] =
        std::from_chars(digits.data(), digits.data() + digits.size(), arguments->ordinal);
    if (error == std::errc{} && end == digits.data() + digits.size() && arguments->ordinal >= 0) {
      arguments->device = "cuda";
      return {};
    }
  }
  return Fail(ErrorKind::kUsage,
              fmt::format("--device {}: there is cpu, cuda, cuda:NUMBER and emulated", text));
}

}  // namespace

void AddDeviceOptions(traces::CommandLine& line, LoadArguments& arguments, ArgumentTexts& texts) {
  DeviceOptions& device = arguments.pipeline.device;
  line.Add("--device", texts.device,
           "where batches end up: cpu, cuda or cuda:NUMBER (copied from pinned memory); "
           "emulated: the device's code on the CPU, to check results (default: cpu, or cuda "
           "with --gpu)");
  line.Add("--gpu", texts.gpu,
           "stages that the device does: augment, or decode,augment (also decode+augment); "
           "none: it gets finished batches; off: --device cpu");
  line.Add("--gpu-decoder", texts.jpeg_backend,
           "backend of nvJPEG: auto, hardware (JPEG engines), hybrid (Huffman codes by the CPU) or "
           "gpu-hybrid (those of large baseline pictures by the GPU)")
      .ShowDefault();
  line.Add("--gpu-decode-share", device.decode_share,
           "share of the pictures that the device decodes; workers decode the others")
      .Check(traces::NumberBetween(0, 1))
      .ShowDefault();
  line.Add("--nvjpeg", device.jpeg.path, "the nvJPEG library (default: searched for)");
}

Result<void> ReadPlacement(const ArgumentTexts& texts, LoadArguments* arguments) {
  DeviceOptions& device = arguments->pipeline.device;
  bool off = false;
  for (const std::string& list : texts.gpu) {
    std::string_view rest = list;
    while (!rest.empty()) {
      const std::size_t end = std::min(rest.find_first_of(",+"), rest.size());
      const std::string_view name = rest.substr(0, end);
      rest.remove_prefix(std::min(end + 1, rest.size()));
      if (name == "augment") {
        device.augment = true;
      } else if (name == "decode") {
        device.decode = true;
      } else if (name == "off") {
        off = true;
      } else if (name != "none") {
        return Fail(ErrorKind::kUsage,
                    fmt::format("--gpu {}: there is decode, augment, none and off", name));
      }
    }
  }
  const std::string_view usual = texts.gpu.empty() || off ? "cpu" : "cuda";
  if (Result<void> read = ReadDevice(texts.device.empty() || off ? usual : texts.device, arguments);
      !read) {
    return read;
  }
  if (arguments->device == "cpu" && (device.augment || device.decode)) {
    return Fail(ErrorKind::kUsage, "--gpu moves stages to a device, --device cpu is none");
  }
  if (device.decode && !device.augment) {
    return Fail(ErrorKind::kUsage,
                "--gpu decode needs augment there too, or the pixels would travel back: --gpu "
                "decode,augment");
  }
  if (arguments->device == "emulated" && device.decode && device.jpeg.path.empty()) {
    return Fail(ErrorKind::kUsage,
                "--gpu decode: nvJPEG writes to the memory of a GPU, and --device emulated has "
                "none: name a stand-in with --nvjpeg");
  }
  const auto backend = cuda::ParseJpegBackend(texts.jpeg_backend);
  if (!backend) return Fail(ErrorKind::kUsage, "--gpu-decoder " + backend.error().message);
  device.jpeg.backend = *backend;
  device.jpeg.interpolate_chroma = arguments->pipeline.decoder.fancy_upsampling;
  // Each thread has its own memory on the device, and a few threads are enough for one device.
  constexpr unsigned kMostJpegThreads = 16;
  device.jpeg.cpu_threads =
      static_cast<int>(std::clamp(arguments->pipeline.workers, 1U, kMostJpegThreads));
  device.fetch = arguments->digest;  // the digest needs the bytes back from the device
  return {};
}

Result<std::unique_ptr<cuda::Device>> OpenNamedDevice(const LoadArguments& arguments) {
  if (arguments.device == "cuda") return cuda::OpenDevice(arguments.ordinal);
  if (arguments.device == "emulated") return cuda::MakeEmulatedDevice();
  return std::unique_ptr<cuda::Device>();
}

}  // namespace penstock::loader
