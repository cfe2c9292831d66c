// SPDX-License-Identifier: Apache-2.0
//
// A device as the loader sees it: memory, streams of work, and marks between them, without a type
// of CUDA. A thread waits for a mark, not for the device; memory is the exception: while some is
// allocated or freed, a GPU may finish all that is queued. There are two devices: a GPU, and an
// emulation on the CPU that runs the same kernels for tests.
//
// Threads: a Device may be used by any; a Stream and a DeviceMemory by one at a time. A thread
// calls MakeCurrent() once before anything else. The Device must outlive what it made.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "cuda/pass_list.h"
#include "traces/base/result.h"
#include "traces/base/units.h"

namespace penstock::cuda {

struct DeviceInfo {
  std::string name;
  int ordinal = 0;
  int capability = 0;  // 90: compute capability 9.0
  int multiprocessors = 0;
  std::uint64_t memory_bytes = 0;
  double memory_bytes_per_s = 0;  // peak of its memory, 0: not known
  int driver = 0;                 // 12040: CUDA 12.4
  bool emulated = false;
};

class Device;

enum class Kind : std::uint8_t { kPinned, kDevice };

// Memory that the device can reach; freed when this ends.
class DeviceMemory {
 public:
  DeviceMemory() = default;
  DeviceMemory(Device* device, Kind kind, void* data, std::size_t size)
      : device_(device), kind_(kind), data_(data), size_(size) {}
  ~DeviceMemory() { Free(); }
  DeviceMemory(DeviceMemory&& other) noexcept { *this = std::move(other); }
  DeviceMemory& operator=(DeviceMemory&& other) noexcept;
  DeviceMemory(const DeviceMemory&) = delete;
  DeviceMemory& operator=(const DeviceMemory&) = delete;

  [[nodiscard]] std::byte* data() const { return static_cast<std::byte*>(data_); }
  [[nodiscard]] std::size_t size() const { return size_; }
  // At least `size` bytes; what was in it is lost if it grows. Errors: kEnvironment.
  [[nodiscard]] Result<void> Reserve(Device& device, Kind kind, std::size_t size);

 private:
  void Free();

  Device* device_ = nullptr;
  Kind kind_ = Kind::kDevice;
  void* data_ = nullptr;
  std::size_t size_ = 0;
};

// Work that is done in order, beside that of other streams. Each call returns when the work is
// queued. Errors of all: kEnvironment, with the runtime's own words.
class Stream {
 public:
  static constexpr unsigned kMarks = 6;
  static constexpr unsigned kJpegMark = 5;  // JpegBatches' own, of a stream that it is given

  virtual ~Stream() = default;
  // `host` is pinned and stays as it is until a mark behind the copy has been passed.
  [[nodiscard]] virtual Result<void> CopyIn(void* device, const void* host, std::size_t bytes) = 0;
  [[nodiscard]] virtual Result<void> CopyOut(void* host, const void* device, std::size_t bytes) = 0;
  // Carries out an arranged list: Upload(), then Start(). `list` may be changed once the call has
  // returned. Requires: as Upload().
  [[nodiscard]] Result<void> Run(const PassList& list, const std::byte* input, std::byte* output) {
    if (Result<void> sent = Upload(list); !sent) return sent;
    return Start(list, input, output);
  }
  // Sends what the kernels are told of an arranged list; grows its own memory for scratch pictures.
  // Requires: what was started of the list before has been waited for.
  [[nodiscard]] virtual Result<void> Upload(const PassList& list) = 0;
  // The kernels of the list that was uploaded last, any number of times: each makes the same of the
  // same input. Requires: `list` is as it was then.
  [[nodiscard]] virtual Result<void> Start(const PassList& list, const std::byte* input,
                                           std::byte* output) = 0;
  [[nodiscard]] virtual Result<void> Mark(unsigned mark) = 0;
  // Sleeps until the work before the mark is done. Errors: also those of that work.
  [[nodiscard]] virtual Result<void> Wait(unsigned mark) = 0;
  // What is queued from now on begins when `other` has passed the mark it has now. No thread waits.
  [[nodiscard]] virtual Result<void> Follow(Stream& other, unsigned mark) = 0;
  // When the mark was passed, from the device's anchor on. Requires: Wait() for it has succeeded.
  [[nodiscard]] virtual Result<TimeNs> SinceAnchor(unsigned mark) = 0;
  [[nodiscard]] virtual void* native() = 0;  // a cudaStream_t
};

class Device {
 public:
  virtual ~Device() = default;
  [[nodiscard]] virtual const DeviceInfo& info() const = 0;
  [[nodiscard]] virtual Result<void> MakeCurrent() = 0;
  [[nodiscard]] virtual Result<DeviceMemory> Allocate(Kind kind, std::size_t bytes) = 0;
  virtual void Free(Kind kind, void* data) = 0;
  [[nodiscard]] virtual Result<std::unique_ptr<Stream>> MakeStream() = 0;
  // Sets the moment that SinceAnchor() counts from to now; do it every few seconds, between two
  // readings of the CPU's clock. The stamps of marks are floats: they lose a microsecond in ten
  // seconds.
  [[nodiscard]] virtual Result<void> Anchor() = 0;
};

// The GPU with that number. Errors: kEnvironment, one line that says what is missing: this build's
// CUDA, the driver, a device, or code for its architecture.
[[nodiscard]] Result<std::unique_ptr<Device>> OpenDevice(int ordinal);

// Devices that the driver knows; 0 where there is no driver, or no CUDA in this build.
[[nodiscard]] int DeviceCount();

// The kernels on the CPU, memory of the process, work done at once.
[[nodiscard]] std::unique_ptr<Device> MakeEmulatedDevice();

}  // namespace penstock::cuda
