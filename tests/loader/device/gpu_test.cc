// SPDX-License-Identifier: Apache-2.0
//
// The claims of the emulation's tests, on a GPU. Without a GPU they are skipped, with the reason;
// with PENSTOCK_REQUIRE_GPU=1 they fail instead. PENSTOCK_NVJPEG names a libnvjpeg that the dynamic
// linker does not find. Without any libnvjpeg the tests of nvJPEG are skipped.
#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <memory>
#include <string_view>
#include <utility>

#include "tests/loader/device/support.h"

namespace penstock::loader {
namespace {

class GpuTest : public testing::Test {
 protected:
  void SetUp() override {
    auto device = cuda::OpenDevice(0);
    if (!device) {
      const char* required = std::getenv("PENSTOCK_REQUIRE_GPU");
      if (required != nullptr && std::string_view(required) == "1")
        FAIL() << device.error().message;
      GTEST_SKIP() << device.error().message;
    }
    device_ = std::move(*device);
  }

  std::unique_ptr<cuda::Device> device_;
};

TEST_F(GpuTest, PixelsAreTheCpusWithinTheTolerance) {
  ExpectDeviceAgreesWithCpu(*device_);
}

TEST_F(GpuTest, PixelsAreThoseOfTheFormulasInDoublePrecision) {
  ExpectDeviceAgreesWithGoldens(*device_);
}

TEST_F(GpuTest, AListThatIsStartedAgainMakesTheSamePixels) {
  ExpectStartsAreAlike(*device_);
}

TEST_F(GpuTest, PixelsOfNvjpegAreLibjpegsWithinTheTolerance) {
  const char* library = std::getenv("PENSTOCK_NVJPEG");
  for (const auto backend :
       {cuda::JpegBackend::kHardware, cuda::JpegBackend::kGpuHybrid, cuda::JpegBackend::kHybrid}) {
    SCOPED_TRACE(cuda::JpegBackendName(backend));
    cuda::JpegOptions options;
    options.backend = backend;
    options.cpu_threads = 3;
    if (library != nullptr) options.path = library;
    auto jpeg = cuda::JpegBatches::Make(options, *device_);
    if (jpeg) {
      ExpectJpegAgreesWithCpu(*device_, **jpeg);
    } else if (library == nullptr &&
               jpeg.error().message.find("unavailable") != std::string::npos) {
      GTEST_SKIP() << jpeg.error().message;
    } else {  // not every device has engines
      EXPECT_EQ(backend, cuda::JpegBackend::kHardware) << jpeg.error().message;
    }
  }
}

TEST_F(GpuTest, MarksAreInOrderAndCountFromTheAnchor) {
  ASSERT_TRUE(device_->Anchor());
  auto stream = device_->MakeStream();
  ASSERT_TRUE(stream);
  constexpr std::size_t kBytes = 8 << 20;
  auto host = device_->Allocate(cuda::Kind::kPinned, kBytes);
  auto memory = device_->Allocate(cuda::Kind::kDevice, kBytes);
  ASSERT_TRUE(host && memory);
  std::memset(host->data(), 1, kBytes);
  ASSERT_TRUE((*stream)->Mark(0));
  ASSERT_TRUE((*stream)->CopyIn(memory->data(), host->data(), kBytes));
  ASSERT_TRUE((*stream)->Mark(1));
  ASSERT_TRUE((*stream)->Wait(1));
  const auto begun = (*stream)->SinceAnchor(0);
  const auto done = (*stream)->SinceAnchor(1);
  ASSERT_TRUE(begun && done);
  EXPECT_GE(begun->value, 0);
  EXPECT_GT(done->value, begun->value);
}

}  // namespace
}  // namespace penstock::loader
