// SPDX-License-Identifier: Apache-2.0
//
// The flag by which the threads of one pipeline are asked to stop. Set() is async-signal-safe.
#pragma once

#include <atomic>
#include <chrono>

#include "loader/pipeline/gate.h"

namespace penstock::loader {

class StopFlag {
 public:
  [[nodiscard]] bool set() const { return set_.load(std::memory_order_acquire); }
  void Set() {
    set_.store(true, std::memory_order_release);
    gate_.Wake();
  }
  // Sleeps for `length`, or until the flag is set.
  void SleepFor(std::chrono::nanoseconds length) const {
    gate_.WaitFor(length, [this] { return set(); });
  }

 private:
  std::atomic<bool> set_{false};
  mutable Gate gate_;
};

}  // namespace penstock::loader
