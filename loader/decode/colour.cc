// SPDX-License-Identifier: Apache-2.0
#include "loader/decode/colour.h"

namespace penstock::loader {
namespace {

// a * b / 255, rounded; exact for bytes.
[[nodiscard]] std::uint8_t Multiply(unsigned a, unsigned b) {
  const unsigned t = a * b + 128;
  return static_cast<std::uint8_t>((t + (t >> 8)) >> 8);
}

}  // namespace

void CmykToRgbInPlace(std::uint8_t* row, int width, bool inverted) {
  const unsigned mask = inverted ? 0 : 255;
  const std::uint8_t* in = row;
  std::uint8_t* out = row;
  for (int x = 0; x < width; ++x, in += 4, out += 3) {
    const unsigned c = in[0] ^ mask;
    const unsigned m = in[1] ^ mask;
    const unsigned y = in[2] ^ mask;
    const unsigned k = in[3] ^ mask;
    out[0] = Multiply(c, k);
    out[1] = Multiply(m, k);
    out[2] = Multiply(y, k);
  }
}

}  // namespace penstock::loader
