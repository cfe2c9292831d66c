// SPDX-License-Identifier: Apache-2.0
#include "agent/record/launch/warm.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>

#include "agent/record/sample/spare_memory.h"

namespace penstock::record {
namespace {

constexpr std::size_t kSize = 64 << 10;

class WarmTest : public ::testing::Test {
 protected:
  void SetUp() override {
    // Each test has its own folder, since tests run at the same time. The folder is not in /tmp,
    // which may be a tmpfs: its files never leave the page cache.
    root_ =
        (std::filesystem::current_path() / ("warm_test_data." + std::to_string(getpid()))).string();
    std::filesystem::remove_all(root_);
    std::filesystem::create_directories(root_ + "/in");
    for (const char* name : {"/a", "/in/b", "/in/c"}) {
      std::ofstream(root_ + name) << std::string(kSize, 'x');
    }
  }
  void TearDown() override { std::filesystem::remove_all(root_); }

  // Returns how many pages of a file are in the page cache.
  [[nodiscard]] std::size_t Resident(const std::string& name) const {
    const int fd = open((root_ + name).c_str(), O_RDONLY);
    void* const map = mmap(nullptr, kSize, PROT_READ, MAP_SHARED, fd, 0);
    std::vector<unsigned char> pages(kSize / 4096);
    std::size_t count = 0;
    if (mincore(map, kSize, pages.data()) == 0) {
      for (const unsigned char page : pages) count += page & 1;
    }
    munmap(map, kSize);
    close(fd);
    return count;
  }
  // Takes a file out of the page cache. Returns false if this file system keeps it there.
  [[nodiscard]] bool Cool(const std::string& name) const {
    const int fd = open((root_ + name).c_str(), O_RDONLY);
    fsync(fd);
    posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
    close(fd);
    return Resident(name) == 0;
  }

  std::string root_;
};

TEST_F(WarmTest, WhatWasColdIsWarmDuringTheRunAndColdAfterIt) {
  if (!Cool("/in/b")) GTEST_SKIP() << "this file system has no cold files";
  ASSERT_GT(Resident("/a"), 0u);
  WarmFiles files;
  files.Read({root_}, Bytes{1u << 30});
  EXPECT_EQ(files.files(), 3u);
  EXPECT_EQ(files.bytes(), Bytes{3 * kSize});
  EXPECT_FALSE(files.full());
  EXPECT_EQ(Resident("/in/b"), kSize / 4096);
  files.GiveBack();
  EXPECT_EQ(Resident("/in/b"), 0u);
  EXPECT_GT(Resident("/a"), 0u);  // it was in the page cache before
}

TEST_F(WarmTest, NoMoreIsReadThanThereIsRoomFor) {
  WarmFiles files;
  files.Read({root_}, Bytes{2 * kSize + 1});
  EXPECT_EQ(files.files(), 2u);
  EXPECT_TRUE(files.full());
}

TEST_F(WarmTest, WhatCannotBeReadIsPassedOver) {
  std::filesystem::create_symlink("/nonexistent", root_ + "/dangling");
  std::filesystem::create_directory_symlink(root_, root_ + "/in/loop");
  ASSERT_EQ(mkfifo((root_ + "/pipe").c_str(), 0600), 0);
  WarmFiles files;
  files.Read({root_ + "/gone", root_, root_ + "/a"}, Bytes{1u << 30});
  EXPECT_EQ(files.files(), 4u);  // three files, and "/a" once more, which was named too
}

TEST(MemoryToSpareTest, IsSomethingAndLessThanTheMachineHas) {
  const auto all = static_cast<std::uint64_t>(sysconf(_SC_PHYS_PAGES)) *
                   static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
  EXPECT_GT(MemoryToSpare().value, 0u);
  EXPECT_LT(MemoryToSpare().value, all);
}

}  // namespace
}  // namespace penstock::record
