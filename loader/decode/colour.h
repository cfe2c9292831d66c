// SPDX-License-Identifier: Apache-2.0
//
// CMYK to RGB. Pure function, thread-safe.
#pragma once

#include <cstdint>

namespace penstock::loader {

// Converts a row in place: `width` pixels of four bytes become as many of three, from the front.
//
// `inverted`: true if 0 is full ink, as in files with an Adobe marker; false if 255 is.
// Source: r = (1 - c)(1 - k), rounded to nearest; equal to Pillow's CMYK to RGB in every value. But
//         Pillow takes each CMYK JPEG as inverted, even one without an Adobe marker.
void CmykToRgbInPlace(std::uint8_t* row, int width, bool inverted);

}  // namespace penstock::loader
