// SPDX-License-Identifier: Apache-2.0
//
// A double of TensorFlow's library, which decodes nothing. It has the two decoders that the agent
// hooks, with their names and types in libtensorflow_cc.so.
#pragma once

#include <cstdint>
#include <functional>

namespace tensorflow {
namespace jpeg {

struct UncompressFlags {
  int components = 3;
};

// Fills the memory that `allocate_output` gives with the sum of the data. Returns null if there is
// no data.
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
