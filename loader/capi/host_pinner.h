// SPDX-License-Identifier: Apache-2.0
//
// Page-locks memory through NVIDIA's driver, so that a GPU copies from it while the CPU goes on.
// The driver is opened at run time. Threads: any. Not to be used in a forked child.
#pragma once

#include <cstddef>
#include <memory>

namespace penstock::loader {

class HostPinner {
 public:
  // For copies to a device, by its number among those that the process sees. nullptr if there is no
  // driver, no such device, or if a page cannot be locked. `library`: file name of the driver.
  [[nodiscard]] static std::unique_ptr<HostPinner> Open(int device,
                                                        const char* library = "libcuda.so.1");
  ~HostPinner();
  HostPinner(const HostPinner&) = delete;
  HostPinner& operator=(const HostPinner&) = delete;

  // False if it cannot be locked, which is no error: copies then wait.
  bool Pin(void* memory, std::size_t bytes);
  // Of memory that Pin() has locked, before it is unmapped.
  void Unpin(void* memory);

 private:
  struct Driver;

  explicit HostPinner(std::unique_ptr<Driver> driver);

  std::unique_ptr<Driver> driver_;
};

}  // namespace penstock::loader
