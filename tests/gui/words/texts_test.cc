// SPDX-License-Identifier: Apache-2.0
#include "gui/model/words/texts.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

#include "gui/model/words/stage_words.h"

namespace penstock::gui {
namespace {

using traces::StageId;

int Places(std::string_view text) {
  int count = 0;
  for (std::size_t at = text.find("{}"); at != std::string_view::npos;
       at = text.find("{}", at + 2)) {
    ++count;
  }
  return count;
}

TEST(TextsTest, BothLanguagesHaveEveryTextWithTheSameValues) {
  for (int t = 0; t < static_cast<int>(Text::kTextCount); ++t) {
    const std::string_view english = TextOf(static_cast<Text>(t), Language::kEnglish);
    const std::string_view chinese = TextOf(static_cast<Text>(t), Language::kChinese);
    EXPECT_FALSE(english.empty()) << t;
    EXPECT_FALSE(chinese.empty()) << english;
    EXPECT_EQ(Places(english), Places(chinese)) << english;
    EXPECT_EQ(english.data()[english.size()], '\0');
  }
}

TEST(TextsTest, ValuesComeIntoTheirPlaces) {
  EXPECT_EQ(Filled(Text::kWorkerN, Language::kEnglish, 3), "worker 3");
  EXPECT_NE(Filled(Text::kWorkerN, Language::kChinese, 3).find('3'), std::string::npos);
}

TEST(StageWordsTest, EveryStageHasAWordOfItsOwnInBothLanguages) {
  for (const Language language : {Language::kEnglish, Language::kChinese}) {
    std::set<std::string_view> words;
    for (std::uint8_t s = 1; s < wire::kStageCount; ++s) {
      const auto stage = static_cast<traces::StageId>(s);
      const std::string_view word = WordOf(stage, language);
      EXPECT_TRUE(words.insert(word).second) << word;
      EXPECT_EQ(StageOfWord(word), stage) << word;
      EXPECT_EQ(word == traces::StageName(stage), language == Language::kEnglish) << word;
    }
  }
  EXPECT_EQ(StageOfWord("decoding"), std::nullopt);
}

// The legend had "h2d", "copy" and "call", and nothing said which copies these are.
TEST(StageWordsTest, WhatIsSaidOfAStageBeginsWithItsWord) {
  for (const StageId stage : {StageId::kH2d, StageId::kCopy, StageId::kCall, StageId::kSync}) {
    ASSERT_TRUE(MeaningOf(stage).has_value());
    for (const Language language : {Language::kEnglish, Language::kChinese}) {
      EXPECT_TRUE(TextOf(*MeaningOf(stage), language).starts_with(WordOf(stage, language)));
    }
  }
  EXPECT_EQ(MeaningOf(StageId::kDecode), std::nullopt);
}

}  // namespace
}  // namespace penstock::gui
