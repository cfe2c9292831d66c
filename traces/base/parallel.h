// SPDX-License-Identifier: Apache-2.0
//
// Divides work among threads.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

namespace penstock {

// Calls work(0) to work(count - 1), each once, in the calling thread and in up to `threads` - 1
// others, and returns when all have ended. If the system allows fewer threads, those that run do
// all of the work. If a call throws, its thread makes no more calls, and the first exception is
// thrown here at the end.
// Requires: work() may be called by several threads at the same time.
template <class Work>
void InParallel(std::size_t count, unsigned threads, const Work& work) {
  std::atomic<std::size_t> next{0};  // relaxed: hands out numbers, the join publishes results
  std::mutex mutex;
  std::exception_ptr trouble;
  const auto run = [&] {
    try {
      for (std::size_t i = next.fetch_add(1, std::memory_order_relaxed); i < count;
           i = next.fetch_add(1, std::memory_order_relaxed)) {
        work(i);
      }
    } catch (...) {
      const std::lock_guard lock(mutex);
      if (!trouble) trouble = std::current_exception();
    }
  };
  std::vector<std::jthread> others;
  try {
    for (std::size_t i = 1; i < std::min<std::size_t>(threads, count); ++i) {
      others.emplace_back(run);
    }
  } catch (const std::system_error&) {
    // No more threads are allowed.
  }
  run();
  others.clear();  // waits for their ends
  if (trouble) std::rethrow_exception(trouble);
}

}  // namespace penstock
