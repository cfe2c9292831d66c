// SPDX-License-Identifier: Apache-2.0
#include "agent/record/collect/stager.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include <gtest/gtest.h>

namespace penstock::record {
namespace {

constexpr const char* kMemory = "/dev/shm";
// A file large enough that copying it takes about a second. The copy takes memory only for what has
// been copied so far.
constexpr std::uintmax_t kLarge = 1u << 30;

class StagerTest : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    char name[] = "/tmp/penstock-stager-test-XXXXXX";
    if (mkdtemp(name) == nullptr) return;
    folder_ = name;
    std::ofstream(Large()) << "x";
    std::filesystem::resize_file(Large(), kLarge);  // a hole
    sleep(4);  // files that were written a moment ago are not copied
  }
  static void TearDownTestSuite() { std::filesystem::remove_all(folder_); }

  void SetUp() override {
    struct stat here {};
    struct stat memory {};
    if (stat(Large().c_str(), &here) != 0 || stat(kMemory, &memory) != 0 ||
        access(kMemory, W_OK) != 0 || here.st_dev == memory.st_dev) {
      GTEST_SKIP() << "no second file system to copy to";
    }
    const auto stage = MakeStage(kMemory);
    ASSERT_TRUE(stage);
    stage_ = *stage;
  }
  void TearDown() override { RemoveStage(stage_); }

  static std::string Large() { return folder_ + "/large"; }
  // Offers the large file. Returns whether the stager has begun to copy it.
  bool Begin(Stager& stager) const {
    stager.Offer(Large());
    const std::string part = stage_ + "/part";
    for (int i = 0; i < 2000 && !std::filesystem::exists(part); ++i) usleep(1000);
    return std::filesystem::exists(part);
  }

  static inline std::string folder_;
  std::string stage_;
};

TEST(RemoveStageTest, RemovesOnlyWhatMakeStageMade) {
  char name[] = "/tmp/penstock-stager-test-XXXXXX";
  ASSERT_NE(mkdtemp(name), nullptr);
  const std::string place = name;
  const auto stage = MakeStage(place);
  ASSERT_TRUE(stage);
  std::ofstream(*stage + "/copy") << "x";
  RemoveStage(*stage);
  EXPECT_FALSE(std::filesystem::exists(*stage));
  RemoveStage(place);
  RemoveStage("");
  EXPECT_TRUE(std::filesystem::exists(place));
  std::filesystem::remove(place);
}

TEST_F(StagerTest, TheEndDoesNotWaitForALargeFile) {
  Stager stager(stage_);
  if (!Begin(stager)) GTEST_SKIP() << "no room for a large file";
  stager.Stop();
  EXPECT_EQ(stager.outcome().files, 0u);
  EXPECT_TRUE(std::filesystem::is_empty(stage_));
}

TEST_F(StagerTest, WhatFindsTheQueueFullIsToBeOfferedAgain) {
  Stager stager(stage_);
  if (!Begin(stager)) GTEST_SKIP() << "no room for a large file";
  int refused = 0;
  for (int i = 0; i < 70'000; ++i) refused += stager.Offer("/no/such/file") ? 0 : 1;
  EXPECT_GT(refused, 0);
  stager.Stop();
  EXPECT_TRUE(stager.Offer("/no/such/file"));  // nothing is copied any more
}

}  // namespace
}  // namespace penstock::record
