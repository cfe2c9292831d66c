// SPDX-License-Identifier: Apache-2.0
//
// Even if a thread is killed at any store, each byte of its reads is in one span or counted as
// lost.
#include <gtest/gtest.h>

#include <cstddef>
#include <iterator>
#include <string>

#include "tests/agent/model/machine.h"
#include "tests/agent/model/pending_model.h"

namespace penstock::model {
namespace {

constexpr std::size_t kPendingLimit = 3'000'000;

std::string Way(const Outcome& outcome) {
  std::string text = outcome.violation + "\n";
  for (const std::string& step : outcome.steps) text += "  " + step + "\n";
  return text;
}

void ExpectConserved(const PendingOptions& options) {
  const Outcome outcome = Explore(Pending(options), kPendingLimit);
  EXPECT_EQ(outcome.violation, "") << Way(outcome);
  EXPECT_TRUE(outcome.complete);
  EXPECT_GT(outcome.states, 100u);
}

TEST(PendingModelTest, EveryByteIsInOneSpanOrLost) {
  ExpectConserved({.reads = 7, .kill = false});
}
TEST(PendingModelTest, EveryByteOfAKilledThreadIsInOneSpanOrLost) {
  ExpectConserved({.reads = 7});
}
TEST(PendingModelTest, ReadsThatGoOnAreOneSpan) {
  ExpectConserved({.reads = 4, .alternate = false});
}

struct WrongPending {
  PendingMutation mutation;
  const char* name;
  const char* violation;
};
constexpr WrongPending kWrongPending[] = {
    {PendingMutation::kWithoutClosing, "WithoutClosing", "bytes are in two spans"},
    {PendingMutation::kClosedBeforeCleared, "ClosedBeforeCleared", "bytes are in two spans"},
    {PendingMutation::kClearedBeforeRecord, "ClearedBeforeRecord",
     "bytes are in no span and not counted"},
    {PendingMutation::kCopyAfterPid, "CopyAfterPid", "bytes are in no span and not counted"},
    {PendingMutation::kWithoutPrevious, "WithoutPrevious", "bytes are in two spans"},
    {PendingMutation::kDeathIsAskedPerChunk, "DeathIsAskedPerChunk", "bytes are in two spans"},
    {PendingMutation::kLostIsNotMarked, "LostIsNotMarked",
     "bytes are in a span and counted as lost"},
    {PendingMutation::kWithoutCounting, "WithoutCounting",
     "the process's count is not what is in spans"},
};
static_assert(std::size(kWrongPending) == static_cast<std::size_t>(PendingMutation::kCount) - 1);

class PendingMutationTest : public testing::TestWithParam<WrongPending> {};

TEST_P(PendingMutationTest, IsFound) {
  PendingOptions options{.reads = 5};
  options.mutation = GetParam().mutation;
  const Outcome outcome = Explore(Pending(options), kPendingLimit);
  EXPECT_EQ(outcome.violation, GetParam().violation) << Way(outcome);
}
INSTANTIATE_TEST_SUITE_P(Pending, PendingMutationTest, testing::ValuesIn(kWrongPending),
                         [](const auto& wrong) { return std::string(wrong.param.name); });

}  // namespace
}  // namespace penstock::model
