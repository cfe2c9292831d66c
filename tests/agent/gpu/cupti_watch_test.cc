// SPDX-License-Identifier: Apache-2.0

#include "agent/gpu/cupti_watch.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>

namespace penstock::agent::cupti {
namespace {

// Calls RecordsWatch::Look() four times a second, as the flush thread does.
class RecordsWatchTest : public testing::Test {
 protected:
  struct Round {
    std::uint64_t calls = 0;  // all fields except `out` say how many were added in this round
    std::uint64_t copies = 0;
    std::uint64_t records = 0;
    std::uint64_t copied = 0;
    std::uint64_t out = 0;
    std::uint64_t lost = 0;
  };
  std::string Pass(double seconds, const Round& round, bool last = false) {
    for (int i = 0; i < static_cast<int>(seconds * 4); ++i) {
      now_ += 0.25;
      seen_ = {seen_.calls + round.calls,
               seen_.copies + round.copies,
               seen_.records + round.records,
               seen_.copied + round.copied,
               seen_.lost + round.lost,
               round.out,
               1000};
      watch_.Look(seen_, now_, last);
      changes_ += watch_.changed() ? 1 : 0;
    }
    return watch_.reason();
  }

  RecordsWatch watch_;
  RecordsWatch::Seen seen_ = {};
  double now_ = 0;
  int changes_ = 0;
};

TEST_F(RecordsWatchTest, ThatComeAreNoNews) {
  EXPECT_EQ(Pass(60, {10, 3, 20, 3, 1}), "");
  EXPECT_EQ(Pass(60, {}), "") << "nor is a program that computes on the host";
  EXPECT_EQ(Pass(0.25, {10, 3, 20, 3, 0}, true), "");
  EXPECT_EQ(changes_, 0);
}

TEST_F(RecordsWatchTest, WithNoBufferOutTwoSecondsOfCallsAreEnough) {
  Pass(5, {10, 3, 20, 3, 1});
  EXPECT_EQ(Pass(1.75, {10, 3, 0, 0, 0}), "");
  EXPECT_EQ(Pass(0.25, {10, 3, 0, 0, 0}), "another tool has taken CUPTI's records after 5 s");
  EXPECT_EQ(Pass(60, {10, 3, 20, 3, 0}), "another tool has taken CUPTI's records after 5 s")
      << "those of a while are missing";
  EXPECT_EQ(changes_, 1);
}

TEST_F(RecordsWatchTest, ADeviceThatIsNeverIdleIsNoTool) {
  Pass(5, {10, 3, 20, 3, 1});
  EXPECT_EQ(Pass(9, {10, 3, 0, 0, 1}), "");
  EXPECT_EQ(
      Pass(11, {10, 3, 0, 0, 1}),
      "no records of CUPTI since 5 s: the device is never idle, or another tool has taken them");
  EXPECT_EQ(Pass(0.25, {10, 3, 9000, 900, 1}), "") << "they come when the buffer is full and done";
  EXPECT_EQ(changes_, 2);
}

TEST_F(RecordsWatchTest, MoreCallsThanBuffersHoldWereToldToSomebodyElse) {
  Pass(5, {10, 3, 20, 3, 2});
  EXPECT_EQ(Pass(4, {124, 3, 0, 0, 2}), "");
  EXPECT_EQ(Pass(0.25, {124, 3, 0, 0, 2}), "another tool has taken CUPTI's records after 5 s");
}

TEST_F(RecordsWatchTest, WhatAForcedFlushDoesNotBringHasGone) {
  Pass(5, {10, 3, 20, 3, 1});
  Pass(1, {10, 3, 0, 0, 1});
  EXPECT_EQ(Pass(0.25, {10, 3, 0, 0, 1}, true), "another tool has taken CUPTI's records after 5 s");
}

TEST_F(RecordsWatchTest, AFewCallsProveNothing) {
  EXPECT_EQ(Pass(1, {1, 0, 0, 0, 1}), "");
  EXPECT_EQ(Pass(0.25, {1, 1, 0, 0, 1}, true), "") << "a program that only asks for devices";
}

TEST_F(RecordsWatchTest, CopiesThatAreCalledForButNotRecorded) {
  Pass(5, {10, 3, 20, 3, 0});
  EXPECT_EQ(Pass(3, {10, 3, 20, 0, 0}),
            "another tool has taken CUPTI's records of copies after 5 s");
}

TEST_F(RecordsWatchTest, RecordsThatWereLostWereTakenByNobody) {
  Pass(5, {10, 3, 20, 3, 1});
  Pass(1, {10, 3, 20, 0, 1});
  EXPECT_EQ(Pass(0.25, {10, 3, 20, 0, 0, 7}, true), "");
}

TEST_F(RecordsWatchTest, WhatNeverCameIsBlamedOnNobody) {
  EXPECT_EQ(Pass(3, {10, 3, 20, 0, 0}), "") << "no copies here, whatever they are";
  RecordsWatch other;
  watch_ = other;
  seen_ = {};
  EXPECT_EQ(Pass(3, {10, 3, 0, 0, 0}), "CUPTI gave no records of the program's calls in 5 s");
}

TEST_F(RecordsWatchTest, BuffersThatNeverCameBackWereTakenAtOnce) {
  Pass(3, {10, 3, 0, 0, 1});
  EXPECT_EQ(Pass(0.25, {10, 3, 0, 0, 1}, true),
            "another client of CUPTI took over its buffers: no records in 3 s");
}

}  // namespace
}  // namespace penstock::agent::cupti
