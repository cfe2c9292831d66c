// SPDX-License-Identifier: Apache-2.0
//
// HuffmanDecoder uses a struct of libjpeg that is not in its public headers and may change. So the
// decoder is tried on a small picture before it is used. For loader/decode alone.
#pragma once

namespace penstock::loader {

// Whether HuffmanDecoder gives the same pixels as libjpeg alone for a small test picture: whole, in
// part and reduced. Later calls return the result of the first. Thread-safe. Cost: under a
// millisecond, once in a process.
[[nodiscard]] bool HuffmanSeamFits();

}  // namespace penstock::loader
