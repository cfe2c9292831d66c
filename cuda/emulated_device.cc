// SPDX-License-Identifier: Apache-2.0
//
// The emulated device. Work that is queued is done at once, in the calling thread.
#include <array>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <new>
#include <vector>

#include "cuda/device.h"
#include "cuda/emulate.h"

namespace penstock::cuda {
namespace {

constexpr std::align_val_t kAlignment{256};  // as cudaMalloc()

TimeNs Now() {
  return TimeNs{std::chrono::duration_cast<std::chrono::nanoseconds>(
                    std::chrono::steady_clock::now().time_since_epoch())
                    .count()};
}

class EmulatedDevice;

class EmulatedStream final : public Stream {
 public:
  explicit EmulatedStream(EmulatedDevice& device) : device_(device) {}

  Result<void> CopyIn(void* device, const void* host, std::size_t bytes) override {
    if (bytes != 0) std::memcpy(device, host, bytes);
    return {};
  }
  Result<void> CopyOut(void* host, const void* device, std::size_t bytes) override {
    if (bytes != 0) std::memcpy(host, device, bytes);
    return {};
  }
  Result<void> Upload(const PassList& list) override;
  Result<void> Start(const PassList& list, const std::byte* input, std::byte* output) override;
  Result<void> Mark(unsigned mark) override {
    marks_[mark] = Now();
    return {};
  }
  Result<void> Wait(unsigned /*mark*/) override { return {}; }
  Result<void> Follow(Stream& /*other*/, unsigned /*mark*/) override { return {}; }
  Result<TimeNs> SinceAnchor(unsigned mark) override;
  void* native() override { return nullptr; }

 private:
  EmulatedDevice& device_;
  DeviceMemory scratch_;
  std::vector<unsigned long long> sums_;
  std::array<TimeNs, kMarks> marks_{};
};

class EmulatedDevice final : public Device {
 public:
  EmulatedDevice() {
    info_.name = "emulated on the CPU";
    info_.emulated = true;
  }
  const DeviceInfo& info() const override { return info_; }
  Result<void> MakeCurrent() override { return {}; }
  Result<DeviceMemory> Allocate(Kind kind, std::size_t bytes) override {
    void* data = ::operator new(bytes, kAlignment, std::nothrow);
    if (data == nullptr) return penstock::Fail(ErrorKind::kEnvironment, "no memory for the device");
    return DeviceMemory(this, kind, data, bytes);
  }
  void Free(Kind /*kind*/, void* data) override { ::operator delete(data, kAlignment); }
  Result<std::unique_ptr<Stream>> MakeStream() override {
    return std::unique_ptr<Stream>(std::make_unique<EmulatedStream>(*this));
  }
  Result<void> Anchor() override {
    anchor_ = Now();
    return {};
  }
  [[nodiscard]] TimeNs anchor() const { return anchor_; }

 private:
  DeviceInfo info_;
  TimeNs anchor_{};
};

Result<void> EmulatedStream::Upload(const PassList& list) {
  const auto bytes = static_cast<std::size_t>(list.scratch_bytes() + kReadableBeyond);
  return scratch_.Reserve(device_, Kind::kDevice, bytes);
}

Result<void> EmulatedStream::Start(const PassList& list, const std::byte* input,
                                   std::byte* output) {
  sums_.assign(static_cast<std::size_t>(list.sums()) + 1, 0);
  Memories memories;
  memories.input = reinterpret_cast<const std::uint8_t*>(input);
  memories.scratch = reinterpret_cast<std::uint8_t*>(scratch_.data());
  memories.output = reinterpret_cast<std::uint8_t*>(output);
  memories.points = list.points().data();
  memories.weights = list.weights().data();
  memories.sums = sums_.data();
  Emulate(list.launches(), list.passes(), memories);
  return {};
}

Result<TimeNs> EmulatedStream::SinceAnchor(unsigned mark) {
  return marks_[mark] - device_.anchor();
}

}  // namespace

std::unique_ptr<Device> MakeEmulatedDevice() {
  return std::make_unique<EmulatedDevice>();
}

}  // namespace penstock::cuda
