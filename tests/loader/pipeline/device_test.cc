// SPDX-License-Identifier: Apache-2.0
//
// The pipeline with stages on a device: the emulation, and an nvJPEG that is libjpeg underneath.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "loader/trace/file_tracer.h"
#include "tests/loader/pipeline/support.h"
#include "tests/loader/support/jpeg_writer.h"
#include "tests/loader/support/scoped_variable.h"
#include "tests/paths.h"
#include "traces/trace.h"

namespace penstock::loader {
namespace {

namespace fs = std::filesystem;
using test::Delivered;
using test::RunAll;

constexpr std::uint64_t kFiles = 30;
// With these operations, which add nothing up, the device's pixels are the CPU's, byte for byte.
constexpr const char* kExactOps = "crop=24x32:top=3:left=5,flip,vflip";

class Folder {
 public:
  explicit Folder(const std::string& name) : path_(fs::path(testing::TempDir()) / name) {
    fs::remove_all(path_);
    fs::create_directories(path_ / "a");
    for (std::uint64_t i = 0; i < kFiles; ++i) {
      test::JpegSpec spec;
      spec.width = 60 + static_cast<int>(i);
      spec.height = 95 - static_cast<int>(i);
      spec.progressive = i % 7 == 0;
      if (i % 3 == 0) spec.sampling_x = spec.sampling_y = 2;
      Write(i, test::MakeJpeg(spec, static_cast<std::uint32_t>(i)));
    }
  }
  ~Folder() { fs::remove_all(path_); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;

  void Write(std::uint64_t i, std::span<const std::byte> bytes) const {
    Write(std::to_string(100 + i) + ".jpg", bytes);
  }
  void Write(const std::string& name, std::span<const std::byte> bytes) const {
    std::ofstream file(path_ / "a" / name, std::ios::binary);
    file.write(reinterpret_cast<const char*>(bytes.data()),
               static_cast<std::streamsize>(bytes.size()));
  }
  [[nodiscard]] std::unique_ptr<Source> Open() const {
    auto source = OpenSource(path_, {});
    EXPECT_TRUE(source) << (source ? "" : source.error().message);
    return source ? std::move(*source) : nullptr;
  }

 private:
  fs::path path_;
};

PipelineOptions Options(unsigned workers, unsigned batch) {
  PipelineOptions options;
  options.workers = workers;
  options.batch = batch;
  options.prefetch = 3;
  options.epochs = 2;
  options.seed = 11;
  return options;
}

PipelineOptions OnDevice(PipelineOptions options, cuda::Device& device, bool augment, bool decode) {
  options.device.device = &device;
  options.device.augment = augment;
  options.device.decode = decode;
  options.device.fetch = augment;
  options.device.jpeg.path = paths::kFakeNvjpeg;
  options.device.jpeg.cpu_threads = 2;
  return options;
}

void ExpectSame(const Delivered& a, const Delivered& b) {
  EXPECT_EQ(a.error, b.error);
  EXPECT_EQ(a.ids, b.ids);
  EXPECT_EQ(a.labels, b.labels);
  ASSERT_EQ(a.digests.size(), b.digests.size());
  for (std::size_t i = 0; i < a.digests.size(); ++i) {
    EXPECT_EQ(a.digests[i].ordered, b.digests[i].ordered) << "epoch " << i;
  }
}

TEST(DevicePipelineTest, EveryPlacementDeliversTheCpusBytesWhereNothingIsRounded) {
  const Folder files("penstock-device-exact");
  const auto source = files.Open();
  ASSERT_NE(source, nullptr);
  const auto device = cuda::MakeEmulatedDevice();
  const AugmentProgram program = test::Program(kExactOps);
  const Delivered wanted = RunAll(*source, Options(1, 8), program);
  ASSERT_EQ(wanted.error, "");
  ASSERT_EQ(wanted.ids.size(), 2 * kFiles);
  for (const unsigned workers : {0U, 1U, 3U}) {
    for (const auto& [augment, decode] :
         {std::pair{false, false}, std::pair{true, false}, std::pair{true, true}}) {
      SCOPED_TRACE(std::to_string(workers) + " workers" + (augment ? ", augment" : "") +
                   (decode ? ", decode" : ""));
      const Delivered got =
          RunAll(*source, OnDevice(Options(workers, 8), *device, augment, decode), program);
      ExpectSame(got, wanted);
      EXPECT_EQ(got.stats.device.batches, 8U);
    }
  }
}

TEST(DevicePipelineTest, WhatIsRoundedDoesNotDependOnWorkersOrBatches) {
  const Folder files("penstock-device-same");
  const auto source = files.Open();
  ASSERT_NE(source, nullptr);
  const auto device = cuda::MakeEmulatedDevice();
  const AugmentProgram program =
      test::Program("random_resized_crop=24,color_jitter=0.4,0.4,0.4,0.1,flip");
  const Delivered wanted = RunAll(*source, OnDevice(Options(1, 8), *device, true, true), program);
  for (const unsigned batch : {5U, 30U}) {
    const Delivered got =
        RunAll(*source, OnDevice(Options(2, batch), *device, true, true), program);
    ExpectSame(got, wanted);
  }
}

TEST(DevicePipelineTest, BatchesLieOnTheDevice) {
  const Folder files("penstock-device-there");
  const auto source = files.Open();
  ASSERT_NE(source, nullptr);
  const auto device = cuda::MakeEmulatedDevice();
  const AugmentProgram program = test::Program(kExactOps);
  PipelineOptions options = OnDevice(Options(2, 8), *device, true, false);
  const auto tracer = NoTracer();
  auto pipeline = Pipeline::Start(*source, program, options, *tracer);
  ASSERT_TRUE(pipeline) << pipeline.error().message;
  auto batch = (*pipeline)->Next();
  ASSERT_TRUE(batch && *batch);
  ASSERT_NE(batch->on_device(), nullptr);
  // The emulated device's memory can be read.
  EXPECT_TRUE(std::equal(batch->pixels().begin(), batch->pixels().end(), batch->on_device()));
  EXPECT_TRUE(std::any_of(batch->pixels().begin(), batch->pixels().end(),
                          [](std::byte value) { return value != std::byte{0}; }));
}

// The parameter: whether the stand-in for nvJPEG has engines, which take only baseline pictures.
class DeviceDecodeTest : public testing::TestWithParam<bool> {
 protected:
  DeviceDecodeTest() {
    if (GetParam()) engines_.emplace("PENSTOCK_FAKE_NVJPEG_ENGINES", "1");
  }
  [[nodiscard]] static std::string Name(const char* test) {  // of the test's own folder
    return std::string("penstock-device-") + test + (GetParam() ? "-engines" : "");
  }
  // How many of the set's five progressive pictures are refused.
  [[nodiscard]] static std::uint64_t refused_progressive() { return GetParam() ? 5 : 0; }

 private:
  std::optional<test::ScopedVariable> engines_;
};
INSTANTIATE_TEST_SUITE_P(Nvjpeg, DeviceDecodeTest, testing::Bool(), [](const auto& with) {
  return with.param ? "WithEngines" : "WithoutEngines";
});

TEST_P(DeviceDecodeTest, TheCpuDecodesRefusedPicturesAndItsShare) {
  const Folder files(Name("share"));
  const auto source = files.Open();
  ASSERT_NE(source, nullptr);
  const auto device = cuda::MakeEmulatedDevice();
  const AugmentProgram program = test::Program(kExactOps);
  PipelineOptions options = OnDevice(Options(2, 8), *device, true, true);
  Delivered got = RunAll(*source, options, program);
  EXPECT_EQ(got.stats.device.jpeg_backend, GetParam() ? "hardware" : "gpu-hybrid");
  EXPECT_EQ(got.stats.device.refused, 2 * refused_progressive());
  EXPECT_EQ(got.stats.device.decoded, 2 * (kFiles - refused_progressive()));
  options.device.decode_share = 0.5;
  const Delivered wanted = RunAll(*source, Options(1, 8), program);
  got = RunAll(*source, options, program);
  ExpectSame(got, wanted);
  EXPECT_GT(got.stats.device.decoded, 10U);
  EXPECT_LT(got.stats.device.decoded, 40U);
}

// A file whose damage shows only when it is decoded.
std::vector<std::byte> Damaged() {
  test::JpegSpec spec;
  spec.width = 64;
  spec.height = 64;
  std::vector<std::byte> damaged = test::MakeJpeg(spec, 3);
  // Markers where codes should be, from the middle of the data on.
  for (std::size_t i = damaged.size() / 2; i + 2 < damaged.size(); i += 2) {
    damaged[i] = std::byte{0xFF};
    damaged[i + 1] = std::byte{0xD9};
  }
  return damaged;
}

TEST_P(DeviceDecodeTest, ADamagedPictureIsReplacedAsWorkersReplaceIt) {
  const Folder files(Name("damage"));
  files.Write(4, Damaged());
  files.Write(12, Damaged());
  files.Write(13, Damaged());  // 12 and 13 are neighbours in the data set
  const auto source = files.Open();
  ASSERT_NE(source, nullptr);
  const auto device = cuda::MakeEmulatedDevice();
  const AugmentProgram program = test::Program("crop=60x60");
  const Delivered wanted = RunAll(*source, Options(1, 10), program);
  ASSERT_EQ(wanted.stats.errors, 2 * 3U);
  ASSERT_GT(wanted.stats.warnings, 0U);
  for (const unsigned batch : {4U, 10U, 30U}) {
    SCOPED_TRACE(batch);
    const Delivered got =
        RunAll(*source, OnDevice(Options(2, batch), *device, true, true), program);
    ExpectSame(got, wanted);
    EXPECT_EQ(got.stats.errors, 2 * 3U);
    // The damaged files were decoded by the device's thread, which also read the replacements.
    EXPECT_EQ(got.stats.warnings, wanted.stats.warnings);
    EXPECT_EQ(got.stats.io_reads, wanted.stats.io_reads);
    EXPECT_EQ(got.stats.io_bytes, wanted.stats.io_bytes);
    ASSERT_FALSE(got.stats.first_errors.empty());
    EXPECT_NE(got.stats.first_errors[0].message.find(".jpg"), std::string::npos);
    // nvJPEG still decodes the other pictures of their batches.
    EXPECT_EQ(got.stats.device.refused, 2 * (refused_progressive() + 3U));
    EXPECT_EQ(got.stats.device.decoded, 2 * (kFiles - refused_progressive() - 3));
  }
}

TEST_P(DeviceDecodeTest, ADamagedPictureIsNamedOnOneLine) {
  const Folder files(Name("line"));
  files.Write("line\nfeed.jpg", Damaged());
  const auto source = files.Open();
  ASSERT_NE(source, nullptr);
  const auto device = cuda::MakeEmulatedDevice();
  const AugmentProgram program = test::Program("crop=60x60");
  PipelineOptions options = OnDevice(Options(2, 10), *device, true, true);
  Delivered got = RunAll(*source, options, program);
  ASSERT_EQ(got.stats.first_errors.size(), 2U);
  const std::string message = got.stats.first_errors[0].message;
  EXPECT_NE(message.find("a/line?feed.jpg: "), std::string::npos) << message;
  EXPECT_EQ(message.find('\n'), std::string::npos) << message;
  options.on_error = OnError::kFail;
  got = RunAll(*source, options, program);
  EXPECT_NE(got.error.find("a/line?feed.jpg: "), std::string::npos) << got.error;
}

TEST_P(DeviceDecodeTest, ADamagedPictureEndsARunThatIsToFail) {
  const Folder files(Name("fail"));
  files.Write(4, Damaged());
  const auto source = files.Open();
  ASSERT_NE(source, nullptr);
  const auto device = cuda::MakeEmulatedDevice();
  PipelineOptions options = OnDevice(Options(2, 10), *device, true, true);
  options.on_error = OnError::kFail;
  const Delivered got = RunAll(*source, options, test::Program("crop=60x60"));
  EXPECT_NE(got.error.find("104.jpg"), std::string::npos) << got.error;
}

TEST_P(DeviceDecodeTest, ASetOfDamagedPicturesEndsTheRun) {
  const Folder files(Name("all"));
  for (std::uint64_t i = 0; i < kFiles; ++i) files.Write(i, Damaged());
  const auto source = files.Open();
  ASSERT_NE(source, nullptr);
  const auto device = cuda::MakeEmulatedDevice();
  const Delivered got =
      RunAll(*source, OnDevice(Options(2, 10), *device, true, true), test::Program("crop=60x60"));
  EXPECT_NE(got.error.find("the 29 samples that follow"), std::string::npos) << got.error;
}

// The picture has more pixels in a row than a block's memory holds, even after libjpeg has shrunk
// it.
TEST(DevicePipelineTest, APictureTooWideForTheKernelsIsReplaced) {
  const Folder files("penstock-device-wide");
  test::JpegSpec spec;
  spec.width = 60000;
  spec.height = 8;
  files.Write(6, test::MakeJpeg(spec, 3));
  const auto source = files.Open();
  ASSERT_NE(source, nullptr);
  const auto device = cuda::MakeEmulatedDevice();
  const AugmentProgram program = test::Program("resize=1x1");
  for (const bool decode : {false, true}) {
    PipelineOptions options = OnDevice(Options(2, 10), *device, true, decode);
    Delivered got = RunAll(*source, options, program);
    EXPECT_EQ(got.error, "");
    EXPECT_EQ(got.ids.size(), 2 * kFiles);
    EXPECT_EQ(std::count(got.ids.begin(), got.ids.end(), 6U), 0);
    EXPECT_EQ(got.stats.errors, 2U);
    options.on_error = OnError::kFail;
    got = RunAll(*source, options, program);
    EXPECT_NE(got.error.find("leave augment on the CPU"), std::string::npos) << got.error;
  }
}

TEST(DevicePipelineTest, SpansOfCopiesAndKernelsLieInTheRunAndNameTheirBatch) {
  const Folder files("penstock-device-trace");
  const auto source = files.Open();
  ASSERT_NE(source, nullptr);
  const auto device = cuda::MakeEmulatedDevice();
  const AugmentProgram program = test::Program("random_resized_crop=24,flip");
  const fs::path path = fs::path(testing::TempDir()) / "penstock-device-trace.penstock";
  {
    FileTracerOptions file;
    file.path = path;
    auto tracer = FileTracer(file);
    ASSERT_TRUE(tracer) << tracer.error().message;
    auto pipeline =
        Pipeline::Start(*source, program, OnDevice(Options(2, 8), *device, true, false), **tracer);
    ASSERT_TRUE(pipeline) << pipeline.error().message;
    for (;;) {
      auto batch = (*pipeline)->Next();
      ASSERT_TRUE(batch);
      if (!*batch) break;
    }
    (*pipeline)->Stop();
    const auto finished = (*tracer)->Finish();
    ASSERT_TRUE(finished) << finished.error().message;
  }
  const auto trace = traces::OpenTrace(path);
  ASSERT_TRUE(trace) << trace.error().message;
  std::map<traces::StageId, std::multiset<std::uint32_t>> batches;
  for (std::uint32_t t = 0; t < (*trace)->threads().size(); ++t) {
    for (const traces::Span& span : (*trace)->Spans(ThreadId{t})) {
      if (span.stage != traces::StageId::kH2d && span.stage != traces::StageId::kKernel) continue;
      batches[span.stage].insert(span.batch.index);
      EXPECT_GE(span.duration.value, 0);
    }
  }
  for (const auto stage : {traces::StageId::kH2d, traces::StageId::kKernel}) {
    EXPECT_EQ(batches[stage].size(), 8U);
    EXPECT_EQ(batches[stage].count(3), 2U);  // once an epoch
  }
  fs::remove(path);
}

TEST(DevicePipelineTest, ImpossiblePlacementsAreRefused) {
  const test::DoubleSource source(10);
  const auto device = cuda::MakeEmulatedDevice();
  PipelineOptions options = test::Synthetic(1, 4);
  options.device.device = device.get();
  options.device.decode = true;
  EXPECT_NE(RunAll(source, options).error.find("decode,augment"), std::string::npos);
  options.device.augment = true;
  EXPECT_NE(RunAll(source, options).error.find("decode is switched off"), std::string::npos);
  options.device.decode = false;
  options.augment.on = false;
  EXPECT_NE(RunAll(source, options).error.find("augment is switched off"), std::string::npos);
}

TEST(DevicePipelineTest, AStopInTheMiddleEndsCleanly) {
  const test::DoubleSource source(100'000);
  const auto device = cuda::MakeEmulatedDevice();
  PipelineOptions options = test::Synthetic(3, 16);
  options.device.device = device.get();
  options.device.augment = true;
  const auto tracer = NoTracer();
  const AugmentProgram program = test::Program();
  auto pipeline = Pipeline::Start(source, program, options, *tracer);
  ASSERT_TRUE(pipeline) << pipeline.error().message;
  for (int i = 0; i < 5; ++i) {
    auto batch = (*pipeline)->Next();
    ASSERT_TRUE(batch && *batch);
  }
  (*pipeline)->RequestStop();
  const auto after = (*pipeline)->Next();
  ASSERT_TRUE(after);
  EXPECT_FALSE(*after);
  (*pipeline)->Stop();
  EXPECT_GE((*pipeline)->stats().device.batches, 5U);
}

}  // namespace
}  // namespace penstock::loader
