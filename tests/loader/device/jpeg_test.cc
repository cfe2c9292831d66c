// SPDX-License-Identifier: Apache-2.0
//
// Both ways of decoding by nvJPEG, with its stand-in on the emulated device.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tests/loader/device/support.h"
#include "tests/loader/support/jpeg_writer.h"
#include "tests/loader/support/scoped_variable.h"
#include "tests/paths.h"

namespace penstock::loader {
namespace {

// Runs with each backend of the stand-in, and with one and three threads for the CPU's part.
class JpegBatchesTest : public testing::TestWithParam<std::pair<cuda::JpegBackend, int>> {
 protected:
  JpegBatchesTest() : engines_("PENSTOCK_FAKE_NVJPEG_ENGINES", "1") {
    cuda::JpegOptions options;
    options.path = paths::kFakeNvjpeg;
    options.backend = GetParam().first;
    options.cpu_threads = GetParam().second;
    auto jpeg = cuda::JpegBatches::Make(options, *device_);
    EXPECT_TRUE(jpeg) << (jpeg ? "" : jpeg.error().message);
    if (jpeg) jpeg_ = std::move(*jpeg);
  }

  const test::ScopedVariable engines_;
  const std::unique_ptr<cuda::Device> device_ = cuda::MakeEmulatedDevice();
  std::unique_ptr<cuda::JpegBatches> jpeg_;
};

TEST_P(JpegBatchesTest, PixelsAreTheCpus) {
  ASSERT_NE(jpeg_, nullptr);
  EXPECT_EQ(jpeg_->backend(), GetParam().first);
  for (int i = 0; i < 3; ++i) ExpectJpegAgreesWithCpu(*device_, *jpeg_);
}

TEST_P(JpegBatchesTest, AnEmptyRegionIsNotTheFilesFault) {
  ASSERT_NE(jpeg_, nullptr);
  auto stream = device_->MakeStream();
  ASSERT_TRUE(stream);
  cuda::JpegPicture picture;
  picture.region = {0, 0, 0, 0};
  std::vector<std::size_t> which;
  const Result<void> refused = jpeg_->Decode({&picture, 1}, **stream, which);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, ErrorKind::kEnvironment);
  EXPECT_TRUE(which.empty());
}

TEST_P(JpegBatchesTest, ABatchAfterARefusedOneOfItsSizeIsDecoded) {
  ASSERT_NE(jpeg_, nullptr);
  auto stream = device_->MakeStream();
  ASSERT_TRUE(stream);
  const std::vector<std::byte> none(100);
  cuda::JpegPicture picture;
  picture.file = none;
  picture.region = {0, 0, 1, 1};
  EXPECT_FALSE(jpeg_->Takes(picture));
  std::vector<std::size_t> which;
  const Result<void> refused = jpeg_->Decode({&picture, 1}, **stream, which);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, ErrorKind::kInput);
  EXPECT_EQ(which, std::vector<std::size_t>{0});
  ExpectJpegAgreesWithCpu(*device_, *jpeg_);
}

INSTANTIATE_TEST_SUITE_P(Backends, JpegBatchesTest,
                         testing::Values(std::pair{cuda::JpegBackend::kHardware, 1},
                                         std::pair{cuda::JpegBackend::kGpuHybrid, 1},
                                         std::pair{cuda::JpegBackend::kHybrid, 1},
                                         std::pair{cuda::JpegBackend::kHybrid, 3}));

cuda::JpegOptions StandIn(cuda::JpegBackend backend, int cpu_threads) {
  cuda::JpegOptions options;
  options.path = paths::kFakeNvjpeg;
  options.backend = backend;
  options.cpu_threads = cpu_threads;
  return options;
}

TEST(JpegBackendTest, AutoTakesTheEnginesWhereThereAreSome) {
  const auto device = cuda::MakeEmulatedDevice();
  const auto without = cuda::JpegBatches::Make(StandIn(cuda::JpegBackend::kAuto, 1), *device);
  ASSERT_TRUE(without);
  EXPECT_EQ((*without)->backend(), cuda::JpegBackend::kGpuHybrid);
  EXPECT_EQ((*without)->engines(), 0U);
  const auto named = cuda::JpegBatches::Make(StandIn(cuda::JpegBackend::kHardware, 1), *device);
  ASSERT_FALSE(named);
  EXPECT_EQ(named.error().message,
            "nvJPEG: this device has no hardware decoding: wrong architecture (7)");
  const test::ScopedVariable engines("PENSTOCK_FAKE_NVJPEG_ENGINES", "1");
  const auto with = cuda::JpegBatches::Make(StandIn(cuda::JpegBackend::kAuto, 1), *device);
  ASSERT_TRUE(with);
  EXPECT_EQ((*with)->backend(), cuda::JpegBackend::kHardware);
  EXPECT_EQ((*with)->engines(), 2U);
}

// The calls on streams, in order.
struct Orders {
  std::vector<std::string> of_main;
  std::vector<std::string> of_slots;
};

class OrderedStream final : public cuda::Stream {
 public:
  OrderedStream(std::unique_ptr<cuda::Stream> real, std::vector<std::string>& orders)
      : real_(std::move(real)), orders_(orders) {}
  Result<void> CopyIn(void* device, const void* host, std::size_t bytes) override {
    return real_->CopyIn(device, host, bytes);
  }
  Result<void> CopyOut(void* host, const void* device, std::size_t bytes) override {
    return real_->CopyOut(host, device, bytes);
  }
  Result<void> Upload(const cuda::PassList& list) override { return real_->Upload(list); }
  Result<void> Start(const cuda::PassList& list, const std::byte* input,
                     std::byte* output) override {
    return real_->Start(list, input, output);
  }
  Result<void> Mark(unsigned mark) override {
    orders_.push_back("mark " + std::to_string(mark));
    return real_->Mark(mark);
  }
  Result<void> Wait(unsigned mark) override {
    orders_.push_back("wait " + std::to_string(mark));
    return real_->Wait(mark);
  }
  Result<void> Follow(cuda::Stream& other, unsigned mark) override {
    orders_.push_back("follow " + std::to_string(mark));
    return real_->Follow(*static_cast<OrderedStream&>(other).real_, mark);
  }
  Result<TimeNs> SinceAnchor(unsigned mark) override { return real_->SinceAnchor(mark); }
  void* native() override { return real_->native(); }

 private:
  std::unique_ptr<cuda::Stream> real_;
  std::vector<std::string>& orders_;
};

// The emulated device. Calls on its first stream are kept apart from calls on the others.
class OrderedDevice final : public cuda::Device {
 public:
  explicit OrderedDevice(Orders& orders) : orders_(orders) {}
  const cuda::DeviceInfo& info() const override { return real_->info(); }
  Result<void> MakeCurrent() override { return real_->MakeCurrent(); }
  Result<cuda::DeviceMemory> Allocate(cuda::Kind kind, std::size_t bytes) override {
    return real_->Allocate(kind, bytes);
  }
  void Free(cuda::Kind kind, void* data) override { real_->Free(kind, data); }
  Result<std::unique_ptr<cuda::Stream>> MakeStream() override {
    auto stream = real_->MakeStream();
    if (!stream) return stream;
    auto& orders = std::exchange(is_first_, false) ? orders_.of_main : orders_.of_slots;
    return std::make_unique<OrderedStream>(std::move(*stream), orders);
  }
  Result<void> Anchor() override { return real_->Anchor(); }

 private:
  const std::unique_ptr<cuda::Device> real_ = cuda::MakeEmulatedDevice();
  Orders& orders_;
  bool is_first_ = true;
};

// A slot begins after the work that is already queued in the batch's stream. It takes a picture
// when the GPU is done with the slot's previous one. The batch's stream goes on after the work of
// all slots.
TEST(JpegBackendTest, PhasesKeepTheOrderOfTheBatchesStream) {
  Orders orders;
  OrderedDevice device(orders);
  auto stream = device.MakeStream();
  ASSERT_TRUE(stream);
  auto jpeg = cuda::JpegBatches::Make(StandIn(cuda::JpegBackend::kHybrid, 1), device);
  ASSERT_TRUE(jpeg);
  const std::vector<std::byte> file = test::MakeJpeg({}, 1);
  std::vector<std::uint8_t> pixels(64 * 8);
  const std::vector<cuda::JpegPicture> pictures(3, {file, {0, 0, 8, 8}, pixels.data(), 64});
  std::vector<std::size_t> which;
  ASSERT_TRUE((*jpeg)->Decode(pictures, **stream, which));
  using List = std::vector<std::string>;
  // There are two slots, and the first is used twice.
  EXPECT_EQ(orders.of_slots, (List{"follow 5", "mark 0", "mark 1", "follow 5", "mark 0", "mark 1",
                                   "wait 1", "mark 0", "mark 1"}));
  EXPECT_EQ(orders.of_main, (List{"mark 5", "follow 1", "follow 1"}));
  orders.of_slots.clear();
  const auto stretches = (*jpeg)->Stretches();
  EXPECT_EQ(orders.of_slots, (List{"wait 1", "wait 1"}));
  ASSERT_FALSE(stretches.empty());
  EXPECT_LE(stretches.size(), 3U);
  for (std::size_t i = 0; i < stretches.size(); ++i) {
    EXPECT_LE(stretches[i].first, stretches[i].second);
    EXPECT_TRUE(i == 0 || stretches[i - 1].second < stretches[i].first);
  }
  EXPECT_TRUE((*jpeg)->Stretches().empty());
}

// A damaged picture among good ones is named; the good ones are decoded as without it.
TEST(JpegBackendTest, PhasesNameThePictureThatIsDamaged) {
  const auto device = cuda::MakeEmulatedDevice();
  auto jpeg = cuda::JpegBatches::Make(StandIn(cuda::JpegBackend::kHybrid, 3), *device);
  ASSERT_TRUE(jpeg);
  test::JpegSpec spec;
  std::vector<std::byte> good = test::MakeJpeg(spec, 1);
  std::vector<std::byte> damaged = good;
  for (std::size_t i = good.size() / 2; i + 2 < good.size(); i += 2) {
    damaged[i] = std::byte{0xFF};
    damaged[i + 1] = std::byte{0xD9};
  }
  const auto pitch = static_cast<std::size_t>(cuda::PitchOf(spec.width));
  const std::size_t room = pitch * static_cast<std::size_t>(spec.height);
  std::vector<std::uint8_t> pixels(20 * room);
  std::vector<cuda::JpegPicture> pictures(20);
  for (std::size_t i = 0; i < pictures.size(); ++i) {
    const bool bad = i == 3 || i == 11;
    pictures[i] = {bad ? damaged : good, {0, 0, spec.width, spec.height}, &pixels[i * room], pitch};
  }
  auto stream = device->MakeStream();
  ASSERT_TRUE(stream);
  std::vector<std::size_t> which;
  const Result<void> decoded = (*jpeg)->Decode(pictures, **stream, which);
  ASSERT_FALSE(decoded);
  EXPECT_EQ(decoded.error().kind, ErrorKind::kInput);
  EXPECT_EQ(which, (std::vector<std::size_t>{3, 11}));
  for (std::size_t i = 4; i < 11; ++i) {
    EXPECT_TRUE(std::equal(&pixels[i * room], &pixels[(i + 1) * room], pixels.data()));
  }
}

// Whether CPU or GPU reads the codes of a picture, as lines of the stand-in's log.
std::string CodesOf(cuda::JpegBackend backend, int width, int height, bool progressive) {
  const std::string log = testing::TempDir() + "penstock-nvjpeg-log";
  std::remove(log.c_str());
  const test::ScopedVariable named("PENSTOCK_FAKE_NVJPEG_LOG", log);
  const auto device = cuda::MakeEmulatedDevice();
  auto jpeg = cuda::JpegBatches::Make(StandIn(backend, 1), *device);
  auto stream = device->MakeStream();
  test::JpegSpec spec;
  spec.width = width;
  spec.height = height;
  spec.progressive = progressive;
  const std::vector<std::byte> file = test::MakeJpeg(spec, 1);
  std::vector<std::uint8_t> pixels(64 * 8);
  const cuda::JpegPicture picture = {file, {0, 0, 8, 8}, pixels.data(), 64};
  EXPECT_TRUE((*jpeg)->Takes(picture));
  std::vector<std::size_t> which;
  EXPECT_TRUE((*jpeg)->Decode({&picture, 1}, **stream, which));
  std::string line;
  std::getline(std::ifstream(log) >> std::ws, line);
  std::remove(log.c_str());
  return line;
}

TEST(JpegBackendTest, CodesOfLargeBaselinePicturesAreTheGpus) {
  EXPECT_EQ(CodesOf(cuda::JpegBackend::kGpuHybrid, 1000, 1000, false), "gpu");
  EXPECT_EQ(CodesOf(cuda::JpegBackend::kGpuHybrid, 1000, 999, false), "cpu");
  EXPECT_EQ(CodesOf(cuda::JpegBackend::kGpuHybrid, 1000, 1000, true), "cpu");
  EXPECT_EQ(CodesOf(cuda::JpegBackend::kHybrid, 1000, 1000, false), "cpu");
}

}  // namespace
}  // namespace penstock::loader
