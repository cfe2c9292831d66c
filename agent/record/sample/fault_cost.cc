// SPDX-License-Identifier: Apache-2.0
#include "agent/record/sample/fault_cost.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>

#include "agent/record/sample/clock.h"

namespace penstock::record {

std::optional<TimeNs> MeasureFaultCost() {
  constexpr std::size_t kPages = 256;
  constexpr int kTries = 4;
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  std::optional<TimeNs> least;
  for (int i = 0; i < kTries; ++i) {
    void* memory =
        mmap(nullptr, kPages * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) return least;
    madvise(memory, kPages * page, MADV_NOHUGEPAGE);  // small pages, as in an allocator's memory
    auto* bytes = static_cast<volatile char*>(memory);
    const TimeNs begin = ThreadCpuNow();
    for (std::size_t at = 0; at < kPages * page; at += page) bytes[at] = 1;
    const TimeNs each{(ThreadCpuNow() - begin).value / static_cast<std::int64_t>(kPages)};
    munmap(memory, kPages * page);
    if (!least || each < *least) least = each;
  }
  return least;
}

}  // namespace penstock::record
