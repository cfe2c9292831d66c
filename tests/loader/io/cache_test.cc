// SPDX-License-Identifier: Apache-2.0
//
// Our RAM cache, and what PageCacheState() tells of the kernel's page cache.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "loader/io/cache_state.h"
#include "loader/io/ram_cache.h"
#include "tests/loader/io/references.h"
#include "tests/loader/source/temp_set.h"

namespace penstock::loader {
namespace {

using testing::Part;
using testing::Pattern;
using testing::TempSet;
using testing::Text;
using testing::WholeFile;

TEST(RamCacheTest, BudgetIsNeverExceededAndNothingIsEvicted) {
  constexpr std::uint64_t kBudget = 100000;
  RamCache cache(Bytes{kBudget});
  const std::string bytes = Pattern(10000);
  std::vector<std::string> names;
  std::size_t kept = 0;
  for (int i = 0; i < 20; ++i) {
    names.push_back("image" + std::to_string(i));
    kept += cache.Insert(WholeFile(names.back()), std::as_bytes(std::span(bytes))) ? 1U : 0U;
    ASSERT_LE(cache.stats().used.value, kBudget);
  }
  EXPECT_EQ(kept, 9U);  // ten do not fit with their overhead
  EXPECT_EQ(cache.stats().entries, kept);
  EXPECT_EQ(cache.stats().refused, 20 - kept);
  for (std::size_t i = 0; i < names.size(); ++i) {
    EXPECT_EQ(cache.Find(WholeFile(names[i])).has_value(), i < kept);
  }
  EXPECT_FALSE(RamCache(Bytes{0}).Insert(WholeFile("a"), {}));
}

TEST(RamCacheTest, MembersOfOneFileAreToldApartByTheirOffset) {
  RamCache cache(Bytes{1 << 20});
  cache.Insert(Part("shard", 0, 3), std::as_bytes(std::span("one", 3)));
  cache.Insert(Part("shard", 512, 3), std::as_bytes(std::span("two", 3)));
  EXPECT_EQ(Text(*cache.Find(Part("shard", 0, 3))), "one");
  EXPECT_EQ(Text(*cache.Find(Part("shard", 512, 3))), "two");
  EXPECT_FALSE(cache.Find(Part("shard", 1, 3)));
  EXPECT_FALSE(cache.Find(Part("other", 0, 3)));
}

TEST(RamCacheTest, EmptyMemberIsToldApartFromTheOneThatBeginsAtTheSamePlace) {
  RamCache cache(Bytes{1 << 20});
  cache.Insert(Part("packed", 32, 0), {});
  EXPECT_FALSE(cache.Find(Part("packed", 32, 3)));
  cache.Insert(Part("packed", 32, 3), std::as_bytes(std::span("one", 3)));
  EXPECT_EQ(Text(*cache.Find(Part("packed", 32, 3))), "one");
  EXPECT_EQ(Text(*cache.Find(Part("packed", 32, 0))), "");
}

TEST(RamCacheTest, ThreadsThatFillItTogetherKeepOneCopyEach) {
  RamCache cache(Bytes{64 << 20});
  constexpr std::size_t kSamples = 500;
  std::vector<std::thread> threads;
  std::atomic<int> wrong{0};
  for (std::size_t t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (std::size_t i = 0; i < kSamples; ++i) {
        const std::size_t at = (i + t * 13) % kSamples;
        const std::string name = "image" + std::to_string(at);
        const std::string bytes = Pattern(100 + at, static_cast<unsigned>(at));
        const auto found = cache.Find(WholeFile(name));
        if (!found) {
          cache.Insert(WholeFile(name), std::as_bytes(std::span(bytes)));
        } else if (Text(*found) != bytes) {
          ++wrong;
        }
      }
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(cache.stats().entries, kSamples);
  EXPECT_EQ(cache.stats().hits + cache.stats().misses, 4 * kSamples);
}

TEST(CacheStateTest, PagesOfAFileAreCountedAndDroppedOnesAreGone) {
  const TempSet set("/var/tmp");
  const auto path = set.Write("a", Pattern(100000));
  const auto page = static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
  const CacheState warm = PageCacheState(WholeFile(path));
  ASSERT_TRUE(warm.known);
  EXPECT_EQ(warm.pages, (100000 + page - 1) / page);
  EXPECT_EQ(warm.cached, warm.pages);  // just written
  EXPECT_EQ(PageCacheState(Part(path, page - 1, 2)).pages, 2U);
  EXPECT_EQ(PageCacheState(Part(path, page, page)).pages, 1U);
  EXPECT_EQ(PageCacheState(Part(path, 0, 0)).pages, 0U);

  const int fd = ::open(path.c_str(), O_RDONLY);
  ASSERT_EQ(::fsync(fd), 0);
  ::close(fd);
  EXPECT_TRUE(DropFromPageCache(WholeFile(path)));
  const CacheState after = PageCacheState(WholeFile(path));
  EXPECT_TRUE(after.known);
  EXPECT_LE(after.cached, warm.cached);  // the kernel need not drop any page
}

TEST(CacheStateTest, WhatCannotBeOpenedIsUnknown) {
  EXPECT_FALSE(PageCacheState(WholeFile("/nonexistent")).known);
  EXPECT_FALSE(PageCacheState(WholeFile("/")).known);
  EXPECT_FALSE(DropFromPageCache(WholeFile("/nonexistent")));
}

}  // namespace
}  // namespace penstock::loader
