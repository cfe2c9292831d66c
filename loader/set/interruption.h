// SPDX-License-Identifier: Apache-2.0
//
// Turns SIGINT and SIGTERM into a stop token, for programs that clean up before they end. While an
// Interruption lives, the two signals are blocked in the thread that made it and in later threads,
// and one waiting thread takes them. Make one at a time, in main()'s thread, before other threads
// start.
#pragma once

#include <csignal>

#include <functional>
#include <stop_token>
#include <thread>

namespace penstock::loader {

class Interruption {
 public:
  // At the first signal the waiting thread requests the stop and then calls `first`, if given.
  explicit Interruption(std::function<void()> first = {});
  ~Interruption();
  Interruption(const Interruption&) = delete;
  Interruption& operator=(const Interruption&) = delete;

  [[nodiscard]] std::stop_token token() const { return stop_.get_token(); }
  [[nodiscard]] bool happened() const { return stop_.stop_requested(); }
  // The signal mask from before, for child processes, which must not inherit a blocked SIGINT.
  [[nodiscard]] const sigset_t& former_mask() const { return former_; }

 private:
  sigset_t waited_{};
  sigset_t former_{};
  std::stop_source stop_;
  std::jthread thread_;
};

}  // namespace penstock::loader
