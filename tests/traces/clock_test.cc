// SPDX-License-Identifier: Apache-2.0
#include "traces/clock.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <random>

namespace penstock::traces {
namespace {

constexpr std::uint64_t kHz = 2'700'000'000;

// A TSC whose frequency is `ppm` parts per million above that of the header.
struct Tsc {
  double ppm = 0;
  [[nodiscard]] std::uint64_t At(std::uint64_t ns) const {
    return 77'000'000'000 +
           static_cast<std::uint64_t>(static_cast<long double>(ns) * kHz / 1e9L *
                                      (1.0L + static_cast<long double>(ppm) * 1e-6L));
  }
  [[nodiscard]] wire::ClockAnchor Anchor(std::uint64_t ns, std::int64_t noise = 0) const {
    return {At(ns), ns + static_cast<std::uint64_t>(noise), ns + 1'000'000'000'000};
  }
};

TEST(ClockTest, MonotonicTicksAreNanoseconds) {
  ClockMap clock(wire::kClockMonotonic, 1);
  clock.Add({123, 123, 5123});
  clock.Update();
  EXPECT_EQ(clock.ToNs(987'654'321).value, 987'654'321);
  EXPECT_EQ(clock.RealtimeOffset().value, 5000);
}

TEST(ClockTest, TicksBetweenAnchorsAreWithinAMicrosecond) {
  const Tsc tsc{.ppm = 40};
  ClockMap clock(wire::kClockTsc, kHz);
  std::mt19937_64 random(3);
  for (std::uint64_t s = 0; s < 600; ++s) {
    clock.Add(tsc.Anchor(1'000'000'000 * (10 + s), static_cast<std::int64_t>(random() % 200)));
  }
  clock.Update();
  for (int i = 0; i < 10'000; ++i) {
    const std::uint64_t ns = 10'000'000'000 + random() % 599'000'000'000;
    ASSERT_LT(std::abs(clock.ToNs(tsc.At(ns)).value - static_cast<std::int64_t>(ns)), 1000);
  }
}

TEST(ClockTest, TicksOutsideTheAnchorsFollowTheirSlope) {
  const Tsc tsc{.ppm = 30};
  ClockMap clock(wire::kClockTsc, kHz);
  clock.Add(tsc.Anchor(10'000'000'000));
  clock.Add(tsc.Anchor(20'000'000'000));
  clock.Update();
  EXPECT_NEAR(static_cast<double>(clock.ToNs(tsc.At(25'000'000'000)).value), 25e9, 1000);
  EXPECT_NEAR(static_cast<double>(clock.ToNs(tsc.At(5'000'000'000)).value), 5e9, 1000);
}

TEST(ClockTest, CloseAnchorsLeaveTheSlopeToTheHeader) {
  const Tsc tsc;
  ClockMap clock(wire::kClockTsc, kHz);
  clock.Add(tsc.Anchor(10'000'000'000, 0));
  clock.Add(tsc.Anchor(10'000'010'000, 900));  // 10 us later, with an error of 0.9 us
  clock.Update();
  EXPECT_NEAR(static_cast<double>(clock.ToNs(tsc.At(11'000'000'000)).value), 11e9, 2000);
}

TEST(ClockTest, ConversionIsMonotonic) {
  const Tsc tsc{.ppm = -25};
  ClockMap clock(wire::kClockTsc, kHz);
  std::mt19937_64 random(5);
  for (std::uint64_t s = 0; s < 100; ++s) {
    clock.Add(tsc.Anchor(1'000'000'000 * (1 + s), static_cast<std::int64_t>(random() % 300)));
  }
  clock.Update();
  std::int64_t before = 0;
  for (std::uint64_t ns = 900'000'000; ns < 101'000'000'000; ns += 7'000'001) {
    for (std::uint64_t tick = 0; tick < 4; ++tick) {
      const std::int64_t now = clock.ToNs(tsc.At(ns) + tick).value;
      ASSERT_GE(now, before);
      before = now;
    }
  }
}

TEST(ClockTest, AnAnchorThatContradictsTheOthersIsLeftOut) {
  const Tsc tsc;
  ClockMap clock(wire::kClockTsc, kHz);
  for (std::uint64_t s = 1; s < 10; ++s) {
    clock.Add(tsc.Anchor(s * 1'000'000'000, s == 4 ? 1 << 24 : 0));
  }
  clock.Update();
  EXPECT_EQ(clock.rejected(), 1u);
  EXPECT_NEAR(static_cast<double>(clock.ToNs(tsc.At(4'100'000'000)).value), 4.1e9, 100);
}

TEST(ClockTest, AnchorsOverruleAHeaderThatNamesTheWrongClock) {
  const Tsc tsc;
  ClockMap clock(wire::kClockMonotonic, kHz);
  clock.Add(tsc.Anchor(1'000'000'000));
  clock.Add(tsc.Anchor(2'000'000'000));
  clock.Add(tsc.Anchor(3'000'000'000));
  clock.Update();
  EXPECT_TRUE(clock.contradicted());
  EXPECT_NEAR(static_cast<double>(clock.ToNs(tsc.At(2'500'000'000)).value), 2.5e9, 100);
}

TEST(ClockTest, ADamagedFirstAnchorIsOverruledByTheNextOnes) {
  ClockMap clock(wire::kClockMonotonic, 1);
  clock.Add({5'000'000'000, 1'000'000'000, 1'000'005'000});
  clock.Update();
  clock.Add({2'000'000'000, 2'000'000'000, 2'000'005'000});
  clock.Add({3'000'000'000, 3'000'000'000, 3'000'005'000});
  clock.Update();
  EXPECT_EQ(clock.ToNs(2'500'000'000).value, 2'500'000'000);
}

// As in the collector, there is an anchor every second, and records in between. The header's
// frequency is 20 ppm too low.
TEST(ClockTest, TimesOfAStreamAreWithinAMicrosecondAndNeverChange) {
  const Tsc tsc{.ppm = 20};
  ClockMap clock(wire::kClockTsc, kHz);
  std::vector<std::pair<std::uint64_t, std::int64_t>> said;
  for (std::uint64_t s = 10; s < 100; ++s) {
    clock.Add(tsc.Anchor(s * 1'000'000'000));
    clock.Update();
    for (std::uint64_t part = 0; part < 10; ++part) {
      const std::uint64_t ns = s * 1'000'000'000 + part * 99'000'000;
      const std::int64_t now = clock.ToNs(tsc.At(ns)).value;
      if (s > 13) {
        ASSERT_LT(std::abs(now - static_cast<std::int64_t>(ns)), 1000) << ns;
      }
      ASSERT_TRUE(said.empty() || said.back().second <= now);
      said.emplace_back(tsc.At(ns), now);
    }
    clock.Freeze(said.back().first);
  }
  for (const auto& [ticks, ns] : said) {
    ASSERT_EQ(clock.ToNs(ticks).value, ns);
  }
}

}  // namespace
}  // namespace penstock::traces
