// SPDX-License-Identifier: Apache-2.0
//
// How a fuzzer's bytes become a file that claims to be a trace. The first byte chooses:
//   0  the rest is the file;
//   1  the rest is cut into sections of a packed trace whose checks are right, so that the codecs
//      behind them are reached;
//   2  the rest is laid over the used parts of a recording, checks of records made right;
//   3  as 2, drained in pieces with recycling.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace penstock::traces::fuzz {

enum class InputShape { kFile = 0, kSections = 1, kRecording = 2, kRing = 3 };

[[nodiscard]] InputShape ShapeOf(std::span<const std::uint8_t> input);
[[nodiscard]] std::vector<std::byte> MakeFile(std::span<const std::uint8_t> input);

// Reads everything a trace offers. `input` as above.
void ReadEverything(std::span<const std::uint8_t> input);

}  // namespace penstock::traces::fuzz
