// SPDX-License-Identifier: Apache-2.0
//
// The speeds of JPEG decoders relative to each other, with one thread each. Values.
//
// Source: ternaus/imread_benchmark (MIT), commit f869db8: ImageNet's validation pictures from
//         memory on five CPUs without a loader; the same figures as in tests/validation/data/. The
//         ratios are geometric means over the five CPUs; `low` and `high` are the least and the
//         greatest ratio among them.
#pragma once

#include <optional>
#include <span>
#include <string_view>

namespace penstock::analyzer {

struct DecoderSpeed {
  std::string_view name;
  double ratio;  // its rate divided by Pillow's
  double low;
  double high;
};

[[nodiscard]] std::span<const DecoderSpeed> DecoderSpeeds();

// The fastest one of the table. Findings and plans assume its speed.
[[nodiscard]] DecoderSpeed FastestDecoder();

// Looks up a name of the table; libjpeg-turbo stands for turbojpeg, and cv2 for opencv. nullopt:
// not in the table.
[[nodiscard]] std::optional<DecoderSpeed> FindDecoder(std::string_view name);

}  // namespace penstock::analyzer
