// SPDX-License-Identifier: Apache-2.0

#include "agent/gpu/device_clock.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>

namespace penstock::agent {
namespace {

constexpr double kRate = 2.7;  // ticks per nanosecond

std::uint64_t TicksAt(std::uint64_t ns, double rate = kRate) {
  return 1000000 + static_cast<std::uint64_t>(static_cast<double>(ns) * rate);
}

double ErrorNs(std::uint64_t got, std::uint64_t wanted) {
  return std::abs(static_cast<double>(static_cast<std::int64_t>(got - wanted))) / kRate;
}

TEST(DeviceClockTest, OnePairTakesTheGivenRate) {
  DeviceClock clock;
  clock.Add(5000000, TicksAt(5000000));
  EXPECT_LE(ErrorNs(clock.ToTicks(9000000, kRate), TicksAt(9000000)), 2);
  EXPECT_LE(ErrorNs(clock.ToTicks(1000000, kRate), TicksAt(1000000)), 2);
}

// NTP slews the wall clock by 500 parts in a million, and the pairs are wrong by up to 200 ns. The
// error stays below 20 us between and after the pairs.
TEST(DeviceClockTest, SlewedClockFitsWithin20Microseconds) {
  DeviceClock clock;
  const double rate = kRate * 1.0005;
  std::uint64_t ns = 1700000000000000000u;
  const std::uint64_t base = ns;
  const auto ticks = [&](std::uint64_t at) { return TicksAt(at - base, rate); };
  double worst = 0;
  for (int i = 0; i < 500; ++i) {
    clock.Add(ns, ticks(ns) + static_cast<std::uint64_t>(i % 3) * 540 / 2);
    if (i >= 2) {
      for (const std::uint64_t back : {0u, 100000000u, 249000000u, 400000000u}) {
        worst = std::max(worst, ErrorNs(clock.ToTicks(ns - back, kRate), ticks(ns - back)));
      }
      worst = std::max(worst, ErrorNs(clock.ToTicks(ns + 250000000, kRate), ticks(ns + 250000000)));
    }
    ns += 250000000;
  }
  EXPECT_LT(worst, 20000);
}

// The first two pairs are close together, since they are read before and after the same flush. One
// of them is wrong by a microsecond. For times before them, this error must not be extrapolated.
TEST(DeviceClockTest, WhatWasBeforeTheFirstPairGoesByAllOfThem) {
  DeviceClock clock;
  clock.Add(1000000000, TicksAt(1000000000));
  clock.Add(1001200000, TicksAt(1001200000) + 2700);
  clock.Add(1500000000, TicksAt(1500000000));
  EXPECT_LE(ErrorNs(clock.ToTicks(700000000, kRate), TicksAt(700000000)), 2);
  EXPECT_GE(ErrorNs(clock.ToTicks(1001000000, kRate), TicksAt(1001000000)), 500)
      << "between two pairs theirs is the line";
}

TEST(DeviceClockTest, AClockThatWasSetBackBreaksOneStretchOnly) {
  DeviceClock clock;
  for (std::uint64_t i = 0; i < 4; ++i) clock.Add(1000000000 * (i + 10), TicksAt(1000000000 * i));
  for (std::uint64_t i = 4; i < 8; ++i) clock.Add(1000000000 * i, TicksAt(1000000000 * i));
  EXPECT_LE(ErrorNs(clock.ToTicks(6500000000, kRate), TicksAt(6500000000)), 10);
}

// In pytorch issue 192021, CUPTI began in the middle of a run to give kernels the wall clock's
// time.
TEST(DeviceClockTest, StampsOfAnotherClockAreNotCovered) {
  DeviceClock clock;
  constexpr std::uint64_t kSecond = 1000000000;
  for (std::uint64_t i = 0; i < 200; ++i) clock.Add((1000 + i) * kSecond, TicksAt(i));
  EXPECT_TRUE(clock.Covers(1000 * kSecond - kSecond / 2));
  EXPECT_TRUE(clock.Covers(1000 * kSecond)) << "of a pair that is not kept any more";
  EXPECT_TRUE(clock.Covers(1199 * kSecond + kSecond));
  EXPECT_FALSE(clock.Covers(998 * kSecond));
  EXPECT_FALSE(clock.Covers(1205 * kSecond));
  EXPECT_FALSE(clock.Covers(1700000000 * kSecond));
}

TEST(DeviceClockTest, BothSidesOfAClockThatWasSetBackAreCovered) {
  DeviceClock clock;
  clock.Add(9000000000000, TicksAt(0));
  clock.Add(5000000000000, TicksAt(1000000000));
  EXPECT_TRUE(clock.Covers(9000000000000));
  EXPECT_TRUE(clock.Covers(5000000000000));
}

}  // namespace
}  // namespace penstock::agent
