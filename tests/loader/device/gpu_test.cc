// SPDX-License-Identifier: Apache-2.0
//
// The same claims as of the emulation, on the GPU; skipped with the reason where there is none.
#include <gtest/gtest.h>

#include <memory>
#include <utility>

#include "tests/loader/device/support.h"

namespace penstock::loader {
namespace {

class GpuTest : public testing::Test {
 protected:
  void SetUp() override {
    auto device = cuda::OpenDevice(0);
    if (!device) GTEST_SKIP() << device.error().message;
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

TEST_F(GpuTest, MarksAreInOrderAndCountFromTheAnchor) {
  ASSERT_TRUE(device_->Anchor());
  auto stream = device_->MakeStream();
  ASSERT_TRUE(stream);
  constexpr std::size_t kBytes = 8 << 20;
  auto host = device_->Allocate(cuda::Kind::kPinned, kBytes);
  auto memory = device_->Allocate(cuda::Kind::kDevice, kBytes);
  ASSERT_TRUE(host && memory);
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
