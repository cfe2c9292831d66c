// SPDX-License-Identifier: Apache-2.0
//
// A device as the loader sees it: memory, streams of work, and marks in the streams, without types
// of CUDA. A thread waits for a mark and not for the whole device; only allocating and freeing
// memory may wait until a GPU has finished all queued work. There are two devices: a GPU, and an
// emulation on the CPU that runs the same kernels for tests.
//
// Threads: any thread may use a Device. A Stream or a DeviceMemory is used by one thread at a time.
// Each thread first calls MakeCurrent() once. The Device must outlive the objects that it made.
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

// Memory that the device can reach. Freed with this object.
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
  // Makes room for at least `size` bytes. Growing loses the contents. Errors: kEnvironment.
  [[nodiscard]] Result<void> Reserve(Device& device, Kind kind, std::size_t size);

 private:
  void Free();

  Device* device_ = nullptr;
  Kind kind_ = Kind::kDevice;
  void* data_ = nullptr;
  std::size_t size_ = 0;
};

// Work that is done in order, at the same time as the work of other streams. Each call returns when
// its work is queued. Errors of all calls: kEnvironment, with the runtime's message.
class Stream {
 public:
  static constexpr unsigned kMarks = 6;
  static constexpr unsigned kJpegMark = 5;  // set by JpegBatches, in the stream that Decode() gets

  virtual ~Stream() = default;
  // Queues a copy to the device. Requires: `host` is pinned. It does not change before the stream
  // has passed a mark that was set after the copy.
  [[nodiscard]] virtual Result<void> CopyIn(void* device, const void* host, std::size_t bytes) = 0;
  [[nodiscard]] virtual Result<void> CopyOut(void* host, const void* device, std::size_t bytes) = 0;
  // Runs a list that was arranged: Upload(), then Start(). `list` may change after the call.
  // Requires: what Upload() requires.
  [[nodiscard]] Result<void> Run(const PassList& list, const std::byte* input, std::byte* output) {
    if (Result<void> sent = Upload(list); !sent) return sent;
    return Start(list, input, output);
  }
  // Sends the kernels' data of an arranged list, and grows the memory for scratch pictures.
  // Requires: all work on the previous list was waited for.
  [[nodiscard]] virtual Result<void> Upload(const PassList& list) = 0;
  // Starts the kernels of the list that was uploaded last. May be called any number of times; the
  // same input gives the same output. Requires: `list` is unchanged since Upload().
  [[nodiscard]] virtual Result<void> Start(const PassList& list, const std::byte* input,
                                           std::byte* output) = 0;
  [[nodiscard]] virtual Result<void> Mark(unsigned mark) = 0;
  // Sleeps until the work before the mark is done. Errors: the errors of that work too.
  [[nodiscard]] virtual Result<void> Wait(unsigned mark) = 0;
  // Makes work that is queued in this stream from now on wait until `other` has passed `mark`, as
  // it was last set there. No thread waits.
  [[nodiscard]] virtual Result<void> Follow(Stream& other, unsigned mark) = 0;
  // When the mark was passed, relative to the device's anchor. Requires: Wait() for it has
  // succeeded.
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
  // Sets the anchor to this moment; SinceAnchor() counts from it. Call this every few seconds,
  // between two readings of the CPU's clock: SinceAnchor() comes from a 32-bit float, whose steps
  // reach a microsecond ten seconds after the anchor.
  [[nodiscard]] virtual Result<void> Anchor() = 0;
};

// Opens the GPU with that number. Errors: kEnvironment, with one line that says what is missing:
// CUDA in this build, the driver, a device, or code for its architecture.
[[nodiscard]] Result<std::unique_ptr<Device>> OpenDevice(int ordinal);

// Number of devices that the driver knows; 0 without a driver, or without CUDA in this build.
[[nodiscard]] int DeviceCount();

// A device that runs the kernels at once, on the CPU, in the process's memory.
[[nodiscard]] std::unique_ptr<Device> MakeEmulatedDevice();

}  // namespace penstock::cuda
