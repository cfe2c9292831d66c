// SPDX-License-Identifier: Apache-2.0
#include "loader/main/device_report.h"

#include "loader/main/json_object.h"

namespace penstock::loader {
namespace {

double PerSecond(std::uint64_t amount, TimeNs time) {
  return Ratio(static_cast<double>(amount), Seconds(time));
}

}  // namespace

std::string_view PlaceOf(const LoadArguments& arguments, Stage stage) {
  const DeviceOptions& device = arguments.pipeline.device;
  const bool moved =
      (stage == Stage::kDecode && device.decode) || (stage == Stage::kAugment && device.augment);
  return moved ? "device" : "cpu";
}

void AppendPlacement(std::string& out, const LoadArguments& arguments, const DeviceStats& stats) {
  const std::string device =
      arguments.device == "cuda" ? fmt::format("cuda:{}", arguments.ordinal) : arguments.device;
  Object(out)
      .Text("device", device)
      .Text("name", stats.device.name)
      .Text("read", "cpu")
      .Text("decode", PlaceOf(arguments, Stage::kDecode))
      .Text("augment", PlaceOf(arguments, Stage::kAugment))
      .Text("jpeg_backend", stats.jpeg_backend)
      .Number("decode_share",
              arguments.pipeline.device.decode ? arguments.pipeline.device.decode_share : 0);
}

void AppendDevice(std::string& out, const DeviceStats& stats) {
  Object(out)
      .Text("name", stats.device.name)
      .Count("capability", static_cast<std::uint64_t>(stats.device.capability))
      .Count("memory_bytes", stats.device.memory_bytes)
      .Number("memory_bytes_per_s", stats.device.memory_bytes_per_s)
      .Count("batches", stats.batches)
      .Number("h2d_s", Seconds(stats.copy))
      .Count("h2d_bytes", stats.copied_bytes)
      .Number("h2d_bytes_per_s", PerSecond(stats.copied_bytes, stats.copy))
      .Number("decode_s", Seconds(stats.decode))
      .Count("decoded", stats.decoded)
      .Count("decoded_on_cpu", stats.refused)
      .Count("decoded_pixels", stats.decoded_pixels)
      .Count("region_pixels", stats.region_pixels)
      .Number("augment_s", Seconds(stats.augment))
      .Count("augment_bytes", stats.moved_bytes)
      .Number("augment_bytes_per_s", PerSecond(stats.moved_bytes, stats.augment))
      .Number("fetch_s", Seconds(stats.fetch))
      .Number("waited_s", Seconds(stats.waited))
      .Count("jpeg_engines", stats.jpeg_engines)
      .Count("pinned_bytes", stats.pinned_bytes)
      .Count("device_bytes", stats.device_bytes);
}

std::string DeviceText(const DeviceStats& stats) {
  if (stats.batches == 0) return {};
  std::string out = fmt::format("device: {}; {:.1f} MB copied at {:.2f} GB/s", stats.device.name,
                                static_cast<double>(stats.copied_bytes) * 1e-6,
                                PerSecond(stats.copied_bytes, stats.copy) * 1e-9);
  if (stats.moved_bytes != 0) {
    out += fmt::format("; augmented in {:.3f} s, {:.1f} GB/s of its memory", Seconds(stats.augment),
                       PerSecond(stats.moved_bytes, stats.augment) * 1e-9);
  }
  out += '\n';
  if (!stats.jpeg_backend.empty()) {
    out += fmt::format("nvJPEG ({}): {} pictures in {:.3f} s, {} left to the CPU\n",
                       stats.jpeg_backend, stats.decoded, Seconds(stats.decode), stats.refused);
  }
  return out;
}

}  // namespace penstock::loader
