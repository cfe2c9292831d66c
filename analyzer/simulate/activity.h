// SPDX-License-Identifier: Apache-2.0
//
// The work of one actor of the simulation, as a coroutine. It runs until it waits: until a time
// that Cores keeps, or until another actor wakes it. Owned by its creator; not thread-safe.
#pragma once

#include <coroutine>
#include <exception>
#include <utility>

namespace penstock::analyzer {

class Activity {
 public:
  struct promise_type {
    bool asleep = false;

    Activity get_return_object() {
      return Activity(std::coroutine_handle<promise_type>::from_promise(*this));
    }
    static std::suspend_always initial_suspend() noexcept { return {}; }
    static std::suspend_always final_suspend() noexcept { return {}; }
    static void return_void() {}
    [[noreturn]] static void unhandled_exception() { std::terminate(); }
  };

  // co_await Activity::Asleep{} waits until Wake().
  struct Asleep {
    static bool await_ready() noexcept { return false; }
    static void await_suspend(std::coroutine_handle<promise_type> self) noexcept {
      self.promise().asleep = true;
    }
    static void await_resume() noexcept {}
  };

  Activity(Activity&& other) noexcept : self_(std::exchange(other.self_, nullptr)) {}
  Activity(const Activity&) = delete;
  Activity& operator=(const Activity&) = delete;
  Activity& operator=(Activity&&) = delete;
  ~Activity() {
    if (self_) self_.destroy();
  }

  // Continues until it waits again. Requires: it is not finished, not running and not asleep.
  void Resume() { self_.resume(); }
  // Continues if it is asleep; otherwise does nothing.
  void Wake() {
    if (std::exchange(self_.promise().asleep, false)) self_.resume();
  }
  [[nodiscard]] bool done() const { return self_.done(); }

 private:
  explicit Activity(std::coroutine_handle<promise_type> self) : self_(self) {}

  std::coroutine_handle<promise_type> self_;
};

}  // namespace penstock::analyzer
