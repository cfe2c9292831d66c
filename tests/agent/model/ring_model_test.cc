// SPDX-License-Identifier: Apache-2.0
//
// Tries small cases of the ring's protocol in every order of steps. If the protocol is wrong in one
// place (Mutation), the search must find what goes wrong.
#include <gtest/gtest.h>

#include <cstddef>
#include <iterator>
#include <string>

#include "tests/agent/model/machine.h"
#include "tests/agent/model/ring_model.h"

namespace penstock::model {
namespace {

constexpr std::size_t kLimit = 3'000'000;

std::string Told(const Outcome& outcome) {
  std::string text = outcome.violation + "\n";
  for (const std::string& step : outcome.steps) text += "  " + step + "\n";
  return text;
}

void ExpectSound(const RingOptions& options) {
  const Outcome outcome = Explore(Ring(options), kLimit);
  EXPECT_EQ(outcome.violation, "") << Told(outcome);
  EXPECT_TRUE(outcome.complete);
  testing::Test::RecordProperty("states", std::to_string(outcome.states));
  EXPECT_GT(outcome.states, 1000u);
}

TEST(RingModelTest, TwoThreadsThatFillTwoChunksLoseNothing) {
  ExpectSound({.writers = 2, .chunks = 2, .records = 3});
}
TEST(RingModelTest, OneThreadThatWritesMoreThanTheRingHoldsLosesNothing) {
  ExpectSound({.writers = 1, .chunks = 2, .records = 7});
}
TEST(RingModelTest, ThreadsThatShareOneChunkInTurnLoseNothing) {
  ExpectSound({.writers = 2, .chunks = 1, .records = 5});
}
TEST(RingModelTest, ThreeThreadsLoseNothing) {
  ExpectSound({.writers = 3, .chunks = 1, .records = 2, .kills = 1});
}
TEST(RingModelTest, AKilledThreadLeavesWhatItCommittedAndItsChunk) {
  ExpectSound({.writers = 2, .chunks = 2, .records = 3, .kills = 1});
}
TEST(RingModelTest, TwoKilledThreadsLeaveTheirChunks) {
  ExpectSound({.writers = 2, .chunks = 2, .records = 2, .kills = 2});
}
TEST(RingModelTest, WhatAKilledCollectorHadIsTakenOnce) {
  ExpectSound({.writers = 1, .chunks = 1, .records = 4, .taker_dies = true});
  ExpectSound({.writers = 1, .chunks = 2, .records = 3, .kills = 1, .taker_dies = true});
  ExpectSound({.writers = 2, .chunks = 2, .records = 1, .taker_dies = true});
}

struct Wrong {
  Mutation mutation;
  const char* name;
  const char* violation;
};
constexpr Wrong kWrong[] = {
    {Mutation::kClaimWithoutAcquire, "ClaimWithoutAcquire",
     "the header is written while it is read"},
    {Mutation::kPidWithoutRelease, "PidWithoutRelease", "a header is read before it is whole"},
    {Mutation::kPidBeforeHeader, "PidBeforeHeader", "a header is read before it is whole"},
    {Mutation::kCommitWithoutRelease, "CommitWithoutRelease", "a torn record is taken"},
    {Mutation::kCommitBeforeRecord, "CommitBeforeRecord", "a torn record is taken"},
    {Mutation::kFullWithoutRelease, "FullWithoutRelease", "a record is lost and not counted"},
    {Mutation::kFullBeforeLastRecord, "FullBeforeLastRecord",
     "a chunk is given back while its owner fills it"},
    {Mutation::kClaimWithoutSwap, "ClaimWithoutSwap", "the header is written while it is read"},
    {Mutation::kClaimWithoutName, "ClaimWithoutName",
     "a chunk of a dead thread is never given back"},
    {Mutation::kStateAfterCommitted, "StateAfterCommitted", "a record is lost and not counted"},
    {Mutation::kStateWithoutAcquire, "StateWithoutAcquire", "a record is lost and not counted"},
    {Mutation::kPidWithoutAcquire, "PidWithoutAcquire", "a header is read before it is whole"},
    {Mutation::kCommittedWithoutAcquire, "CommittedWithoutAcquire", "a torn record is taken"},
    {Mutation::kDeadWithoutLastLook, "DeadWithoutLastLook", "a record is lost and not counted"},
    {Mutation::kDeadIsTakenForGranted, "DeadIsTakenForGranted",
     "a chunk is given back while its owner fills it"},
    {Mutation::kFreeWithoutRelease, "FreeWithoutRelease", "the header is written while it is read"},
    {Mutation::kFreeBeforeCommitted, "FreeBeforeCommitted", "a record is lost and not counted"},
    {Mutation::kFreeBeforePid, "FreeBeforePid", "a record is lost and not counted"},
    {Mutation::kCommittedIsKept, "CommittedIsKept", "a record is taken as another thread's"},
    {Mutation::kClaimerWithoutLastLook, "ClaimerWithoutLastLook",
     "a header is read before it is whole"},
    {Mutation::kFlushWithoutCommit, "FlushWithoutCommit", "a record is taken twice"},
    {Mutation::kCommitBeforeDrained, "CommitBeforeDrained", "a record is taken twice"},
    {Mutation::kRecycleBeforeCommit, "RecycleBeforeCommit", "a record is lost and not counted"},
};
static_assert(std::size(kWrong) == static_cast<std::size_t>(Mutation::kCount) - 1);

class RingMutationTest : public testing::TestWithParam<Wrong> {};

TEST_P(RingMutationTest, IsFound) {
  std::string found;
  for (RingOptions options :
       {RingOptions{.writers = 2, .chunks = 1, .records = 3},
        RingOptions{.writers = 1, .chunks = 1, .records = 2, .kills = 1},
        RingOptions{.writers = 1, .chunks = 2, .records = 3, .taker_dies = true},
        RingOptions{.writers = 2, .chunks = 2, .records = 3}}) {
    options.mutation = GetParam().mutation;
    if (found.empty()) found = Explore(Ring(options), kLimit).violation;
  }
  EXPECT_EQ(found, GetParam().violation);
}
INSTANTIATE_TEST_SUITE_P(Ring, RingMutationTest, testing::ValuesIn(kWrong),
                         [](const auto& wrong) { return std::string(wrong.param.name); });

}  // namespace
}  // namespace penstock::model
