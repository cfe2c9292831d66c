// SPDX-License-Identifier: Apache-2.0
//
// Augmentation of one picture whose pixels are in the cache, on one thread. Input: a synthetic
// photo-like picture (waves, edges, noise; speed does not depend on the content). Each benchmark
// first compares its result with a plain evaluation of the formula at some outputs. Speeds are
// pictures a second. PENSTOCK_BENCH_TARGET=AVX2 (or AVX3, SSE4, SCALAR) limits the code to that
// vector unit.

#include <benchmark/benchmark.h>

#include <hwy/targets.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "loader/augment/program.h"
#include "loader/random/permutation.h"

namespace {

using namespace penstock::loader;  // NOLINT: the subject of every line here

struct Photo {
  int width;
  int height;
  std::vector<std::uint8_t> pixels;

  Photo(int its_width, int its_height)
      : width(its_width),
        height(its_height),
        pixels(3 * static_cast<std::size_t>(its_width) * static_cast<std::size_t>(its_height)) {
    Random random({1, 2, 3}, 4);
    for (std::size_t i = 0; i < pixels.size(); ++i) {
      const double wave = 100 * std::sin(0.002 * static_cast<double>(i));
      pixels[i] = static_cast<std::uint8_t>(128 + wave + random.Uniform(-20, 20));
    }
  }
  [[nodiscard]] ImageView view() const {
    return {pixels.data(), width, height, 3 * std::ptrdiff_t{width}};
  }
};

AugmentProgram Parsed(const std::string& ops, ElementType type, Layout layout) {
  auto program = AugmentProgram::Parse(ops, type, layout);
  if (!program) {
    std::fprintf(stderr, "%s\n", program.error().message.c_str());
    std::exit(1);
  }
  return *std::move(program);
}

// One output of an antialiased resize, by the formula, in double precision.
double Resized(const Photo& photo, const Region& crop, Size out, int x, int y, int channel) {
  const double ratio_x = static_cast<double>(crop.width) / out.width;
  const double ratio_y = static_cast<double>(crop.height) / out.height;
  double sum = 0;
  double total = 0;
  for (int v = 0; v < crop.height; ++v) {
    const double wy = 1 - std::abs(v + 0.5 - (y + 0.5) * ratio_y) / std::max(1.0, ratio_y);
    for (int u = 0; wy > 0 && u < crop.width; ++u) {
      const double wx = 1 - std::abs(u + 0.5 - (x + 0.5) * ratio_x) / std::max(1.0, ratio_x);
      if (wx <= 0) continue;
      const int pixel = (crop.y + v) * photo.width + crop.x + u;
      sum += wx * wy * photo.pixels[static_cast<std::size_t>(3 * pixel + channel)];
      total += wx * wy;
    }
  }
  return sum / total;
}

bool Right(const Photo& photo, const AugmentPlan& plan, const OutputFormat& format,
           const std::vector<std::byte>& out) {
  const Step& step = plan.steps[0];
  for (const int position : {0, 57, 111, 223}) {
    const auto pixel =
        static_cast<std::size_t>(position) * (static_cast<std::size_t>(format.width) + 1);
    float value = 0;
    std::memcpy(&value, out.data() + 4 * pixel, sizeof(value));  // red plane
    const int x = step.flip_x ? format.width - 1 - position : position;
    const double expected = Resized(photo, step.source, step.scaled, x, position, 0);
    if (std::abs(255 * value - expected) > 0.01) return false;
  }
  return true;
}

// Resizes a square (or 16:9) crop of the given size to 224 x 224 normalised float16 planes.
void BM_Fused(benchmark::State& state) {
  const int width = static_cast<int>(state.range(0));
  const int height = static_cast<int>(state.range(1));
  const Photo photo(width + 20, height + 20);
  const ImageInfo info{.width = photo.width, .height = photo.height};
  const std::string crop = "crop=" + std::to_string(height) + "x" + std::to_string(width) +
                           ":top=7:left=5,resize=224x224,flip:1";
  const AugmentProgram checked = Parsed(crop, ElementType::kF32, Layout::kChw);
  const AugmentProgram program = Parsed(crop + ",normalize", ElementType::kF16, Layout::kChw);
  Augmenter check(checked);
  std::vector<std::byte> out(checked.format().bytes());
  const AugmentPlan plan = check.Draw(info, {1, 0, 0});
  const Region whole = {0, 0, photo.width, photo.height};
  if (!check.Run(plan, photo.view(), whole, 1, out) || !Right(photo, plan, checked.format(), out)) {
    state.SkipWithError("wrong result");
    return;
  }
  Augmenter augmenter(program);
  out.resize(program.format().bytes());
  // Uses sizes around the given one, as random crops do, so that no table of taps is used twice.
  AugmentPlan varied = augmenter.Draw(info, {1, 0, 0});
  int turn = 0;
  for (auto _ : state) {
    Step& step = varied.steps[0];
    turn = (turn + 1) % 16;
    step.source.width = width - turn;
    step.source.height = height - turn;
    bool done = augmenter.Run(varied, photo.view(), whole, 1, out).has_value();
    benchmark::DoNotOptimize(done);
    benchmark::ClobberMemory();
  }
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(BM_Fused)
    ->ArgNames({"w", "h"})
    ->Args({160, 160})
    ->Args({250, 250})
    ->Args({318, 318})
    ->Args({375, 375})
    ->Args({500, 375})
    ->Args({640, 480})
    ->Args({1080, 1080})
    ->Args({1920, 1080})
    ->Args({3840, 2160})
    ->Unit(benchmark::kMicrosecond);

// Whole programs on a 500 x 375 picture. Checks that the same sample gives the same bytes twice,
// and that two flips give the picture back. The tests check the pixels themselves.
void Program(benchmark::State& state, const char* ops, ElementType type, Layout layout) {
  const Photo photo(500, 375);
  const AugmentProgram program = Parsed(ops, type, layout);
  const ImageInfo info{.width = photo.width, .height = photo.height};
  const Region whole = {0, 0, photo.width, photo.height};
  Augmenter augmenter(program);
  std::vector<std::byte> out(program.format().bytes());
  std::vector<std::byte> again(out.size());
  Augmenter other(program);
  const auto run = [&](Augmenter& which, std::uint64_t sample, std::vector<std::byte>& to) {
    return which.Run(which.Draw(info, {1, 0, sample}), photo.view(), whole, 1, to).has_value();
  };
  if (!run(augmenter, 5, out) || !run(other, 4, again) || !run(other, 5, again) || out != again) {
    state.SkipWithError("the same sample came out differently");
    return;
  }
  std::uint64_t sample = 0;
  for (auto _ : state) {
    bool done = run(augmenter, sample++, out);
    benchmark::DoNotOptimize(done);
    benchmark::ClobberMemory();
  }
  state.SetItemsProcessed(state.iterations());
}

#define PENSTOCK_PROGRAM(name, ops, type, layout)                          \
  BENCHMARK_CAPTURE(Program, name, ops, ElementType::type, Layout::layout) \
      ->Unit(benchmark::kMicrosecond)
PENSTOCK_PROGRAM(imagenet_f16_chw, "random_resized_crop=224,flip,normalize", kF16, kChw);
PENSTOCK_PROGRAM(imagenet_f32_chw, "random_resized_crop=224,flip,normalize", kF32, kChw);
PENSTOCK_PROGRAM(imagenet_u8_hwc, "random_resized_crop=224,flip", kU8, kHwc);
PENSTOCK_PROGRAM(eval_f16_chw, "resize=256,center_crop=224,normalize", kF16, kChw);
PENSTOCK_PROGRAM(copy_224, "center_crop=224", kU8, kHwc);
PENSTOCK_PROGRAM(brightness_224, "center_crop=224,brightness=0.4", kU8, kHwc);
PENSTOCK_PROGRAM(contrast_224, "center_crop=224,contrast=0.4", kU8, kHwc);
PENSTOCK_PROGRAM(saturation_224, "center_crop=224,saturation=0.4", kU8, kHwc);
PENSTOCK_PROGRAM(hue_224, "center_crop=224,hue=0.1", kU8, kHwc);
PENSTOCK_PROGRAM(color_jitter_224, "center_crop=224,color_jitter=0.4,0.4,0.4,0.1", kU8, kHwc);
PENSTOCK_PROGRAM(hsv_224, "center_crop=224,hsv", kU8, kHwc);
PENSTOCK_PROGRAM(rotate_224, "center_crop=224,rotate", kU8, kHwc);
PENSTOCK_PROGRAM(rotate_bilinear_224, "center_crop=224,rotate:30:bilinear", kU8, kHwc);
PENSTOCK_PROGRAM(gaussian_blur_5_224, "center_crop=224,gaussian_blur", kU8, kHwc);
PENSTOCK_PROGRAM(gaussian_blur_23_224, "center_crop=224,gaussian_blur=23", kU8, kHwc);
PENSTOCK_PROGRAM(cutout_224, "center_crop=224,cutout:1", kU8, kHwc);
PENSTOCK_PROGRAM(grid_mask_224, "center_crop=224,grid_mask=32", kU8, kHwc);
PENSTOCK_PROGRAM(grid_mask_turned_224, "center_crop=224,grid_mask=32:angle=45", kU8, kHwc);

void BM_Draw(benchmark::State& state) {
  const AugmentProgram program =
      Parsed("random_resized_crop=224,flip,color_jitter=0.4,0.4,0.4,0.1,normalize",
             ElementType::kF16, Layout::kChw);
  const Augmenter augmenter(program);
  std::uint64_t sample = 0;
  for (auto _ : state) {
    AugmentPlan plan = augmenter.Draw({.width = 500, .height = 375}, {1, 0, sample++});
    benchmark::DoNotOptimize(plan.region.width);
  }
}
BENCHMARK(BM_Draw);

void BM_Permutation(benchmark::State& state) {
  constexpr std::uint64_t kSize = 10'000'000;
  const Permutation permutation(kSize, 1, 0);
  if (permutation(17) >= kSize || permutation(17) == permutation(18)) {
    state.SkipWithError("not a permutation");
    return;
  }
  std::uint64_t position = 0;
  for (auto _ : state) {
    benchmark::DoNotOptimize(permutation(position));
    position = (position + 1) % kSize;
  }
}
BENCHMARK(BM_Permutation);

// Limits the code to a vector unit. False if this CPU does not have it.
bool HoldTo(const char* wanted) {
  for (const std::int64_t target : hwy::SupportedAndGeneratedTargets()) {
    if (std::strcmp(hwy::TargetName(target), wanted) != 0) continue;
    hwy::SetSupportedTargetsForTest(target);
    hwy::GetChosenTarget().Update(hwy::SupportedTargets());
    return true;
  }
  return false;
}

}  // namespace

int main(int argc, char** argv) {
  const char* target = std::getenv("PENSTOCK_BENCH_TARGET");
  if (target != nullptr && !HoldTo(target)) {
    std::fprintf(stderr, "no vector unit %s here\n", target);
    return 2;
  }
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
