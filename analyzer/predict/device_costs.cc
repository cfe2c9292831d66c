// SPDX-License-Identifier: Apache-2.0
#include "analyzer/predict/device_costs.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <optional>
#include <string>

#include <fmt/core.h>

#include "analyzer/words/assumptions.h"

namespace penstock::analyzer {
namespace {

struct Device {
  std::string_view name;  // a part of the model's name
  double bandwidth;       // bytes per second of its memory, from the vendor's data sheets
};
constexpr std::array<Device, 9> kDevices = {{{"H200", 4.8e12},
                                             {"H100", 3.35e12},
                                             {"A100", 1.555e12},
                                             {"A10", 0.6e12},
                                             {"L40", 0.864e12},
                                             {"L4", 0.3e12},
                                             {"V100", 0.9e12},
                                             {"T4", 0.32e12},
                                             {"4090", 1.008e12}}};

// pytorch/vision#8496: the JPEG engine of an A100 decodes 1,000 pictures of 551 x 676 in 127.65 ms.
constexpr double kDecodeOfA100 = 127.65 / (1000 * 551 * 676 * 1e-6);
// Fraction of the peak bandwidth; streaming kernels reach this or more.
constexpr double kShareOfBandwidth = 0.5;
// Bytes that are moved for each pixel of the decoded picture, a generous estimate. The pixel is
// read once as bytes. A resize in two passes writes it and reads it again as floats. Finally it is
// written as floats.
constexpr double kAugmentBytes = 3 + 12 + 12 + 12;
// A pixel is read as bytes and written as floats.
constexpr double kConvertBytes = 3 + 12;

// Whether `gpu` contains `name` and no digit follows it: the T400 is no T4.
bool IsModel(std::string_view gpu, std::string_view name) {
  for (std::size_t at = gpu.find(name); at != std::string_view::npos; at = gpu.find(name, at + 1)) {
    const std::size_t end = at + name.size();
    if (end == gpu.size() || gpu[end] < '0' || gpu[end] > '9') return true;
  }
  return false;
}

// The cost of a kernel that moves `bytes` for each pixel.
DeviceCost Moving(double bytes, const Device& device) {
  return {bytes * 1e6 / (kShareOfBandwidth * device.bandwidth) * 1e3,
          Say<words::kFromArithmetic>(Give<"bytes">(bytes), Give<"device">(device.name))};
}

// Removes the next word and the blanks around it from the front of `line`, and returns the word.
std::string_view TakeWord(std::string_view& line) {
  const std::size_t begin = std::min(line.find_first_not_of(" \t"), line.size());
  const std::size_t end = std::min(line.find_first_of(" \t", begin), line.size());
  const std::string_view word = line.substr(begin, end - begin);
  const std::size_t rest = std::min(line.find_first_not_of(" \t", end), line.size());
  line = line.substr(rest);
  return word;
}

}  // namespace

DeviceCosts BuiltInDeviceCosts(std::string_view gpu) {
  DeviceCosts costs;
  const Device* found = nullptr;
  for (const Device& device : kDevices) {
    if (found == nullptr && IsModel(gpu, device.name)) found = &device;
  }
  costs.device = found != nullptr ? std::string(gpu) : "A100";
  const Device& device = found != nullptr ? *found : kDevices[2];
  costs.decode = {kDecodeOfA100, Say<words::kPublished>()};
  costs.augment = Moving(kAugmentBytes, device);
  costs.convert = Moving(kConvertBytes, device);
  return costs;
}

Result<DeviceCosts> ReadDeviceCosts(std::string_view text, DeviceCosts base) {
  std::size_t number = 0;
  base.given = true;
  while (!text.empty()) {
    ++number;
    const std::size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    text = text.substr(std::min(end + 1, text.size()));
    if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
    const std::string_view key = TakeWord(line);
    if (key.empty() || key.front() == '#') continue;
    if (key == "device" && !line.empty()) {
      base.device = std::string(line);
      continue;
    }
    DeviceCost* cost = key == "decode"    ? &base.decode
                       : key == "augment" ? &base.augment
                       : key == "convert" ? &base.convert
                                          : nullptr;
    const std::string figure(TakeWord(line));
    char* last = nullptr;
    const double value = std::strtod(figure.c_str(), &last);
    if (cost == nullptr || figure.empty() || *last != '\0' || !(value >= 0 && value < 1e6)) {
      return Fail(ErrorKind::kInput,
                  fmt::format("line {}: expected device NAME, or decode, augment or convert with "
                              "milliseconds a megapixel",
                              number));
    }
    const auto said = line.empty() ? std::nullopt : std::optional(line);
    *cost = {value, Say<words::kFromFile>(Give<"said">(said))};
  }
  return base;
}

}  // namespace penstock::analyzer
