// SPDX-License-Identifier: Apache-2.0
//
// The pipeline on a device that fails: the emulation with faults.
#include <gtest/gtest.h>

#include <atomic>
#include <cstddef>
#include <memory>
#include <new>
#include <string>
#include <utility>

#include "tests/loader/pipeline/support.h"

namespace penstock::loader {
namespace {

using test::Delivered;
using test::RunAll;

enum class Fault { kNone, kRunFails, kRunThrows, kCopyInSpoils, kCopyOutFails };

struct Faulty {
  Fault fault = Fault::kNone;
  std::atomic<int> in_flight{0};  // copies that nobody has waited for
};

class FaultyStream final : public cuda::Stream {
 public:
  FaultyStream(std::unique_ptr<cuda::Stream> real, Faulty& faulty)
      : real_(std::move(real)), faulty_(faulty) {}

  Result<void> CopyIn(void* device, const void* host, std::size_t bytes) override {
    ++copies_;
    ++faulty_.in_flight;
    Result<void> copied = real_->CopyIn(device, host, bytes);
    if (faulty_.fault == Fault::kCopyInSpoils && bytes != 0) {
      *static_cast<std::byte*>(device) ^= std::byte{1};
    }
    return copied;
  }
  Result<void> CopyOut(void* host, const void* device, std::size_t bytes) override {
    if (faulty_.fault == Fault::kCopyOutFails) {
      return penstock::Fail(ErrorKind::kEnvironment, "no way back");
    }
    return real_->CopyOut(host, device, bytes);
  }
  Result<void> Upload(const cuda::PassList& list) override { return real_->Upload(list); }
  Result<void> Start(const cuda::PassList& list, const std::byte* input,
                     std::byte* output) override {
    if (faulty_.fault == Fault::kRunFails) {
      return penstock::Fail(ErrorKind::kEnvironment, "no kernels today");
    }
    if (faulty_.fault == Fault::kRunThrows) throw std::bad_alloc();
    return real_->Start(list, input, output);
  }
  Result<void> Mark(unsigned mark) override {
    marked_ = copies_;
    return real_->Mark(mark);
  }
  Result<void> Wait(unsigned mark) override {  // the pipeline waits only for the last mark
    faulty_.in_flight -= std::exchange(marked_, 0);
    copies_ = 0;
    return real_->Wait(mark);
  }
  Result<void> Follow(cuda::Stream& other, unsigned mark) override {
    return real_->Follow(*static_cast<FaultyStream&>(other).real_, mark);
  }
  Result<TimeNs> SinceAnchor(unsigned mark) override { return real_->SinceAnchor(mark); }
  void* native() override { return nullptr; }

 private:
  std::unique_ptr<cuda::Stream> real_;
  Faulty& faulty_;
  int copies_ = 0;  // since the last wait
  int marked_ = 0;  // copies before the last mark
};

class FaultyDevice final : public cuda::Device {
 public:
  explicit FaultyDevice(Fault fault) { faulty_.fault = fault; }

  const cuda::DeviceInfo& info() const override { return real_->info(); }
  Result<void> MakeCurrent() override { return {}; }
  Result<cuda::DeviceMemory> Allocate(cuda::Kind kind, std::size_t bytes) override {
    return real_->Allocate(kind, bytes);
  }
  void Free(cuda::Kind kind, void* data) override { real_->Free(kind, data); }
  Result<std::unique_ptr<cuda::Stream>> MakeStream() override {
    auto real = real_->MakeStream();
    if (!real) return real;
    return std::unique_ptr<cuda::Stream>(std::make_unique<FaultyStream>(std::move(*real), faulty_));
  }
  Result<void> Anchor() override { return real_->Anchor(); }
  [[nodiscard]] int in_flight() const { return faulty_.in_flight; }

 private:
  std::unique_ptr<cuda::Device> real_ = cuda::MakeEmulatedDevice();
  Faulty faulty_;
};

PipelineOptions On(FaultyDevice& device, bool augment) {
  PipelineOptions options = test::Synthetic(2, 8);
  options.device.device = &device;
  options.device.augment = augment;
  options.device.fetch = true;
  return options;
}

TEST(DeviceTroubleTest, WhatWasQueuedBeforeAFailureIsWaitedFor) {
  const test::DoubleSource source(40);
  for (const Fault fault : {Fault::kRunFails, Fault::kRunThrows, Fault::kCopyOutFails}) {
    SCOPED_TRACE(static_cast<int>(fault));
    FaultyDevice device(fault);
    const Delivered got = RunAll(source, On(device, true));
    EXPECT_NE(got.error, "");
    EXPECT_EQ(got.error_kind, ErrorKind::kEnvironment);
    EXPECT_EQ(device.in_flight(), 0);
  }
}

TEST(DeviceTroubleTest, MemoryThatRunsOutEndsTheRunInOneLine) {
  const test::DoubleSource source(40);
  FaultyDevice device(Fault::kRunThrows);
  const Delivered got = RunAll(source, On(device, true));
  EXPECT_NE(got.error.find("bad_alloc"), std::string::npos) << got.error;
}

TEST(DeviceTroubleTest, DigestsAreOfWhatTheDeviceHasGot) {
  const test::DoubleSource source(40);
  FaultyDevice sound(Fault::kNone);
  FaultyDevice spoils(Fault::kCopyInSpoils);
  const Delivered wanted = RunAll(source, On(sound, false));
  const Delivered got = RunAll(source, On(spoils, false));
  ASSERT_EQ(wanted.error, "");
  ASSERT_EQ(got.error, "");
  ASSERT_FALSE(wanted.digests.empty());
  EXPECT_NE(got.digests[0].ordered, wanted.digests[0].ordered);
  EXPECT_GT(wanted.stats.device.fetch.value, 0);
}

}  // namespace
}  // namespace penstock::loader
