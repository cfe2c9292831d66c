// SPDX-License-Identifier: Apache-2.0
#include "tests/agent/codecs/tensorflow_double.h"

#include <cstring>
#include <utility>

namespace tensorflow {
namespace jpeg {

std::uint8_t* Uncompress(const void* data, int size, const UncompressFlags& flags,
                         std::int64_t* warnings,
                         std::function<std::uint8_t*(int, int, int)> allocate_output) {
  if (data == nullptr || size <= 0) return nullptr;
  int sum = 0;
  for (int i = 0; i < size; ++i) sum += static_cast<const std::uint8_t*>(data)[i];
  *warnings = 7;
  std::uint8_t* const pixels = allocate_output(4, 2, flags.components);
  if (pixels != nullptr) {
    std::memset(pixels, sum & 0xff, static_cast<std::size_t>(8 * flags.components));
  }
  return pixels;
}

}  // namespace jpeg
namespace png {

bool CommonFinishDecode(std::uint8_t* data, int row_bytes, DecodeContext* context) {
  if (context->height <= 0) return false;
  std::memset(data, 9, static_cast<std::size_t>(row_bytes * context->height));
  return true;
}

}  // namespace png
}  // namespace tensorflow
