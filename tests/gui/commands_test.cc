// SPDX-License-Identifier: Apache-2.0
#include "gui/model/commands.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace penstock::gui {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

const std::vector<std::string> kNames = {"Open a trace", "Go to the longest decode",
                                         "Show only decode", "Decode it all", "打开跟踪文件"};

TEST(CommandsTest, EveryWordMustOccurInAnyCase) {
  EXPECT_THAT(MatchingCommands(kNames, "LONG dec"), ElementsAre(1));
  EXPECT_THAT(MatchingCommands(kNames, "跟踪"), ElementsAre(4));
  EXPECT_THAT(MatchingCommands(kNames, "decode nothing"), IsEmpty());
}

TEST(CommandsTest, WhatBeginsWithItComesFirst) {
  EXPECT_THAT(MatchingCommands(kNames, "decode"), ElementsAre(3, 1, 2));
}

TEST(CommandsTest, NothingTypedMeansAllInTheirOrder) {
  EXPECT_THAT(MatchingCommands(kNames, ""), ElementsAre(0, 1, 2, 3, 4));
  EXPECT_THAT(MatchingCommands(kNames, "  "), ElementsAre(0, 1, 2, 3, 4));
}

}  // namespace
}  // namespace penstock::gui
