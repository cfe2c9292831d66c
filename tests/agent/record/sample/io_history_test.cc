// SPDX-License-Identifier: Apache-2.0
#include "agent/record/sample/io_history.h"

#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>

namespace penstock::record {
namespace {

class IoHistoryTest : public testing::Test {
 protected:
  void SetUp() override {
    char name[] = "/tmp/penstock-io-XXXXXX";
    folder_ = mkdtemp(name);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }
  void Put(const std::string& where, std::uint64_t rchar) {
    std::filesystem::create_directories(folder_ / where);
    std::ofstream(folder_ / where / "io")
        << "rchar: " << rchar << "\nread_bytes: " << rchar / 2 << "\n";
  }
  void Remove(const std::string& where) { std::filesystem::remove_all(folder_ / where); }
  Coverage Pair(std::uint64_t start, std::uint64_t before, std::uint64_t after) const {
    return history_.Pair(Bytes{start}, Bytes{before}, Bytes{after});
  }

  std::filesystem::path folder_;
  IoHistory history_;
};

TEST_F(IoHistoryTest, ReapedChildrenAreNotOurReads) {
  Put("", 100);
  Put("task/1", 100);
  ASSERT_TRUE(history_.Sample(folder_));
  Put("", 1100);  // a child that had read 1000 was reaped
  ASSERT_TRUE(history_.Sample(folder_));
  EXPECT_EQ(Pair(0, 100, 100).kernel, Bytes{100});
  history_.AddChild({Bytes{1000}, Bytes{500}});
  EXPECT_EQ(Pair(0, 100, 100).kernel, Bytes{100});
  EXPECT_EQ(history_.own().read_bytes, Bytes{50});
}

TEST_F(IoHistoryTest, EndedThreadsStillCount) {
  Put("", 300);
  Put("task/1", 100);
  Put("task/2", 200);
  ASSERT_TRUE(history_.Sample(folder_));
  Remove("task/2");
  ASSERT_TRUE(history_.Sample(folder_));
  EXPECT_EQ(history_.own().rchar, Bytes{300});
  EXPECT_EQ(Pair(0, 120, 120).kernel, Bytes{300});  // hooks have certainly missed 180
}

TEST_F(IoHistoryTest, AThreadThatIsNotReadForAMomentCountsOnce) {
  Put("", 300);
  Put("task/1", 100);
  Put("task/2", 200);
  ASSERT_TRUE(history_.Sample(folder_));
  std::filesystem::remove(folder_ / "task/2/io");
  ASSERT_TRUE(history_.Sample(folder_));
  EXPECT_EQ(history_.own().rchar, Bytes{300});
  Put("", 350);
  Put("task/2", 250);
  ASSERT_TRUE(history_.Sample(folder_));
  EXPECT_EQ(history_.own().rchar, Bytes{350});
  EXPECT_EQ(Pair(0, 350, 350).kernel, Bytes{350});
}

TEST_F(IoHistoryTest, WhatIsUncertainIsNoGap) {
  Put("", 500);
  Put("task/1", 100);  // a thread that was never seen, or an untraced child, has read the other 400
  ASSERT_TRUE(history_.Sample(folder_));
  EXPECT_EQ(Pair(0, 450, 450).kernel, Bytes{450});
  EXPECT_EQ(Pair(0, 50, 50).kernel, Bytes{100});
  EXPECT_EQ(Pair(0, 600, 600).kernel, Bytes{500});
}

TEST_F(IoHistoryTest, BytesBeforeTheStartAreNotCounted) {
  Put("", 1000);
  Put("task/1", 1000);
  ASSERT_TRUE(history_.Sample(folder_));
  EXPECT_EQ(Pair(400, 600, 600).kernel, Bytes{600});
  EXPECT_EQ(Pair(2000, 0, 0).kernel, Bytes{0});
}

TEST_F(IoHistoryTest, ReadsDuringTheSampleAreNoGap) {
  Put("", 1000);
  Put("task/1", 1000);
  ASSERT_TRUE(history_.Sample(folder_));
  const Coverage pair = Pair(0, 900, 1100);
  EXPECT_EQ(pair.hooked, Bytes{1000});
  EXPECT_EQ(pair.kernel, Bytes{1000});
}

TEST_F(IoHistoryTest, AProcessThatIsGoneGivesNothing) {
  EXPECT_FALSE(history_.Sample(folder_ / "none"));
}

}  // namespace
}  // namespace penstock::record
