// SPDX-License-Identifier: Apache-2.0
//
// loader_augment_cli WIDTH HEIGHT OPS u8|f16|f32 hwc|chw: reads raw RGB bytes and writes the output
// of the operations. torchvision_golden.py compares it with other implementations; for tests only.
#include <cstdio>
#include <cstdlib>
#include <string_view>
#include <vector>

#include "loader/augment/program.h"

int main(int argc, char** argv) {
  using namespace penstock::loader;  // NOLINT: the subject of every line here
  if (argc != 6) {
    std::fprintf(stderr, "usage: loader_augment_cli WIDTH HEIGHT OPS u8|f16|f32 hwc|chw\n");
    return 2;
  }
  const int width = std::atoi(argv[1]);
  const int height = std::atoi(argv[2]);
  const std::string_view type_name = argv[4];
  const ElementType type = type_name == "u8"    ? ElementType::kU8
                           : type_name == "f16" ? ElementType::kF16
                                                : ElementType::kF32;
  const Layout layout = std::string_view(argv[5]) == "hwc" ? Layout::kHwc : Layout::kChw;
  const auto program = AugmentProgram::Parse(argv[3], type, layout);
  if (!program || width < 1 || height < 1) {
    std::fprintf(stderr, "%s\n", program ? "bad size" : program.error().message.c_str());
    return 2;
  }
  std::vector<std::uint8_t> pixels(3 * static_cast<std::size_t>(width) *
                                   static_cast<std::size_t>(height));
  if (std::fread(pixels.data(), 1, pixels.size(), stdin) != pixels.size()) {
    std::fprintf(stderr, "too few bytes\n");
    return 2;
  }
  Augmenter augmenter(*program);
  std::vector<std::byte> out(program->format().bytes());
  const AugmentPlan plan = augmenter.Draw({.width = width, .height = height}, {});
  const auto done = augmenter.Run(plan, {pixels.data(), width, height, 3 * std::ptrdiff_t{width}},
                                  {0, 0, width, height}, 1, out);
  if (!done) {
    std::fprintf(stderr, "%s\n", done.error().message.c_str());
    return 4;
  }
  return std::fwrite(out.data(), 1, out.size(), stdout) == out.size() ? 0 : 3;
}
