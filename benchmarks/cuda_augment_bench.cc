// SPDX-License-Identifier: Apache-2.0
//
// Measures the augmentation's kernels on batches in the memory of a GPU, by the GPU's own time
// stamps. Input: 1024 pictures of noise, 500 x 375 (speed does not depend on the content): more
// than the caches of a GPU hold. Each picture has random numbers of its own. Before a program is
// timed, its result is compared with the CPU's. An iteration makes the batch, warms up the device
// and takes the median of intervals of many launches. The pictures and the kernels' instructions
// lie in the device's memory before the first interval.
//
// Counters, as medians of the iterations: bytes read and written in a second, with each needed
// pixel counted once; their share of the peak rate of the device's memory; milliseconds for a
// megapixel of the pictures. The goal of the fused kernels is a share of 0.7. Without a GPU nothing
// is measured. PENSTOCK_BENCH_DEVICE=emulated runs the same on the CPU, to check the program.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "loader/device/measure.h"
#include "loader/device/plan_passes.h"

namespace {

using namespace penstock::loader;  // NOLINT: the subject of every line here
namespace cuda = penstock::cuda;

constexpr Size kPicture{500, 375};
constexpr std::size_t kPictures = 1024;
// Google Benchmark would choose thousands of iterations, because it is told that an iteration takes
// as long as the kernels, some microseconds. In fact an iteration takes half a second.
constexpr int kIterations = 3;

struct Program {
  const char* name;
  const char* ops;
  ElementType type;
  Layout layout;
  Size picture;
  double counts;  // allowed error of a value before it is normalised, in counts of 255
};

constexpr Program kPrograms[] = {
    {"convert_to_f16_chw",
     "crop=224x224,normalize",
     ElementType::kF16,
     Layout::kChw,
     {224, 224},
     0},
    {"convert_to_f32_chw",
     "crop=224x224,normalize",
     ElementType::kF32,
     Layout::kChw,
     {224, 224},
     0},
    {"crop_resize_flip_normalize_f16", "random_resized_crop=224,flip,normalize", ElementType::kF16,
     Layout::kChw, kPicture, 0.05},
    {"crop_resize_flip_u8_hwc", "random_resized_crop=224,flip", ElementType::kU8, Layout::kHwc,
     kPicture, 1},
    {"with_brightness_saturation_hue",
     "random_resized_crop=224,flip,brightness=0.4,saturation=0.4,hue=0.1,normalize",
     ElementType::kF16, Layout::kChw, kPicture, 6},
    {"with_color_jitter", "random_resized_crop=224,flip,color_jitter=0.4,0.4,0.4,0.1,normalize",
     ElementType::kF16, Layout::kChw, kPicture, 6},
    {"with_blur", "random_resized_crop=224,gaussian_blur=5,normalize", ElementType::kF16,
     Layout::kChw, kPicture, 2},
    {"with_rotation", "random_resized_crop=224,rotate=30:bilinear,normalize", ElementType::kF16,
     Layout::kChw, kPicture, 2},
};

AugmentProgram Parsed(const char* ops, ElementType type, Layout layout) {
  auto program = AugmentProgram::Parse(ops, type, layout);
  if (!program) {
    std::fprintf(stderr, "%s\n", program.error().message.c_str());
    std::exit(1);
  }
  return *std::move(program);
}

double HalfValue(std::uint16_t bits) {
  const int exponent = bits >> 10 & 0x1F;
  const int fraction = bits & 0x3FF;
  double value = exponent == 0    ? std::ldexp(fraction, -24)
                 : exponent != 31 ? std::ldexp(1024 + fraction, exponent - 25)
                 : fraction == 0  ? HUGE_VAL
                                  : std::nan("");
  return (bits & 0x8000) != 0 ? -value : value;
}

// Element `i` of an output.
double ValueAt(const std::byte* data, ElementType type, std::size_t i) {
  if (type == ElementType::kU8) return static_cast<double>(data[i]);
  if (type == ElementType::kF16) {
    std::uint16_t bits = 0;
    std::memcpy(&bits, data + i * sizeof bits, sizeof bits);
    return HalfValue(bits);
  }
  float value = 0;
  std::memcpy(&value, data + i * sizeof value, sizeof value);
  return value;
}

// The allowed error of a value, in units of the output.
double Limit(const Program& which) {
  if (which.type == ElementType::kU8) return which.counts;
  const double counts = which.counts / (255 * 0.224);  // the smallest deviation of the three
  // Values reach 2.7. The allowed error is one unit of binary16 at that size, or, in float, the
  // rounding of products and sums.
  return counts + (which.type == ElementType::kF16 ? 0x1p-9 : 1e-5);
}

// Says how the device's output of one picture differs from the CPU's; empty if it does not.
std::string Difference(cuda::Device& device, const Program& which) {
  const AugmentProgram program = Parsed(which.ops, which.type, which.layout);
  const Size size = which.picture;
  const auto pitch = static_cast<std::size_t>(cuda::PitchOf(size.width));
  const std::size_t bytes = pitch * static_cast<std::size_t>(size.height) + 64;
  auto stream = device.MakeStream();
  auto host = device.Allocate(cuda::Kind::kPinned, bytes);
  auto input = device.Allocate(cuda::Kind::kDevice, bytes);
  auto output = device.Allocate(cuda::Kind::kDevice, program.format().bytes());
  auto fetched = device.Allocate(cuda::Kind::kPinned, program.format().bytes());
  if (!stream || !host || !input || !output || !fetched) return "no memory";
  for (std::size_t i = 0; i < bytes; ++i) {
    const double wave = 90 * std::sin(0.004 * static_cast<double>(i));
    host->data()[i] = static_cast<std::byte>(static_cast<int>(128 + wave));
  }
  const SampleKey key{3, 1, 4};
  const AugmentPlan plan = DrawPlan(program.ops(), size, key);
  Augmenter augmenter(program);
  std::vector<std::byte> wanted(program.format().bytes());
  const ImageView view{reinterpret_cast<const std::uint8_t*>(host->data()), size.width, size.height,
                       static_cast<std::ptrdiff_t>(pitch)};
  if (!augmenter.Run(plan, view, {0, 0, size.width, size.height}, 1, wanted)) {
    return "the CPU refuses it";
  }
  cuda::PassList list;
  DevicePicture picture;
  picture.at = {cuda::Memory::kInput, 0, static_cast<std::int64_t>(pitch), size.width, size.height};
  picture.covers = {0, 0, size.width, size.height};
  penstock::Result<void> done = PlanPasses(program).Add(plan, picture, 0, list);
  list.Arrange();
  std::memset(fetched->data(), 0xFF, fetched->size());  // 0xFF bytes are NaN in float
  if (done) done = (*stream)->CopyIn(output->data(), fetched->data(), fetched->size());
  if (done) done = (*stream)->CopyIn(input->data(), host->data(), bytes);
  if (done) done = (*stream)->Upload(list);
  for (int i = 0; done && i < 2; ++i) {  // twice, since it is timed repeatedly
    done = (*stream)->Start(list, input->data(), output->data());
  }
  if (done) done = (*stream)->CopyOut(fetched->data(), output->data(), fetched->size());
  if (done) done = (*stream)->Mark(0);
  if (done) done = (*stream)->Wait(0);
  if (!done) return done.error().message;
  const double limit = Limit(which);
  const OutputFormat format = program.format();
  const std::size_t values =
      3 * static_cast<std::size_t>(format.width) * static_cast<std::size_t>(format.height);
  for (std::size_t i = 0; i < values; ++i) {
    const double made = ValueAt(fetched->data(), which.type, i);
    const double want = ValueAt(wanted.data(), which.type, i);
    if (!(std::abs(made - want) <= limit)) {  // true for NaN too
      return "value " + std::to_string(i) + " is " + std::to_string(made) + ", not " +
             std::to_string(want);
    }
  }
  return {};
}

void Run(benchmark::State& state, cuda::Device& device, const Program& which) {
  const bool emulated = device.info().emulated;
  const std::string wrong = Difference(device, which);
  if (!wrong.empty()) {
    state.SkipWithError(wrong.c_str());
    return;
  }
  const AugmentProgram program = Parsed(which.ops, which.type, which.layout);
  std::vector<DeviceTime> times;
  for (auto _ : state) {
    const auto time = MeasureProgram(device, program, which.picture, emulated ? 2 : kPictures,
                                     TimingFor(device.info()));
    if (!time) {
      state.SkipWithError(time.error().message.c_str());
      return;
    }
    times.push_back(*time);
    state.SetIterationTime(penstock::Seconds(time->batch));
  }
  const auto middle = times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2);
  std::nth_element(times.begin(), middle, times.end(),
                   [](const DeviceTime& a, const DeviceTime& b) { return a.batch < b.batch; });
  state.counters["bytes_per_s"] = middle->bytes_per_s();
  state.counters["ms_per_megapixel"] = middle->ms_per_megapixel();
  const double peak = device.info().memory_bytes_per_s;
  if (peak > 0) state.counters["share_of_peak"] = middle->bytes_per_s() / peak;
}

}  // namespace

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  const char* wanted = std::getenv("PENSTOCK_BENCH_DEVICE");
  std::unique_ptr<cuda::Device> device;
  if (wanted != nullptr && std::strcmp(wanted, "emulated") == 0) {
    device = cuda::MakeEmulatedDevice();
  } else {
    auto opened = cuda::OpenDevice(0);
    if (!opened) {
      std::fprintf(stderr, "cuda_augment_bench: %s: nothing is measured\n",
                   opened.error().message.c_str());
      return 0;
    }
    device = std::move(*opened);
  }
  for (const Program& program : kPrograms) {
    benchmark::RegisterBenchmark(program.name,
                                 [&](benchmark::State& state) { Run(state, *device, program); })
        ->UseManualTime()
        ->Iterations(device->info().emulated ? 1 : kIterations)
        ->Unit(benchmark::kMillisecond);
  }
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
  return 0;
}
