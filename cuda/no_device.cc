// SPDX-License-Identifier: Apache-2.0
//
// Stands in for cuda_device.cc in a build without the CUDA toolkit: there are no GPUs.
#include "cuda/device.h"

namespace penstock::cuda {

Result<std::unique_ptr<Device>> OpenDevice(int /*ordinal*/) {
  return Fail(ErrorKind::kEnvironment,
              "CUDA is unavailable: this build was made without the CUDA toolkit");
}

int DeviceCount() {
  return 0;
}

}  // namespace penstock::cuda
