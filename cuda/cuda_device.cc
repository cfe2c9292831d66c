// SPDX-License-Identifier: Apache-2.0
//
// The GPU through the CUDA runtime. The runtime is linked statically and looks for the driver at
// its first call, so the program also starts without a driver.
#include <cuda_runtime_api.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <span>
#include <utility>

#include <fmt/format.h>

#include "cuda/device.h"
#include "cuda/kernels.h"

namespace penstock::cuda {
namespace {

Result<void> CheckRuntime(int code, const char* what) {
  if (code == cudaSuccess) return {};
  const auto error = static_cast<cudaError_t>(code);
  return Fail(
      ErrorKind::kEnvironment,
      fmt::format("CUDA: {}: {} ({})", what, cudaGetErrorString(error), cudaGetErrorName(error)));
}

class CudaDevice;

class CudaStream final : public Stream {
 public:
  explicit CudaStream(CudaDevice& device) : device_(device) {}
  ~CudaStream() override;
  Result<void> Begin();

  Result<void> CopyIn(void* device, const void* host, std::size_t bytes) override {
    if (bytes == 0) return {};
    return CheckRuntime(cudaMemcpyAsync(device, host, bytes, cudaMemcpyHostToDevice, stream_),
                        "copy to the device");
  }
  Result<void> CopyOut(void* host, const void* device, std::size_t bytes) override {
    if (bytes == 0) return {};
    return CheckRuntime(cudaMemcpyAsync(host, device, bytes, cudaMemcpyDeviceToHost, stream_),
                        "copy from the device");
  }
  Result<void> Upload(const PassList& list) override;
  Result<void> Start(const PassList& list, const std::byte* input, std::byte* output) override;
  Result<void> Mark(unsigned mark) override {
    return CheckRuntime(cudaEventRecord(marks_[mark], stream_), "record of an event");
  }
  Result<void> Wait(unsigned mark) override {
    return CheckRuntime(cudaEventSynchronize(marks_[mark]), "work on the device");
  }
  Result<void> Follow(Stream& other, unsigned mark) override {
    const cudaEvent_t event = static_cast<CudaStream&>(other).marks_[mark];
    return CheckRuntime(cudaStreamWaitEvent(stream_, event, 0), "order of two streams");
  }
  Result<TimeNs> SinceAnchor(unsigned mark) override;
  void* native() override { return stream_; }

 private:
  CudaDevice& device_;
  cudaStream_t stream_ = nullptr;
  std::array<cudaEvent_t, kMarks> marks_{};
  DeviceMemory scratch_;
  DeviceMemory told_;         // passes, points, weights and sums, on the device
  DeviceMemory told_pinned_;  // the same data without the sums, to be copied to told_
};

class CudaDevice final : public Device {
 public:
  explicit CudaDevice(DeviceInfo info) : info_(std::move(info)) {}
  ~CudaDevice() override {
    if (anchor_ != nullptr) cudaEventDestroy(anchor_);
    if (anchor_stream_ != nullptr) cudaStreamDestroy(anchor_stream_);
  }
  Result<void> Begin();

  const DeviceInfo& info() const override { return info_; }
  Result<void> MakeCurrent() override {
    return CheckRuntime(cudaSetDevice(info_.ordinal), "choice of the device");
  }
  Result<DeviceMemory> Allocate(Kind kind, std::size_t bytes) override {
    void* data = nullptr;
    const bool pinned = kind == Kind::kPinned;
    // Portable: pinned for every thread and device of the process.
    const int code =
        pinned ? cudaHostAlloc(&data, bytes, cudaHostAllocPortable) : cudaMalloc(&data, bytes);
    if (code != cudaSuccess) {
      cudaGetLastError();  // so that the next launch does not report the failed allocation again
      return penstock::Fail(
          ErrorKind::kEnvironment,
          fmt::format("CUDA: no {} memory for {} bytes ({}): lower --batch or --prefetch",
                      pinned ? "pinned" : "device", bytes,
                      cudaGetErrorString(static_cast<cudaError_t>(code))));
    }
    return DeviceMemory(this, kind, data, bytes);
  }
  void Free(Kind kind, void* data) override {
    if (kind == Kind::kPinned) {
      cudaFreeHost(data);
    } else {
      cudaFree(data);
    }
  }
  Result<std::unique_ptr<Stream>> MakeStream() override {
    auto stream = std::make_unique<CudaStream>(*this);
    PENSTOCK_TRY(stream->Begin());
    return std::unique_ptr<Stream>(std::move(stream));
  }
  Result<void> Anchor() override {
    if (Result<void> done = CheckRuntime(cudaEventRecord(anchor_, anchor_stream_), "anchor");
        !done) {
      return done;
    }
    return CheckRuntime(cudaEventSynchronize(anchor_), "anchor");
  }
  [[nodiscard]] cudaEvent_t anchor() const { return anchor_; }

 private:
  DeviceInfo info_;
  cudaStream_t anchor_stream_ = nullptr;
  cudaEvent_t anchor_ = nullptr;
};

Result<void> CudaDevice::Begin() {
  if (Result<void> made = MakeCurrent(); !made) return made;
  if (const int found = FindKernels(); found != cudaSuccess) {
    cudaGetLastError();
    return penstock::Fail(
        ErrorKind::kEnvironment,
        fmt::format("CUDA is unavailable: no code for {} (sm_{}) in this build ({}): build with "
                    "-DPENSTOCK_CUDA_ARCHITECTURES={}",
                    info_.name, info_.capability,
                    cudaGetErrorString(static_cast<cudaError_t>(found)), info_.capability));
  }
  if (Result<void> made =
          CheckRuntime(cudaStreamCreateWithFlags(&anchor_stream_, cudaStreamNonBlocking), "stream");
      !made) {
    return made;
  }
  return CheckRuntime(cudaEventCreateWithFlags(&anchor_, cudaEventBlockingSync), "event");
}

Result<void> CudaStream::Begin() {
  if (Result<void> made =
          CheckRuntime(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "stream");
      !made) {
    return made;
  }
  for (cudaEvent_t& mark : marks_) {  // with time stamps; a waiting thread sleeps
    if (Result<void> made =
            CheckRuntime(cudaEventCreateWithFlags(&mark, cudaEventBlockingSync), "event");
        !made) {
      return made;
    }
  }
  return {};
}

CudaStream::~CudaStream() {
  if (stream_ != nullptr) cudaStreamSynchronize(stream_);  // queued work still uses our memory
  for (const cudaEvent_t mark : marks_) {
    if (mark != nullptr) cudaEventDestroy(mark);
  }
  if (stream_ != nullptr) cudaStreamDestroy(stream_);
}

Result<TimeNs> CudaStream::SinceAnchor(unsigned mark) {
  float milliseconds = 0;
  const Result<void> read =
      CheckRuntime(cudaEventElapsedTime(&milliseconds, device_.anchor(), marks_[mark]), "stamp");
  PENSTOCK_TRY(read);
  return TimeNs{static_cast<std::int64_t>(static_cast<double>(milliseconds) * 1e6)};
}

// Byte offsets of the lists in told_, which begins with the passes. `all` is its size.
struct Told {
  explicit Told(const PassList& list) {
    constexpr std::size_t kUnit = 16;
    const auto rounded = [](std::size_t size) { return (size + kUnit - 1) / kUnit * kUnit; };
    points = rounded(list.passes().size_bytes());
    weights = points + rounded(list.points().size_bytes());
    sums = weights + rounded(list.weights().size_bytes());
    all = sums + static_cast<std::size_t>(list.sums()) * sizeof(unsigned long long);
  }

  std::size_t points = 0;
  std::size_t weights = 0;
  std::size_t sums = 0;
  std::size_t all = 0;
};

Result<void> CudaStream::Upload(const PassList& list) {
  if (list.passes().empty()) return {};
  const auto scratch = static_cast<std::size_t>(list.scratch_bytes() + kReadableBeyond);
  const Told at(list);
  for (const Result<void>& grown : {scratch_.Reserve(device_, Kind::kDevice, scratch),
                                    told_.Reserve(device_, Kind::kDevice, at.all),
                                    told_pinned_.Reserve(device_, Kind::kPinned, at.sums)}) {
    if (!grown) return grown;
  }
  std::byte* told = told_pinned_.data();
  const auto put = [&](std::size_t offset, const auto& values) {
    if (!values.empty()) std::memcpy(told + offset, values.data(), values.size_bytes());
  };
  put(0, list.passes());
  put(at.points, list.points());
  put(at.weights, list.weights());
  return CopyIn(told_.data(), told, at.sums);
}

Result<void> CudaStream::Start(const PassList& list, const std::byte* input, std::byte* output) {
  if (list.passes().empty()) return {};
  const Told at(list);
  if (at.all > at.sums) {  // the kernels add to the sums
    Result<void> cleared = CheckRuntime(
        cudaMemsetAsync(told_.data() + at.sums, 0, at.all - at.sums, stream_), "zeros");
    if (!cleared) return cleared;
  }
  Memories memories;
  memories.input = reinterpret_cast<const std::uint8_t*>(input);
  memories.scratch = reinterpret_cast<std::uint8_t*>(scratch_.data());
  memories.output = reinterpret_cast<std::uint8_t*>(output);
  memories.points = reinterpret_cast<const Point*>(told_.data() + at.points);
  memories.weights = reinterpret_cast<const float*>(told_.data() + at.weights);
  memories.sums = reinterpret_cast<unsigned long long*>(told_.data() + at.sums);
  for (const Launch& launch : list.launches()) {
    const int code =
        StartLaunch(launch, reinterpret_cast<const Pass*>(told_.data()), memories, stream_);
    if (code != cudaSuccess) return CheckRuntime(code, "start of a kernel");
  }
  return {};
}

// Peak rate of the memory in bytes per second, with two transfers per clock cycle. Returns 0 if the
// runtime does not give the clock rate or the bus width.
double PeakBandwidth(int ordinal) {
  int kilohertz = 0;
  int bits = 0;
  if (cudaDeviceGetAttribute(&kilohertz, cudaDevAttrMemoryClockRate, ordinal) != cudaSuccess ||
      cudaDeviceGetAttribute(&bits, cudaDevAttrGlobalMemoryBusWidth, ordinal) != cudaSuccess) {
    cudaGetLastError();
    return 0;
  }
  return 2.0 * kilohertz * 1e3 * bits / 8;
}

}  // namespace

int DeviceCount() {
  int count = 0;
  if (cudaGetDeviceCount(&count) == cudaSuccess) return count;
  cudaGetLastError();
  return 0;
}

Result<std::unique_ptr<Device>> OpenDevice(int ordinal) {
  int count = 0;
  const cudaError_t found = cudaGetDeviceCount(&count);
  if (found != cudaSuccess) {
    cudaGetLastError();
    int driver = 0;
    const bool none = cudaDriverGetVersion(&driver) != cudaSuccess || driver == 0;
    return Fail(ErrorKind::kEnvironment,
                none ? "CUDA is unavailable: no NVIDIA driver is installed on this machine"
                     : fmt::format("CUDA is unavailable: {} (the driver is for CUDA {}.{}, this "
                                   "program for {}.{})",
                                   cudaGetErrorString(found), driver / 1000, driver % 1000 / 10,
                                   CUDART_VERSION / 1000, CUDART_VERSION % 1000 / 10));
  }
  if (ordinal < 0 || ordinal >= count) {
    return Fail(ErrorKind::kEnvironment,
                count == 0 ? "CUDA is unavailable: the driver knows no device"
                           : fmt::format("there is no CUDA device {}: there are {}, from 0 on",
                                         ordinal, count));
  }
  cudaDeviceProp properties{};
  if (Result<void> read = CheckRuntime(cudaGetDeviceProperties(&properties, ordinal), "properties");
      !read) {
    return tl::unexpected<Error>(read.error());
  }
  DeviceInfo info;
  info.name = properties.name;
  info.ordinal = ordinal;
  info.capability = 10 * properties.major + properties.minor;
  info.multiprocessors = properties.multiProcessorCount;
  info.memory_bytes = properties.totalGlobalMem;
  info.memory_bytes_per_s = PeakBandwidth(ordinal);
  cudaDriverGetVersion(&info.driver);
  auto device = std::make_unique<CudaDevice>(std::move(info));
  PENSTOCK_TRY(device->Begin());
  return std::unique_ptr<Device>(std::move(device));
}

}  // namespace penstock::cuda
