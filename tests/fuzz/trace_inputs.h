// SPDX-License-Identifier: Apache-2.0
//
// Makes a trace file, which may be damaged, from the bytes of a fuzzer. The first byte chooses the
// shape:
//   0  the rest is the file;
//   1  the rest is cut into sections of a packed trace. Their checksums are correct, so that the
//   reader
//      goes on to decode them;
//   2  the rest is copied over the used parts of a recording, and the checks of records are
//   corrected; 3  as 2, but the file is a ring, which is drained in two rounds.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace penstock::traces::fuzz {

enum class InputShape { kFile = 0, kSections = 1, kRecording = 2, kRing = 3 };

[[nodiscard]] InputShape ShapeOf(std::span<const std::uint8_t> input);
[[nodiscard]] std::vector<std::byte> MakeFile(std::span<const std::uint8_t> input);

// Makes the file of `input` and reads everything in the trace.
void ReadEverything(std::span<const std::uint8_t> input);

}  // namespace penstock::traces::fuzz
