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
// Copying takes about a second, and memory only as far as it gets.
constexpr std::uintmax_t kLarge = 1u << 30;

class StagerTest : public testing::Test {
 protected:
  void SetUp() override {
    char name[] = "/tmp/penstock-stager-test-XXXXXX";
    ASSERT_NE(mkdtemp(name), nullptr);
    folder_ = name;
    struct stat here {};
    struct stat memory {};
    if (stat(folder_.c_str(), &here) != 0 || stat(kMemory, &memory) != 0 ||
        access(kMemory, W_OK) != 0 || here.st_dev == memory.st_dev) {
      GTEST_SKIP() << "no second file system to copy to";
    }
    auto stage = MakeStage(kMemory);
    ASSERT_TRUE(stage);
    stage_ = *stage;
  }
  void TearDown() override {
    RemoveStage(stage_);
    RemoveStage(folder_);
  }

  std::string folder_;
  std::string stage_;
};

TEST_F(StagerTest, TheEndDoesNotWaitForALargeFile) {
  const std::string large = folder_ + "/large";
  std::ofstream(large) << "x";
  std::filesystem::resize_file(large, kLarge);  // a hole
  sleep(4);  // files that were written a moment ago are not copied
  Stager stager(stage_);
  stager.Offer(large);
  const std::string part = stage_ + "/part";
  for (int i = 0; i < 2000 && !std::filesystem::exists(part); ++i) usleep(1000);
  if (!std::filesystem::exists(part)) GTEST_SKIP() << "no room for a large file";
  stager.Stop();
  EXPECT_EQ(stager.outcome().files, 0u);
  EXPECT_TRUE(std::filesystem::is_empty(stage_));
}

}  // namespace
}  // namespace penstock::record
