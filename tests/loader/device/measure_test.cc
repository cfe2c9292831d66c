// SPDX-License-Identifier: Apache-2.0
//
// Checks which work counts in a measured interval. The device's clock moves only by the work that
// the device is given.
#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <memory>
#include <utility>

#include "loader/device/measure.h"
#include "tests/loader/augment/support.h"

namespace penstock::loader {
namespace {

constexpr TimeNs kKernels{107'000};
constexpr TimeNs kUpload{22'000};
constexpr TimeNs kCopy{300'000};
constexpr std::size_t kCopied = std::size_t{1} << 20;  // a copy takes kCopy; a smaller one nothing

struct Counts {
  TimeNs idle{};        // time until an idle device begins the first queued work
  bool stands = false;  // the clock does not advance
  TimeNs now{};
  int uploads = 0;
  int starts = 0;
  int marks = 0;
};

// The emulation's memory; kernels only take time.
class ClockedStream final : public cuda::Stream {
 public:
  explicit ClockedStream(Counts& counts) : counts_(counts) {}

  Result<void> CopyIn(void* /*device*/, const void* /*host*/, std::size_t bytes) override {
    if (bytes >= kCopied) Take(kCopy);
    return {};
  }
  Result<void> CopyOut(void* /*host*/, const void* /*device*/, std::size_t /*bytes*/) override {
    return {};
  }
  Result<void> Upload(const cuda::PassList& list) override {
    ++counts_.uploads;
    passes_ = list.passes().size();
    counts_.now += kUpload;
    return {};
  }
  Result<void> Start(const cuda::PassList& list, const std::byte* /*input*/,
                     std::byte* /*output*/) override {
    EXPECT_EQ(list.passes().size(), passes_);
    ++counts_.starts;
    // The first launches run on a device whose clock rate is still low.
    Take(counts_.starts <= 30 ? TimeNs{6 * kKernels.value} : kKernels);
    return {};
  }
  Result<void> Mark(unsigned mark) override {
    ++counts_.marks;
    marks_[mark] = counts_.now;
    return {};
  }
  Result<void> Wait(unsigned /*mark*/) override {
    idle_ = true;
    return {};
  }
  Result<void> Follow(Stream& /*other*/, unsigned /*mark*/) override { return {}; }
  Result<TimeNs> SinceAnchor(unsigned mark) override {
    return counts_.stands ? TimeNs{5} : marks_[mark];
  }
  void* native() override { return nullptr; }

 private:
  void Take(TimeNs length) {  // an idle device first waits for the CPU to queue work
    if (std::exchange(idle_, false)) counts_.now += counts_.idle;
    counts_.now += length;
  }

  Counts& counts_;
  bool idle_ = true;
  std::size_t passes_ = 0;
  std::array<TimeNs, kMarks> marks_{};
};

class ClockedDevice final : public cuda::Device {
 public:
  explicit ClockedDevice(Counts& counts) : counts_(counts) {}

  const cuda::DeviceInfo& info() const override { return info_; }
  Result<void> MakeCurrent() override { return {}; }
  Result<cuda::DeviceMemory> Allocate(cuda::Kind kind, std::size_t bytes) override {
    return memory_->Allocate(kind, bytes);
  }
  void Free(cuda::Kind kind, void* data) override { memory_->Free(kind, data); }
  Result<std::unique_ptr<cuda::Stream>> MakeStream() override {
    return std::unique_ptr<cuda::Stream>(std::make_unique<ClockedStream>(counts_));
  }
  Result<void> Anchor() override { return {}; }

 private:
  std::unique_ptr<cuda::Device> memory_ = cuda::MakeEmulatedDevice();
  cuda::DeviceInfo info_;
  Counts& counts_;
};

Result<DeviceTime> MeasureOne(cuda::Device& device, const Timing& timing) {
  const AugmentProgram program =
      Parsed("crop=24x24,contrast=0.5,normalize", ElementType::kF16, Layout::kChw);
  return MeasureProgram(device, program, {32, 32}, 2, timing);
}

TEST(MeasureTest, AnIntervalHoldsKernelsAlone) {
  Counts counts{.idle = TimeNs{9'000}};
  ClockedDevice device(counts);
  const auto time = MeasureOne(device, {9, 20, TimeNs{}});
  ASSERT_TRUE(time);
  EXPECT_EQ(counts.uploads, 1);
  EXPECT_EQ(counts.marks, 2 * (1 + 9));
  EXPECT_EQ(counts.starts, (1 + 20) * (1 + 9));
  EXPECT_EQ(time->batch, kKernels);  // neither the upload nor the idle time, whole or divided
}

TEST(MeasureTest, WarmUpIsByTheTimeOfTheKernels) {
  Counts counts;
  ClockedDevice device(counts);
  const Timing timing{1, 20, TimeNs{100'000'000}};
  ASSERT_TRUE(MeasureOne(device, timing));
  const std::int64_t warm = (counts.starts - 21) * kKernels.value;
  EXPECT_GE(warm + 30 * 5 * kKernels.value, timing.warmup.value);
  EXPECT_LE(warm, timing.warmup.value * 3 / 2);
}

TEST(MeasureTest, ADeviceWhoseClockStandsIsMeasuredAllTheSame) {
  Counts counts{.stands = true};
  ClockedDevice device(counts);
  const auto time = MeasureOne(device, Timing{});
  ASSERT_TRUE(time);
  EXPECT_EQ(time->batch.value, 0);
}

TEST(MeasureTest, ACopyIsDividedLikewise) {
  Counts counts{.idle = TimeNs{9'000}};
  ClockedDevice device(counts);
  const auto time = MeasureCopy(device, kCopied, {5, 4, TimeNs{}});
  ASSERT_TRUE(time);
  EXPECT_EQ(time->batch, kCopy);
  EXPECT_EQ(counts.uploads + counts.starts, 0);
}

TEST(MeasureTest, AnEmulatedDeviceIsAskedForTheLeast) {
  const auto device = cuda::MakeEmulatedDevice();
  const Timing timing = TimingFor(device->info());
  EXPECT_EQ(timing.launches, 1U);
  EXPECT_EQ(timing.warmup.value, 0);
  EXPECT_GE(TimingFor(cuda::DeviceInfo{}).launches, 20U);
  EXPECT_GE(TimingFor(cuda::DeviceInfo{}).warmup.value, 100'000'000);
  const auto time = MeasureOne(*device, timing);
  ASSERT_TRUE(time);
  EXPECT_GT(time->batch.value, 0);
}

}  // namespace
}  // namespace penstock::loader
