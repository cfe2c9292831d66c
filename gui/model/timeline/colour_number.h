// SPDX-License-Identifier: Apache-2.0
//
// The numbers of the colours that names have. gui/model/palette.h has the colours. Pure.
#pragma once

#include <cstdint>
#include <string_view>

namespace penstock::gui {

inline constexpr std::uint8_t kNamedColours = 12;
inline constexpr std::uint8_t kColourOfStage = 0xff;  // no colour of a name

// Below kNamedColours; the same for the same name in every run.
[[nodiscard]] constexpr std::uint8_t ColourOfName(std::string_view name) {
  std::uint32_t hash = 2166136261U;  // FNV-1a: the same on every machine
  for (const char c : name) hash = (hash ^ static_cast<unsigned char>(c)) * 16777619U;
  return static_cast<std::uint8_t>((hash ^ hash >> 16) % kNamedColours);
}

}  // namespace penstock::gui
