// SPDX-License-Identifier: Apache-2.0
#include "traces/base/parallel.h"

#include <array>
#include <atomic>
#include <latch>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>

#include <gtest/gtest.h>

namespace penstock {
namespace {

TEST(ParallelTest, EachCallIsMadeOnce) {
  std::array<std::atomic<int>, 1000> calls{};
  InParallel(calls.size(), 4, [&](std::size_t i) { ++calls[i]; });
  for (const std::atomic<int>& count : calls) EXPECT_EQ(1, count.load());
}

TEST(ParallelTest, AsManyThreadsAsAskedForRunAtTheSameTime) {
  std::latch all(3);  // opens if three calls run at the same time
  std::array<std::thread::id, 3> ids;
  InParallel(3, 3, [&](std::size_t i) {
    ids[i] = std::this_thread::get_id();
    all.arrive_and_wait();
  });
  const std::set<std::thread::id> different(ids.begin(), ids.end());
  EXPECT_EQ(3, different.size());
  EXPECT_TRUE(different.contains(std::this_thread::get_id()));
}

TEST(ParallelTest, OneThreadIsTheCallingThread) {
  InParallel(5, 1, [caller = std::this_thread::get_id()](std::size_t) {
    EXPECT_EQ(caller, std::this_thread::get_id());
  });
}

TEST(ParallelTest, NothingToDoMakesNoCall) {
  InParallel(0, 4, [](std::size_t) { FAIL(); });
}

TEST(ParallelTest, AnExceptionArrivesAfterTheOtherThreadsHaveEnded) {
  std::atomic<int> calls{0};
  const auto work = [&](std::size_t i) {
    ++calls;
    if (i == 10) throw std::runtime_error("the tenth");
  };
  std::string what;
  try {
    InParallel(100, 2, work);
  } catch (const std::runtime_error& error) {
    what = error.what();
  }
  EXPECT_EQ("the tenth", what);
  EXPECT_EQ(100, calls.load());
}

}  // namespace
}  // namespace penstock
