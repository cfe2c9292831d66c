// SPDX-License-Identifier: Apache-2.0
#include "agent/core/probe.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <set>

namespace penstock::agent {
namespace {

constexpr uint64_t kAll = 61;  // windows

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

}  // namespace
}  // namespace penstock::agent
