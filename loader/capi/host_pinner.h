// SPDX-License-Identifier: Apache-2.0
//
// Page-locks memory through NVIDIA's driver, so that a GPU copies from it while the CPU goes on.
// The driver is opened at run time. Threads: any. A forked child must not use it.
#pragma once

#include <cstddef>
#include <memory>

namespace penstock::loader {

class HostPinner {
 public:
  // Opens the driver for copies to a device. `device`: its number among those that the process
  // sees. `library`: file name of the driver. nullptr if there is no driver or no such device, or
  // if a page cannot be locked.
  [[nodiscard]] static std::unique_ptr<HostPinner> Open(int device,
                                                        const char* library = "libcuda.so.1");
  ~HostPinner();
  HostPinner(const HostPinner&) = delete;
  HostPinner& operator=(const HostPinner&) = delete;

  // Locks the memory. Returns false if that is not possible, which is no error: copies then block.
  bool Pin(void* memory, std::size_t bytes);
  // Unlocks memory that Pin() has locked. Call this before the memory is unmapped.
  void Unpin(void* memory);

 private:
  struct Driver;

  explicit HostPinner(std::unique_ptr<Driver> driver);

  std::unique_ptr<Driver> driver_;
};

}  // namespace penstock::loader
