// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <vector>

#include "loader/random/permutation.h"
#include "loader/random/philox.h"

namespace penstock::loader {
namespace {

using Block = std::array<std::uint32_t, 4>;

std::vector<std::uint32_t> FirstNumbers(Random random, int count) {
  std::vector<std::uint32_t> numbers;
  for (int i = 0; i < count; ++i) {
    numbers.push_back(random.Next());
  }
  return numbers;
}

TEST(PhiloxTest, GivesTheKnownAnswersOfRandom123) {
  EXPECT_EQ(Philox4x32({0, 0, 0, 0}, {0, 0}),
            (Block{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  EXPECT_EQ(Philox4x32({0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff}, {0xffffffff, 0xffffffff}),
            (Block{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  EXPECT_EQ(Philox4x32({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}),
            (Block{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

TEST(RandomTest, EveryPartOfTheKeyMatters) {
  const SampleKey key{.seed = 1, .epoch = 2, .sample = 3};
  const auto reference = FirstNumbers(Random(key, 4), 8);
  EXPECT_EQ(reference, FirstNumbers(Random(key, 4), 8));
  EXPECT_NE(reference, FirstNumbers(Random(key, 5), 8));
  constexpr std::uint64_t kHighBit = std::uint64_t{1} << 40;
  for (const std::uint64_t change : {std::uint64_t{1}, kHighBit}) {
    EXPECT_NE(reference, FirstNumbers(Random({1 + change, 2, 3}, 4), 8));
    EXPECT_NE(reference, FirstNumbers(Random({1, 2 + change, 3}, 4), 8));
    EXPECT_NE(reference, FirstNumbers(Random({1, 2, 3 + change}, 4), 8));
  }
  EXPECT_NE(FirstNumbers(Random({1, 2, 3}, 4), 8), FirstNumbers(Random({2, 1, 3}, 4), 8));
}

TEST(RandomTest, UniformFillsTheUnitIntervalEvenly) {
  Random random({7, 0, 0}, 0);
  std::array<int, 16> counts{};
  double sum = 0;
  for (int i = 0; i < 16000; ++i) {
    const double x = random.Uniform();
    ASSERT_GE(x, 0.0);
    ASSERT_LT(x, 1.0);
    sum += x;
    ++counts[static_cast<std::size_t>(x * 16)];
  }
  EXPECT_NEAR(sum / 16000, 0.5, 0.01);
  for (const int count : counts) {
    EXPECT_NEAR(count, 1000, 150);  // 5 standard deviations
  }
}

TEST(RandomTest, BelowReachesEveryValueAndNoOther) {
  for (const std::uint32_t bound : {1U, 2U, 3U, 7U, 10U}) {
    Random random({bound, 0, 0}, 0);
    std::vector<int> counts(bound);
    for (int i = 0; i < 10000; ++i) {
      const std::uint32_t x = random.Below(bound);
      ASSERT_LT(x, bound);
      ++counts[x];
    }
    for (const int count : counts) {
      EXPECT_NEAR(count, 10000.0 / bound, 250);
    }
  }
}

TEST(RandomTest, BelowIsUnbiasedForLargeBounds) {
  // Scaling without rejection would give every third value twice as often as the others.
  constexpr std::uint32_t kBound = 3U << 30;
  Random random({5, 0, 0}, 0);
  std::array<int, 3> counts{};
  for (int i = 0; i < 30000; ++i) {
    ++counts[random.Below(kBound) % 3];
  }
  for (const int count : counts) {
    EXPECT_NEAR(count, 10000, 400);
  }
}

TEST(RandomTest, NormalHasItsMomentsAndLogNormalItsMedian) {
  Random random({11, 0, 0}, 0);
  double sum = 0;
  double squares = 0;
  int below_median = 0;
  constexpr int kCount = 40000;
  for (int i = 0; i < kCount; ++i) {
    const double x = random.Normal();
    sum += x;
    squares += x * x;
    below_median += random.LogNormal(std::log(5.0), 0.7) < 5.0 ? 1 : 0;
  }
  EXPECT_NEAR(sum / kCount, 0, 0.025);
  EXPECT_NEAR(squares / kCount, 1, 0.04);
  EXPECT_NEAR(below_median, kCount / 2, 500);
}

TEST(PermutationTest, IsABijectionForEverySizeUpTo4096) {
  std::vector<std::uint32_t> seen(4096, 0);
  for (std::uint32_t size = 0; size <= 4096; ++size) {
    const Permutation permutation(size, 3, 5);
    ASSERT_EQ(permutation.size(), size);
    for (std::uint32_t position = 0; position < size; ++position) {
      const std::uint64_t index = permutation(position);
      ASSERT_LT(index, size);
      ASSERT_NE(seen[index], size) << "index " << index << " twice among " << size;
      seen[index] = size;
    }
  }
}

TEST(PermutationTest, RepeatsNoIndexAmongTenMillion) {
  // Takes every 37th position to be quick. Indices drawn at random would repeat thousands of times
  // among these too.
  constexpr std::uint64_t kSize = 10'000'000;
  const Permutation permutation(kSize, 1, 0);
  std::vector<bool> seen(kSize);
  for (std::uint64_t position = 0; position < kSize; position += 37) {
    const std::uint64_t index = permutation(position);
    ASSERT_LT(index, kSize);
    ASSERT_FALSE(seen[index]);
    seen[index] = true;
  }
}

TEST(PermutationTest, WorksAtTheLimitsOfItsType) {
  for (const std::uint64_t size :
       {~std::uint64_t{0}, std::uint64_t{1} << 63, (std::uint64_t{1} << 32) + 1}) {
    const Permutation permutation(size, 9, 9);
    EXPECT_LT(permutation(0), size);
    EXPECT_LT(permutation(size - 1), size);
    EXPECT_NE(permutation(0), permutation(size - 1));
  }
}

TEST(PermutationTest, SeedAndEpochChangeTheOrder) {
  constexpr std::uint64_t kSize = 1000;
  const Permutation a(kSize, 1, 0);
  const Permutation b(kSize, 2, 0);
  const Permutation c(kSize, 1, 1);
  int same_ab = 0;
  int same_ac = 0;
  int fixed = 0;
  for (std::uint64_t i = 0; i < kSize; ++i) {
    same_ab += a(i) == b(i) ? 1 : 0;
    same_ac += a(i) == c(i) ? 1 : 0;
    fixed += a(i) == i ? 1 : 0;
  }
  EXPECT_LT(same_ab, 8);  // one is expected
  EXPECT_LT(same_ac, 8);
  EXPECT_LT(fixed, 8);
}

// The indices at one position over many epochs: chi-square over 32 bins, 31 degrees of freedom.
TEST(PermutationTest, PositionsGoEverywhereEquallyOften) {
  for (const std::uint64_t size : {std::uint64_t{32}, std::uint64_t{100'000}}) {
    for (const std::uint64_t position : {std::uint64_t{0}, size / 2, size - 1}) {
      constexpr int kEpochs = 6400;
      std::array<double, 32> counts{};
      for (std::uint64_t epoch = 0; epoch < kEpochs; ++epoch) {
        const std::uint64_t index = Permutation(size, 77, epoch)(position);
        counts[index * 32 / size] += 1;
      }
      double chi_square = 0;
      for (const double count : counts) {
        chi_square += (count - kEpochs / 32.0) * (count - kEpochs / 32.0) / (kEpochs / 32.0);
      }
      EXPECT_LT(chi_square, 70) << size << " " << position;  // p = 8e-5
      // p = 1e-5. A lattice would give counts that are more even than chance allows.
      EXPECT_GT(chi_square, 8) << size << " " << position;
    }
  }
}

// Neighbours must not stay neighbours: in a uniform shuffle their mean distance is a third of the
// size.
TEST(PermutationTest, NeighboursArePulledApart) {
  constexpr std::int64_t kSize = 20'011;
  const Permutation permutation(kSize, 5, 0);
  double sum = 0;
  int adjacent = 0;
  int ascending = 0;
  for (std::uint64_t i = 0; i + 1 < kSize; ++i) {
    const std::int64_t step =
        static_cast<std::int64_t>(permutation(i + 1)) - static_cast<std::int64_t>(permutation(i));
    sum += std::abs(static_cast<double>(step));
    adjacent += std::abs(step) == 1 ? 1 : 0;
    ascending += step > 0 ? 1 : 0;
  }
  EXPECT_NEAR(sum / kSize / kSize, 1.0 / 3, 0.01);
  EXPECT_LT(adjacent, 12);                   // two are expected
  EXPECT_NEAR(ascending, kSize / 2.0, 250);  // the standard deviation is 41
}

// A weak network would give only a few of the 24 orders of four.
TEST(PermutationTest, SmallSetsReachAllOrders) {
  std::array<int, 256> counts{};
  for (std::uint64_t epoch = 0; epoch < 4800; ++epoch) {
    const Permutation p(4, 1, epoch);
    ++counts[p(0) * 64 + p(1) * 16 + p(2) * 4 + p(3)];
  }
  int orders = 0;
  for (const int count : counts) {
    orders += count > 0 ? 1 : 0;
    EXPECT_LT(count, 300);  // 200 expected
  }
  EXPECT_EQ(orders, 24);
}

}  // namespace
}  // namespace penstock::loader
