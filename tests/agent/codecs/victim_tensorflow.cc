// SPDX-License-Identifier: Apache-2.0
//
// victim_tensorflow: calls the decoders as TensorFlow's kernels do, and passes a std::function by
// value. One std::function has state; another one throws.
#include <cstdio>
#include <stdexcept>
#include <vector>

#include "tests/agent/codecs/tensorflow_double.h"

int main() {
  namespace jpeg = tensorflow::jpeg;
  namespace png = tensorflow::png;
  const std::uint8_t data[] = {1, 2, 3};
  std::vector<std::uint8_t> pixels;
  std::int64_t warnings = 0;
  int asked = 0;
  const auto allocate = [&](int width, int height, int components) {
    ++asked;
    pixels.resize(static_cast<std::size_t>(width * height * components));
    return pixels.data();
  };
  jpeg::UncompressFlags flags;
  for (int i = 0; i < 3; ++i) {
    const bool made = jpeg::Uncompress(data, 3, flags, &warnings, allocate) == pixels.data();
    std::printf("uncompress %d %d %zu %d %d\n", made ? 1 : 0, asked, pixels.size(), pixels.back(),
                static_cast<int>(warnings));
  }
  std::printf("none %d\n",
              jpeg::Uncompress(data, 0, flags, &warnings, allocate) == nullptr ? 1 : 0);
  try {
    jpeg::Uncompress(data, 3, flags, &warnings,
                     [](int, int, int) -> std::uint8_t* { throw std::runtime_error("no room"); });
  } catch (const std::runtime_error& error) {
    std::printf("thrown %s\n", error.what());
  }
  png::DecodeContext context;
  context.height = 2;
  std::uint8_t rows[12] = {};
  const bool done = png::CommonFinishDecode(rows, 6, &context);
  std::printf("png %d %d\n", done ? 1 : 0, rows[11]);
  context.height = 0;
  std::printf("png.none %d\n", png::CommonFinishDecode(rows, 6, &context) ? 1 : 0);
  return 0;
}
