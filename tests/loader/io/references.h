// SPDX-License-Identifier: Apache-2.0
//
// References to files and parts of files, and bytes as text.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>

#include "loader/source/sample.h"

namespace penstock::loader::testing {

[[nodiscard]] inline std::string Text(std::span<const std::byte> bytes) {
  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-reinterpret-cast): bytes as text
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

[[nodiscard]] inline SampleRef WholeFile(const std::filesystem::path& path) {
  return {path.native(), 0, 0, true, -1, path.native()};
}

[[nodiscard]] inline SampleRef Part(const std::filesystem::path& path, std::uint64_t offset,
                                    std::uint64_t size) {
  return {path.native(), offset, size, false, -1, "member"};
}

}  // namespace penstock::loader::testing
