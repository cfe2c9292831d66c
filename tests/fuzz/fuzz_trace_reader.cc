// SPDX-License-Identifier: Apache-2.0
#include <cstddef>
#include <cstdint>

#include "tests/fuzz/trace_inputs.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  penstock::traces::fuzz::ReadEverything({data, size});
  return 0;
}
