// SPDX-License-Identifier: Apache-2.0
//
// Processes that share a segment and a file leave each record once, even if they are killed at any
// store.
#include <gtest/gtest.h>

#include <cstddef>
#include <iterator>
#include <string>

#include "tests/agent/model/linear_model.h"
#include "tests/agent/model/machine.h"

namespace penstock::model {
namespace {

constexpr std::size_t kLinearLimit = 3'000'000;

std::string HowItCame(const Outcome& outcome) {
  std::string text = outcome.violation + "\n";
  for (const std::string& step : outcome.steps) text += "  " + step + "\n";
  return text;
}

void ExpectToldOnce(const LinearOptions& options) {
  const Outcome outcome = Explore(Linear(options), kLinearLimit);
  EXPECT_EQ(outcome.violation, "") << HowItCame(outcome);
  EXPECT_TRUE(outcome.complete);
  EXPECT_GT(outcome.states, 50u);
}

TEST(LinearModelTest, OneProcessKilledAnywhere) {
  ExpectToldOnce({.processes = 1, .chunks = 1, .records = 6, .kills = 1});
}
TEST(LinearModelTest, TwoProcessesWithAChunkEach) {
  ExpectToldOnce({.processes = 2, .chunks = 2, .records = 4, .kills = 2});
}
TEST(LinearModelTest, ThreeProcessesThatSweepForOneAnother) {
  ExpectToldOnce({.processes = 3, .chunks = 1, .records = 2, .kills = 2});
  ExpectToldOnce({.processes = 3, .chunks = 2, .records = 2, .kills = 1});
}

struct WrongLinear {
  LinearMutation mutation;
  const char* name;
  const char* violation;
};
constexpr WrongLinear kWrongLinear[] = {
    {LinearMutation::kIndexBeforeReset, "IndexBeforeReset", "a record is told twice"},
    {LinearMutation::kResetBeforeWrite, "ResetBeforeWrite", "a record is lost and not counted"},
    {LinearMutation::kFreeBeforeWrite, "FreeBeforeWrite", "a record is lost and not counted"},
    {LinearMutation::kClaimWithoutName, "ClaimWithoutName",
     "a chunk is swept while its owner fills it"},
    {LinearMutation::kSweepWithoutSwap, "SweepWithoutSwap",
     "a chunk is swept while its owner fills it"},
    {LinearMutation::kPlaceIsKept, "PlaceIsKept", "a record is lost and not counted"},
    {LinearMutation::kEmptyIsWritten, "EmptyIsWritten", "a record is lost and not counted"},
};
static_assert(std::size(kWrongLinear) == static_cast<std::size_t>(LinearMutation::kCount) - 1);

class LinearMutationTest : public testing::TestWithParam<WrongLinear> {};

TEST_P(LinearMutationTest, IsFound) {
  std::string found;
  for (LinearOptions options : {LinearOptions{.processes = 1, .chunks = 1, .records = 4},
                                LinearOptions{.processes = 3, .chunks = 1, .records = 2}}) {
    options.mutation = GetParam().mutation;
    if (found.empty()) found = Explore(Linear(options), kLinearLimit).violation;
  }
  EXPECT_EQ(found, GetParam().violation);
}
INSTANTIATE_TEST_SUITE_P(Linear, LinearMutationTest, testing::ValuesIn(kWrongLinear),
                         [](const auto& wrong) { return std::string(wrong.param.name); });

}  // namespace
}  // namespace penstock::model
