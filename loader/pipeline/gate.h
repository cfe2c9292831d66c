// SPDX-License-Identifier: Apache-2.0
//
// Threads wait here for a condition that others make true: first in a bounded spin, then on a
// futex. While nobody sleeps, waking costs one atomic increment. Thread-safe. Wake() is
// async-signal-safe.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>

namespace penstock::loader {

// Tells the CPU that this is a spin.
inline void RelaxCpu() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield" ::: "memory");
#endif
}

class Gate {
 public:
  // Returns once `ready()` is true. Requires: the thread that makes the condition true calls Wake()
  // afterwards.
  template <class Ready>
  void Wait(Ready&& ready) {
    for (int i = 0; i < kSpins; ++i) {
      if (ready()) return;
      RelaxCpu();
    }
    while (!ready()) {
      // Dekker's scheme: the sleeper announces itself before it reads the version, and the waker
      // raises the version before it looks for sleepers. All four are seq_cst, so the waker sees
      // the sleeper, or the sleeper sees the new version.
      sleepers_.fetch_add(1, std::memory_order_seq_cst);
      const std::uint32_t seen = version_.load(std::memory_order_seq_cst);
      if (!ready()) Sleep(seen, std::chrono::nanoseconds{-1});
      sleepers_.fetch_sub(1, std::memory_order_relaxed);
    }
  }

  // Waits for at most `limit`. Returns the last `ready()`. Does not spin.
  template <class Ready>
  bool WaitFor(std::chrono::nanoseconds limit, Ready&& ready) {
    const auto end = std::chrono::steady_clock::now() + limit;
    while (!ready()) {
      const auto left = end - std::chrono::steady_clock::now();
      if (left.count() <= 0) return false;
      sleepers_.fetch_add(1, std::memory_order_seq_cst);
      const std::uint32_t seen = version_.load(std::memory_order_seq_cst);
      if (!ready()) Sleep(seen, left);
      sleepers_.fetch_sub(1, std::memory_order_relaxed);
    }
    return true;
  }

  void Wake() {
    version_.fetch_add(1, std::memory_order_seq_cst);
    if (sleepers_.load(std::memory_order_seq_cst) != 0) WakeAll();
  }

 private:
  // About 10 us: less than the 20 us that a futex round trip costs, far less than a sample.
  static constexpr int kSpins = 250;

  void Sleep(std::uint32_t seen, std::chrono::nanoseconds limit);  // limit < 0: none
  void WakeAll();

  std::atomic<std::uint32_t> version_{0};
  std::atomic<std::uint32_t> sleepers_{0};
};

}  // namespace penstock::loader
