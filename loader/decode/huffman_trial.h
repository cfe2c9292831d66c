// SPDX-License-Identifier: Apache-2.0
//
// HuffmanDecoder reaches into libjpeg by a struct that its public headers do not promise to keep.
// For loader/decode alone.
#pragma once

namespace penstock::loader {

// Whether a small picture, made for the purpose, comes out the same through HuffmanDecoder as
// through libjpeg alone: whole, in part and reduced. Answers from memory after the first call.
// Thread-safe. Cost: under a millisecond, once in a process.
[[nodiscard]] bool HuffmanSeamFits();

}  // namespace penstock::loader
