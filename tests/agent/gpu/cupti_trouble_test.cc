// SPDX-License-Identifier: Apache-2.0
//
// CUPTI withholds records, gives them without usable times, or gives them to another client. The
// agent takes the records that it can get, and counts or explains the others.

#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>
#include <string>

#include "tests/agent/gpu/cupti_run.h"
#include "tests/paths.h"

namespace penstock::traces {
namespace {

class CuptiTroubleTest : public CuptiTest {
 protected:
  // Runs a loop that starts work faster than the device does it. The recording ends after 8
  // batches, the program later.
  void StopAhead(const std::string& how, int steps) {
    truth_ = folder_ / "truth";
    const int status = Run({paths::kRecord, "-o", trace_, "--quiet", "--batches", "8", "--",
                            paths::kGpuVictim, how, std::to_string(steps)},
                           With({{"FAKE_CUPTI", "inflight"}}), false);
    ASSERT_TRUE(WIFEXITED(status));
    EXPECT_EQ(WEXITSTATUS(status), 7);
    trace = Open();
    ASSERT_NE(trace, nullptr);
  }

  std::uint64_t Count(const std::string& key) {
    const std::string fact = Fact(key);
    EXPECT_FALSE(fact.empty()) << key;
    return fact.empty() ? 0 : std::stoull(fact);
  }

  bool ReasonHas(const std::string& part) {
    return Fact("gpu.reason").find(part) != std::string::npos;
  }
};

// CUPTI returns a buffer only when all kernels in it have ended. In this program there is always
// one that has not.
TEST_F(CuptiTroubleTest, AStopWhileTheDeviceIsBehindWaitsForIt) {
  StopAhead("ahead", 24);
  EXPECT_GE(SpansOf(*trace, StageId::kKernel).size(), 7u);
  EXPECT_GE(SpansOf(*trace, StageId::kH2d).size(), 7u);
  EXPECT_EQ(Count("gpu.unstamped"), 0u);
  EXPECT_FALSE(trace->losses().any());
}

TEST_F(CuptiTroubleTest, AStopWhileTheDeviceIsFarBehindTakesWhatHasEnded) {
  StopAhead("ahead_far", 12);
  EXPECT_GE(SpansOf(*trace, StageId::kKernel).size(), 2u);
  EXPECT_GE(Count("gpu.unstamped"), 1u) << "what had not ended";
  EXPECT_EQ(trace->losses().dropped_events, Count("gpu.unstamped"));
}

TEST_F(CuptiTroubleTest, TheDevicesBuffersAreNotLimited) {
  Train({{"FAKE_CUPTI", "pool"}});
  EXPECT_EQ(Count("gpu.unstamped"), 0u) << "48 records, of 250 that have room";
  ExpectAgreement();
}

TEST_F(CuptiTroubleTest, WorkWithoutTimesIsALossWithAReason) {
  Train({{"FAKE_CUPTI", "zero"}});
  EXPECT_EQ(trace->losses().dropped_events, std::uint64_t{6} * kSteps / 3);
  EXPECT_EQ(Fact("gpu.reason"), "CUPTI gave no usable times for 16 of 48 copies and kernels");
}

TEST_F(CuptiTroubleTest, StampsOfAnotherClockAreNone) {
  Train({{"FAKE_CUPTI", "realtime"}});
  EXPECT_EQ(Works(), 20u) << "those before";
  EXPECT_EQ(Count("gpu.unstamped"), std::uint64_t{6} * kSteps - 20);
  EXPECT_LT((trace->end() - trace->begin()).value, std::int64_t{60'000'000'000});
  EXPECT_TRUE(ReasonHas("no usable times for 28 of 48"));
}

// In a container with a time namespace the monotonic clock may be far ahead of the collector's.
TEST_F(CuptiTroubleTest, ATimeNamespaceOfItsOwnIsAccountedFor) {
  if (std::system("unshare --time --monotonic 100000 --fork true 2>/dev/null") != 0) {
    GTEST_SKIP() << "no time namespaces here";
  }
  const int status =
      Run({paths::kRecord, "-o", trace_, "--quiet", "--", "unshare", "--time", "--monotonic",
           "100000", "--fork", paths::kGpuVictim, "slow", std::to_string(kSteps)},
          With({}), false);
  ASSERT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 7);
  trace = Open();
  ASSERT_NE(trace, nullptr);
  EXPECT_EQ(Count("gpu.unstamped"), 0u);
  EXPECT_EQ(Works(), std::size_t{6} * kSteps);
  for (const Found& kernel : SpansOf(*trace, StageId::kKernel)) {
    EXPECT_GE(kernel.span.start, trace->begin());
    EXPECT_LE(kernel.span.end(), trace->end());
  }
  EXPECT_LT((trace->end() - trace->begin()).value, std::int64_t{60'000'000'000});
}

TEST_F(CuptiTroubleTest, BuffersThatAreTakenMidwayAreToldOf) {
  Train({{"FAKE_CUPTI", "stolenlater"}}, "driver:runtime:cupti", "slow", 20);
  EXPECT_GT(Works(), 0u);
  EXPECT_TRUE(ReasonHas("another tool has taken CUPTI's records after ")) << Fact("gpu.reason");
}

// The fact is written while the program runs, since this program ends without handlers.
TEST_F(CuptiTroubleTest, KindsThatAreDisabledMidwayAreToldOf) {
  Train({{"FAKE_CUPTI", "disabled"}}, "driver:runtime:cupti", "slow_exit", 90);
  EXPECT_GT(Works(), 0u);
  EXPECT_TRUE(ReasonHas("another tool has taken CUPTI's records after ")) << Fact("gpu.reason");
}

TEST_F(CuptiTroubleTest, SoIsTheDevicesPartOfThem) {
  Train({{"FAKE_CUPTI", "halfdisabled"}}, "driver:runtime:cupti", "slow", 20);
  EXPECT_GT(Works(), 0u);
  EXPECT_TRUE(ReasonHas("another tool has taken CUPTI's records of copies after "))
      << Fact("gpu.reason");
}

TEST_F(CuptiTroubleTest, AProgramThatOnlyAsksHasLostNothing) {
  Train({{"FAKE_CUPTI", "late"}}, "driver:runtime:cupti", "query", 50);
  EXPECT_EQ(Fact("gpu.lost_buffers"), "1");
  EXPECT_EQ(Fact("gpu.reason"), "");
}

TEST_F(CuptiTroubleTest, RecordsBehindAnInvalidOneCountAsLost) {
  Train({{"FAKE_CUPTI", "incomplete"}});
  const auto unread = static_cast<double>(ReadTruth().unread);
  EXPECT_GT(unread, 10);
  EXPECT_NEAR(static_cast<double>(Count("gpu.dropped")), unread, 0.4 * unread);
  EXPECT_EQ(trace->losses().dropped_events, Count("gpu.dropped"));
}

}  // namespace
}  // namespace penstock::traces
