// SPDX-License-Identifier: Apache-2.0
#include "gui/model/texts.h"

#include <gtest/gtest.h>

#include <string>

namespace penstock::gui {
namespace {

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

}  // namespace
}  // namespace penstock::gui
