// SPDX-License-Identifier: Apache-2.0
//
// The two decoders of TensorFlow that the agent hooks, under their names and types in
// libtensorflow_cc.so, in a library of our own that decodes nothing.
#pragma once

#include <cstdint>
#include <functional>

namespace tensorflow {
namespace jpeg {

struct UncompressFlags {
  int components = 3;
};

// Fills the memory that `allocate_output` gives with the sum of the data. Null if there is no data.
__attribute__((visibility("default"))) std::uint8_t* Uncompress(
    const void* data, int size, const UncompressFlags& flags, std::int64_t* warnings,
    std::function<std::uint8_t*(int, int, int)> allocate_output);

}  // namespace jpeg
namespace png {

struct DecodeContext {
  int height = 0;
};

__attribute__((visibility("default"))) bool CommonFinishDecode(std::uint8_t* data, int row_bytes,
                                                               DecodeContext* context);

}  // namespace png
}  // namespace tensorflow
