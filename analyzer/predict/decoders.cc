// SPDX-License-Identifier: Apache-2.0
#include "analyzer/predict/decoders.h"

#include <algorithm>
#include <array>

namespace penstock::analyzer {
namespace {

constexpr std::array<DecoderSpeed, 11> kSpeeds = {{{"ajpegli", 0.669, 0.56, 0.76},
                                                   {"imagecodecs", 1.208, 1.07, 1.27},
                                                   {"imageio", 0.900, 0.82, 0.93},
                                                   {"jpeg4py", 1.144, 1.05, 1.21},
                                                   {"kornia", 1.124, 1.05, 1.20},
                                                   {"opencv", 1.210, 1.16, 1.25},
                                                   {"pillow", 1.000, 1.00, 1.00},
                                                   {"simplejpeg", 1.241, 1.18, 1.29},
                                                   {"skimage", 0.904, 0.89, 0.91},
                                                   {"torchvision", 1.194, 1.16, 1.23},
                                                   {"turbojpeg", 1.167, 1.11, 1.23}}};

}  // namespace

std::span<const DecoderSpeed> DecoderSpeeds() {
  return kSpeeds;
}

DecoderSpeed FastestDecoder() {
  return *std::max_element(
      kSpeeds.begin(), kSpeeds.end(),
      [](const DecoderSpeed& a, const DecoderSpeed& b) { return a.ratio < b.ratio; });
}

std::optional<DecoderSpeed> FindDecoder(std::string_view name) {
  if (name == "libjpeg-turbo") name = "turbojpeg";
  if (name == "cv2") name = "opencv";
  for (const DecoderSpeed& speed : kSpeeds) {
    if (speed.name == name) return speed;
  }
  return std::nullopt;
}

}  // namespace penstock::analyzer
