// SPDX-License-Identifier: Apache-2.0
#include "gui/model/timeline/evidence.h"

#include <gtest/gtest.h>

#include "tests/gui/support.h"

namespace penstock::gui {
namespace {

using traces::StageId;

class EvidenceTest : public ::testing::Test {
 protected:
  std::unique_ptr<traces::Trace> trace_ =
      testing::MakeThreads({{{0, 100, StageId::kWait, 0}, {150, 60, StageId::kWait, 1}},
                            {{0, 20, StageId::kDecode, 0, "PIL.load"},
                             {30, 10, StageId::kAugment, 0, "ToTensor"},
                             {50, 40, StageId::kAugment, 0, "Normalize"},
                             {100, 30, StageId::kAugment, 1, "Normalize"},
                             {140, 35, StageId::kDecode, 1, "PIL.load"}}});
  Timeline timeline_ = *BuildTimeline(*trace_);
};

TEST_F(EvidenceTest, IsTheLongestOfTheSpansThatTheRuleIsAbout) {
  const auto decode = FindEvidence(timeline_, *trace_, "slow-decoder", {0, 1000});
  ASSERT_TRUE(decode.has_value());
  ASSERT_EQ(decode->longest.size(), 2U);
  EXPECT_EQ(timeline_.start(decode->longest[0]), 140);
  EXPECT_EQ(timeline_.start(decode->longest[1]), 0);
  const Search search(timeline_, *trace_, decode->search);
  for (const SpanRef hit : search.hits()) {
    EXPECT_EQ(timeline_.stage(hit), StageId::kDecode);
  }
}

TEST_F(EvidenceTest, ForAConversionIsItsOwnSpan) {
  const auto found = FindEvidence(timeline_, *trace_, "normalize-on-cpu", {0, 1000});
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(timeline_.start(found->longest.front()), 50);
  EXPECT_EQ(Search(timeline_, *trace_, found->search).hits().size(), 2U);
}

TEST_F(EvidenceTest, OfAConversionMayBeThatOfAlbumentations) {
  const auto trace = testing::MakeThreads(
      {{{0, 7, StageId::kAugment, 0, "HorizontalFlip"}, {10, 9, StageId::kAugment, 0, "ToFloat"}}});
  const Timeline timeline = *BuildTimeline(*trace);
  const auto found = FindEvidence(timeline, *trace, "normalize-on-cpu", {0, 1000});
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(timeline.start(found->longest.front()), 10);
}

TEST_F(EvidenceTest, LiesInTheIntervalOfTheFinding) {
  const auto early = FindEvidence(timeline_, *trace_, "slow-decoder", {0, 100});
  ASSERT_TRUE(early.has_value());
  EXPECT_EQ(timeline_.start(early->longest.front()), 0);
}

TEST_F(EvidenceTest, IsThreeSpansAtMost) {
  const auto trace = testing::MakeThreads({{{0, 7, StageId::kDecode},
                                            {10, 9, StageId::kDecode},
                                            {20, 8, StageId::kDecode},
                                            {30, 6, StageId::kDecode}}});
  const Timeline timeline = *BuildTimeline(*trace);
  const auto found = FindEvidence(timeline, *trace, "slow-decoder", {0, 1000});
  ASSERT_TRUE(found.has_value());
  std::vector<std::int64_t> starts;
  for (const SpanRef span : found->longest) starts.push_back(timeline.start(span));
  EXPECT_EQ(starts, (std::vector<std::int64_t>{10, 20, 0}));
}

TEST_F(EvidenceTest, ARuleThatIsNotAboutSpansHasNone) {
  EXPECT_FALSE(FindEvidence(timeline_, *trace_, "worker-memory-leak", {0, 1000}).has_value());
  EXPECT_FALSE(FindEvidence(timeline_, *trace_, "slow-storage", {0, 1000}).has_value());
}

}  // namespace
}  // namespace penstock::gui
