// SPDX-License-Identifier: Apache-2.0
#include "loader/pipeline/gate.h"

#include <cerrno>
#include <climits>

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace penstock::loader {
namespace {

// The kernel needs the address of the word, and std::atomic<uint32_t> is just that word on every
// Linux ABI.
std::uint32_t* Word(std::atomic<std::uint32_t>& version) {
  static_assert(sizeof(version) == sizeof(std::uint32_t));
  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-reinterpret-cast)
  return reinterpret_cast<std::uint32_t*>(&version);
}

}  // namespace

void Gate::Sleep(std::uint32_t seen, std::chrono::nanoseconds limit) {
  timespec timeout{};
  timeout.tv_sec = static_cast<time_t>(limit.count() / 1'000'000'000);
  timeout.tv_nsec = static_cast<long>(limit.count() % 1'000'000'000);
  syscall(SYS_futex, Word(version_), FUTEX_WAIT_PRIVATE, seen,
          limit.count() < 0 ? nullptr : &timeout, nullptr, 0);
}

void Gate::WakeAll() {
  const int kept = errno;  // a signal handler may call this, and must keep errno
  syscall(SYS_futex, Word(version_), FUTEX_WAKE_PRIVATE, INT_MAX, nullptr, nullptr, 0);
  errno = kept;
}

}  // namespace penstock::loader
