// SPDX-License-Identifier: Apache-2.0
//
// A queue between the threads of two stages. It has room for all items that can ever be in it, so
// Push() never waits for room and never allocates. Threads: any number at both ends.
#pragma once

#include <atomic>
#include <cstddef>
#include <mutex>
#include <vector>

#include "loader/pipeline/gate.h"
#include "loader/pipeline/stop.h"

namespace penstock::loader {

template <class T>
class BoundedQueue {
 public:
  explicit BoundedQueue(std::size_t capacity) : places_(capacity) {}

  // Requires: fewer than `capacity` values are in the queue.
  void Push(T value) {
    {
      const std::lock_guard lock(mutex_);
      places_[tail_++ % places_.size()] = value;
      size_.store(tail_ - head_, std::memory_order_release);
    }
    gate_.Wake();
  }

  // False if the queue is empty.
  bool TryPop(T* value) {
    if (size_.load(std::memory_order_acquire) == 0) return false;
    const std::lock_guard lock(mutex_);
    if (head_ == tail_) return false;
    *value = places_[head_++ % places_.size()];
    size_.store(tail_ - head_, std::memory_order_release);
    return true;
  }

  // Waits until there is a value, or the queue is closed, or `stop` is set.
  void Wait(const StopFlag& stop) {
    gate_.Wait(
        [&] { return size_.load(std::memory_order_acquire) != 0 || closed() || stop.set(); });
  }

  // Says that no more values will be pushed.
  void Close() {
    closed_.store(true, std::memory_order_release);
    gate_.Wake();
  }
  [[nodiscard]] bool closed() const { return closed_.load(std::memory_order_acquire); }
  // Ends Wait() in all threads. To be called after the stop flag was set. Async-signal-safe.
  void WakeAll() { gate_.Wake(); }

 private:
  std::mutex mutex_;
  std::vector<T> places_;
  std::size_t head_ = 0;
  std::size_t tail_ = 0;
  // Written under mutex_. Threads without the mutex may read an old value: in TryPop() it saves
  // them the lock, and in Wait() the gate makes sure that they see a push.
  std::atomic<std::size_t> size_{0};
  std::atomic<bool> closed_{false};
  Gate gate_;
};

}  // namespace penstock::loader
