// SPDX-License-Identifier: Apache-2.0
#include <stb/stb_image_write.h>

#include <span>
#include <vector>

#include "gui/main/offscreen.h"
#include "traces/base/file.h"

namespace penstock::gui {
namespace {

void Collect(void* context, void* data, int size) {
  auto* bytes = static_cast<std::vector<std::byte>*>(context);
  const auto* begin = static_cast<const std::byte*>(data);
  bytes->insert(bytes->end(), begin, begin + size);
}

}  // namespace

Result<void> WritePng(const std::string& path, const Image& image) {
  std::vector<std::byte> bytes;
  const int written = stbi_write_png_to_func(Collect, &bytes, image.width, image.height, 3,
                                             image.rgb.data(), image.width * 3);
  if (written == 0) return Fail(ErrorKind::kOutput, path + ": the picture cannot be compressed");
  return WriteWhole(path, bytes);
}

}  // namespace penstock::gui
