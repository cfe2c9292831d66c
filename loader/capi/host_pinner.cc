// SPDX-License-Identifier: Apache-2.0
#include "loader/capi/host_pinner.h"

#include <dlfcn.h>
#include <sys/mman.h>

#include <utility>

namespace penstock::loader {
namespace {

// Types and names of CUDA's driver interface, which stay the same from version to version.
using CudaResult = int;
using CudaDevice = int;
using CudaContext = void*;
constexpr CudaResult kSuccess = 0;
constexpr unsigned kPortable = 1;  // CU_MEMHOSTREGISTER_PORTABLE: locked for every context

template <class Function>
bool Find(void* library, const char* name, Function** function) {
  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-reinterpret-cast): how dlsym() gives functions
  *function = reinterpret_cast<Function*>(dlsym(library, name));
  return *function != nullptr;
}

}  // namespace

struct HostPinner::Driver {
  void* library = nullptr;
  CudaDevice device = 0;
  CudaContext context = nullptr;  // the device's primary context, which PyTorch uses too
  CudaResult (*init)(unsigned) = nullptr;
  CudaResult (*device_get)(CudaDevice*, int) = nullptr;
  CudaResult (*retain)(CudaContext*, CudaDevice) = nullptr;
  CudaResult (*release)(CudaDevice) = nullptr;
  CudaResult (*push)(CudaContext) = nullptr;
  CudaResult (*pop)(CudaContext*) = nullptr;
  CudaResult (*host_register)(void*, std::size_t, unsigned) = nullptr;
  CudaResult (*host_unregister)(void*) = nullptr;

  Driver() = default;
  Driver(const Driver&) = delete;
  Driver& operator=(const Driver&) = delete;
  // The library stays open, since it may have threads of its own.
  ~Driver() {
    if (context != nullptr) release(device);
  }

  bool Open(const char* name, int number) {
    library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr || !Find(library, "cuInit", &init) ||
        !Find(library, "cuDeviceGet", &device_get) ||
        !Find(library, "cuDevicePrimaryCtxRetain", &retain) ||
        !Find(library, "cuDevicePrimaryCtxRelease_v2", &release) ||
        !Find(library, "cuCtxPushCurrent_v2", &push) ||
        !Find(library, "cuCtxPopCurrent_v2", &pop) ||
        !Find(library, "cuMemHostRegister_v2", &host_register) ||
        !Find(library, "cuMemHostUnregister", &host_unregister)) {
      return false;
    }
    if (init(0) != kSuccess || device_get(&device, number) != kSuccess) return false;
    if (retain(&context, device) != kSuccess) context = nullptr;
    return context != nullptr;
  }

  // Makes the call in the device's context. Afterwards the thread has its own context again.
  template <class Call>
  bool WithContext(Call&& call) {
    if (push(context) != kSuccess) return false;
    const bool done = call() == kSuccess;
    CudaContext popped = nullptr;  // the one that was pushed
    pop(&popped);
    return done;
  }
};

HostPinner::HostPinner(std::unique_ptr<Driver> driver) : driver_(std::move(driver)) {}

HostPinner::~HostPinner() = default;

std::unique_ptr<HostPinner> HostPinner::Open(int device, const char* library) {
  auto driver = std::make_unique<Driver>();
  if (!driver->Open(library, device)) return nullptr;
  std::unique_ptr<HostPinner> made(new HostPinner(std::move(driver)));
  constexpr std::size_t kPage = 4096;
  void* const page =
      mmap(nullptr, kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (page == MAP_FAILED) return nullptr;
  const bool pinned = made->Pin(page, kPage);
  if (pinned) made->Unpin(page);
  munmap(page, kPage);
  return pinned ? std::move(made) : nullptr;
}

bool HostPinner::Pin(void* memory, std::size_t bytes) {
  return driver_->WithContext([&] { return driver_->host_register(memory, bytes, kPortable); });
}

void HostPinner::Unpin(void* memory) {
  driver_->WithContext([&] { return driver_->host_unregister(memory); });
}

}  // namespace penstock::loader
