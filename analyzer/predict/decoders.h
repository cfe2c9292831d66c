// SPDX-License-Identifier: Apache-2.0
//
// How fast JPEG decoders are, one thread each, against one another. Values.
//
// Source: ternaus/imread_benchmark (MIT), commit f869db8: ImageNet's validation pictures from
// memory on five CPUs without a loader; the same figures as tests/validation/data/. The ratios are
// geometric means over the five, `low` and `high` the least and the greatest of them.
#pragma once

#include <optional>
#include <span>
#include <string_view>

namespace penstock::analyzer {

struct DecoderSpeed {
  std::string_view name;
  double ratio;  // of its rate to Pillow's
  double low;
  double high;
};

[[nodiscard]] std::span<const DecoderSpeed> DecoderSpeeds();

// By the table's names; libjpeg-turbo and cv2 are taken for turbojpeg and opencv. nullopt: not in
// the table.
[[nodiscard]] std::optional<DecoderSpeed> FindDecoder(std::string_view name);

}  // namespace penstock::analyzer
