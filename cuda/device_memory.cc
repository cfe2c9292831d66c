// SPDX-License-Identifier: Apache-2.0
#include "cuda/device.h"

namespace penstock::cuda {

DeviceMemory& DeviceMemory::operator=(DeviceMemory&& other) noexcept {
  if (this == &other) return *this;
  Free();
  device_ = std::exchange(other.device_, nullptr);
  kind_ = other.kind_;
  data_ = std::exchange(other.data_, nullptr);
  size_ = std::exchange(other.size_, 0);
  return *this;
}

Result<void> DeviceMemory::Reserve(Device& device, Kind kind, std::size_t size) {
  if (size <= size_) return {};
  Free();
  Result<DeviceMemory> made = device.Allocate(kind, size + size / 4);
  PENSTOCK_TRY(made);
  *this = std::move(*made);
  return {};
}

void DeviceMemory::Free() {
  if (data_ != nullptr) device_->Free(kind_, data_);
  data_ = nullptr;
  size_ = 0;
}

}  // namespace penstock::cuda
