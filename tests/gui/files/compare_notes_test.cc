// SPDX-License-Identifier: Apache-2.0
#include "gui/model/files/compare_notes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "tests/analyzer/synthetic.h"

namespace penstock::gui {
namespace {

using analyzer::testing::Always;
using analyzer::testing::Synthetic;
using ::testing::HasSubstr;
using ::testing::Not;

Document RecordedBy(const std::string& command, double decode, int batches = 64) {
  Synthetic run;
  run.batches = batches;
  run.costs = Always({.read = 1, .decode = decode, .augment = 2, .step = 2});
  Document document;
  document.path = "/t/a.penstock";
  document.trace = analyzer::testing::SyntheticTrace(run);
  auto analysis = std::make_shared<Analysis>();
  analysis->report = analyzer::BuildReport(*document.trace, document.path.string());
  analysis->report.command = command;
  document.analysis = std::move(analysis);
  return document;
}

CompareAnswer AnswerOf(const Document& a, const Document& b) {
  const auto answer = CompareDocuments(a, b);
  EXPECT_TRUE(answer);
  return answer ? *answer : CompareAnswer{};
}

TEST(CompareNotesTest, SixBatchesTellNothing) {
  const CompareAnswer answer =
      AnswerOf(RecordedBy("python3 train.py", 40), RecordedBy("python3 train.py", 2, 6));
  ASSERT_FALSE(answer.comparison.enough);
  for (const Language language : {Language::kEnglish, Language::kChinese}) {
    for (const CompareNote& note : {NoteOfRate(answer, language), NoteOfWait(answer, language)}) {
      EXPECT_EQ(note.text, TextOf(Text::kNotTold, language));
      EXPECT_EQ(note.tone, Tone::kPlain);
    }
  }
  for (const analyzer::Change& change : answer.comparison.stages) {
    EXPECT_EQ(WordOfChange(answer, change), Text::kNotTold) << change.name;
    EXPECT_EQ(ToneOfStage(answer, change), Tone::kPlain) << change.name;
  }
}

TEST(CompareNotesTest, TheSameProgramIsJudgedByItsInterval) {
  const Document slow = RecordedBy("python3 train.py", 40);
  const Document fast = RecordedBy("python3 train.py --fast", 4);
  const CompareAnswer faster = AnswerOf(slow, fast);
  EXPECT_EQ(NoteOfRate(faster, Language::kEnglish).tone, Tone::kGood);
  EXPECT_THAT(NoteOfRate(faster, Language::kEnglish).text, HasSubstr("×"));
  EXPECT_EQ(NoteOfRate(AnswerOf(fast, slow), Language::kEnglish).tone, Tone::kBad);
  const CompareAnswer same = AnswerOf(slow, slow);
  EXPECT_EQ(NoteOfRate(same, Language::kEnglish).tone, Tone::kPlain);
  EXPECT_THAT(NoteOfRate(same, Language::kEnglish).text, HasSubstr("within noise"));
}

TEST(CompareNotesTest, ThePointsAreTheDifferenceOfTheSharesThatAreShown) {
  CompareAnswer answer;
  answer.comparison.enough = true;
  answer.comparison.wait = {"wait", 0.784, 0.955, {0.171, 0.15, 0.20}, true};
  EXPECT_THAT(NoteOfWait(answer, Language::kEnglish).text, HasSubstr("+18 points"));  // 78 -> 96
}

TEST(CompareNotesTest, AFindingThatASlowerRunLacksIsNoGoodNews) {
  const Document slow = RecordedBy("python3 train.py", 40);
  const Document fast = RecordedBy("python3 train.py --fast", 4);
  EXPECT_EQ(ToneOfGoneFindings(AnswerOf(slow, fast)), Tone::kGood);
  EXPECT_EQ(ToneOfGoneFindings(AnswerOf(fast, slow)), Tone::kPlain);
  EXPECT_EQ(ToneOfGoneFindings(AnswerOf(slow, slow)), Tone::kPlain);
}

// "gone – No longer in B: converting takes 13 %" was said of a run that converts for 3 %.
TEST(CompareNotesTest, AFindingOfOneRunMayBeInTheOtherBelowAThreshold) {
  CompareAnswer answer;
  EXPECT_EQ(NoteOfFindings(answer, Language::kEnglish), "");
  answer.gone.emplace_back().id = "normalize-on-cpu";
  EXPECT_THAT(NoteOfFindings(answer, Language::kEnglish), HasSubstr("the other may have it too"));
  EXPECT_THAT(NoteOfFindings(answer, Language::kChinese), HasSubstr("未达到报告的阈值"));
  EXPECT_EQ(TextOf(Text::kFindingGone, Language::kEnglish), "only A");
}

TEST(CompareNotesTest, NoProgramIsBetterThanAnother) {
  const CompareAnswer answer =
      AnswerOf(RecordedBy("python3 train.py", 40), RecordedBy("python3 other.py", 2));
  ASSERT_TRUE(answer.comparison.throughput.significant);
  for (const Language language : {Language::kEnglish, Language::kChinese}) {
    for (const CompareNote& note : {NoteOfRate(answer, language), NoteOfWait(answer, language)}) {
      EXPECT_EQ(note.text, TextOf(Text::kOfTwoPrograms, language));
      EXPECT_EQ(note.tone, Tone::kPlain);
    }
    EXPECT_THAT(NoteOfRate(answer, language).text, Not(HasSubstr("×")));
  }
  for (const analyzer::Change& change : answer.comparison.stages) {
    EXPECT_EQ(ToneOfStage(answer, change), Tone::kPlain) << change.name;
  }
}

// The ids were listed: "3 in both: slow-storage, small-files, small-files".
TEST(CompareNotesTest, RulesOfBothAreNamedInWordsAndOnce) {
  CompareAnswer answer;
  EXPECT_EQ(FindingsInBoth(answer, Language::kEnglish), "");
  for (const char* id : {"slow-storage", "cold-cache", "slow-storage"}) {
    answer.in_both.emplace_back().id = id;
  }
  EXPECT_EQ(FindingsInBoth(answer, Language::kEnglish),
            "2 in both: slow storage, a cold page cache");
  EXPECT_EQ(FindingsInBoth(answer, Language::kChinese),
            "另有 2 项两者都有：存储读取慢、页缓存未命中");
}

}  // namespace
}  // namespace penstock::gui
