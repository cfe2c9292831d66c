// SPDX-License-Identifier: Apache-2.0
#include "agent/core/probe.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <set>
#include <thread>

#include "agent/core/process.h"
#include "agent/core/recorder.h"
#include "agent/system/sys.h"
#include "tests/agent/core/recorder_fixture.h"

namespace penstock::agent {
namespace {

constexpr uint64_t kAll = 61;  // windows of all experiments together

TEST(ProbeTest, EveryOtherWindowIsPlain) {
  for (uint64_t index = 0; index < kAll; index += 2) {
    EXPECT_EQ(FactorOfWindow(4711, index), wire::kProbePlain) << index;
  }
}

TEST(ProbeTest, EveryRoundHasEachFactorOnce) {
  for (uint64_t round = 0; round < 5; ++round) {
    std::set<int> factors;
    for (uint64_t place = 0; place < 6; ++place) {
      factors.insert(FactorOfWindow(4711, round * 12 + 2 * place + 1));
    }
    EXPECT_EQ(factors, (std::set<int>{1, 2, 3, 4, 5, 6})) << round;
  }
}

TEST(ProbeTest, RoundsAndRunsHaveOtherOrders) {
  std::set<std::array<int, 6>> orders;
  for (const uint64_t seed : {uint64_t{1}, uint64_t{2}, uint64_t{3}}) {
    for (uint64_t round = 0; round < 5; ++round) {
      std::array<int, 6> order{};
      for (uint64_t place = 0; place < 6; ++place) {
        order[place] = FactorOfWindow(seed, round * 12 + 2 * place + 1);
      }
      orders.insert(order);
    }
  }
  EXPECT_GE(orders.size(), 12U);
}

TEST(ProbeTest, TheyEndBehindAPlainWindow) {
  EXPECT_EQ(FactorOfWindow(1, kAll - 1), wire::kProbePlain);
  EXPECT_EQ(FactorOfWindow(1, kAll), wire::kProbeOver);
  EXPECT_EQ(FactorOfWindow(1, 1'000'000), wire::kProbeOver);
}

// Another thread of the program installs a seccomp filter. After that the agent must not read a
// clock.
TEST(ProbeTest, AFilterEndsADelayThatHasBegun) {
  constexpr std::uint64_t kMinute = 60'000'000'000;  // ns
  std::uint64_t done = 0;
  std::thread delayed([&done] { done = Compute(kMinute); });
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  __atomic_store_n(&sys::g_shut, 1u, __ATOMIC_SEQ_CST);
  delayed.join();
  __atomic_store_n(&sys::g_shut, 0u, __ATOMIC_SEQ_CST);
  EXPECT_EQ(done, kMinute);
}

class ProbedPieceTest : public RecorderTest {
 protected:
  // Sets the windows so that a quarter of the second one has passed. In this window everything
  // except one factor is delayed.
  void SetUp() override {
    RecorderTest::SetUp();
    constexpr std::uint64_t kWindow = std::uint64_t{1} << 36;  // ticks
    g_header->probe_window = kWindow;
    g_header->probe_from = Now() - kWindow - kWindow / 4;
  }
  void TearDown() override {
    g_header->probe_window = 0;
    g_header->probe_from = 0;
  }
};

// If a step contains a loop over a second loader, both loaders report the end of this step.
TEST_F(ProbedPieceTest, APieceIsDelayedOnce) {
  BeginProbed(ProbedPart::kMaking);
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  EXPECT_NE(EndProbed(ProbedPart::kMaking), kTooLong);
  EXPECT_GT(ProbedRest(), 0U);
  EXPECT_EQ(EndProbed(ProbedPart::kMaking), 0U);
  EXPECT_EQ(ProbedRest(), 0U);
}

}  // namespace
}  // namespace penstock::agent
