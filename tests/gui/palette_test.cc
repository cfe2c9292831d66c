// SPDX-License-Identifier: Apache-2.0
#include "gui/model/palette.h"

#include <gtest/gtest.h>

#include <array>
#include <set>
#include <tuple>
#include <utility>

namespace penstock::gui {
namespace {

using traces::StageId;

TEST(PaletteTest, TextCanBeReadOnEveryGround) {
  for (const Theme theme : {Theme::kDark, Theme::kLight}) {
    const Palette& p = PaletteOf(theme);
    for (const Rgb ground : {p.background, p.panel, p.raised}) {
      EXPECT_GE(Contrast(p.text, ground), 7);
      EXPECT_GE(Contrast(p.dim, ground), 4.5);
    }
    for (const bool held : {false, true}) {
      EXPECT_GE(Contrast(p.text, GrabColour(theme, held)), 4.5);
      EXPECT_GE(Contrast(GrabColour(theme, held), p.raised), 1.8);
    }
    for (const Rgb ink : {p.good, p.warn, p.bad, p.accent}) EXPECT_GE(Contrast(ink, p.panel), 4.5);
  }
}

TEST(PaletteTest, LabelsCanBeReadOnEveryStage) {
  for (const Theme theme : {Theme::kDark, Theme::kLight}) {
    for (std::uint8_t s = 0; s < wire::kStageCount; ++s) {
      const Rgb ground = StageColour(static_cast<StageId>(s), theme);
      EXPECT_GE(Contrast(InkOn(ground), ground), 4.5) << static_cast<int>(s);
    }
  }
}

// Stages that follow each other, and wait and step, must differ for a person with deuteranopia.
TEST(PaletteTest, NeighboursDifferForTheColourBlind) {
  constexpr std::array kWay = {StageId::kRead, StageId::kDecode, StageId::kAugment,
                               StageId::kTokenize, StageId::kCollate};
  for (const Theme theme : {Theme::kDark, Theme::kLight}) {
    for (std::size_t i = 1; i < kWay.size(); ++i) {
      EXPECT_GE(
          DistanceForDeuteranope(StageColour(kWay[i - 1], theme), StageColour(kWay[i], theme)), 15)
          << i;
    }
    EXPECT_GE(DistanceForDeuteranope(StageColour(StageId::kWait, theme),
                                     StageColour(StageId::kStep, theme)),
              15);
    // They lie beside each other in the rows of a training process. In the light theme the
    // distances were 13 and 5.
    for (const auto& [one, other] :
         {std::pair(StageId::kPin, StageId::kCopy), std::pair(StageId::kStep, StageId::kCall)}) {
      EXPECT_GE(DistanceForDeuteranope(StageColour(one, theme), StageColour(other, theme)), 15);
    }
  }
}

// Calls lie beside the waits for the device. In the dark theme, waiting and the reddest name were
// alike for a person with deuteranopia: the distance was 2.
TEST(PaletteTest, WaitingForTheDeviceIsNotTakenForAName) {
  for (const Theme theme : {Theme::kDark, Theme::kLight}) {
    const Rgb sync = StageColour(StageId::kSync, theme);
    for (std::uint8_t name = 0; name < kNamedColours; ++name) {
      EXPECT_GE(DistanceForDeuteranope(sync, NamedColour(name, theme)), 7) << int{name};
    }
  }
}

TEST(PaletteTest, ShadesAndSharedMemoryStandOut) {
  for (const Theme theme : {Theme::kDark, Theme::kLight}) {
    const Palette& p = PaletteOf(theme);
    const Rgb line = StageColour(StageId::kRead, theme);
    const Rgb shade = Mix(p.panel, line, kBandShare);
    EXPECT_GE(Contrast(shade, p.panel), 1.8);
    EXPECT_GE(Contrast(line, shade), 1.8);
    const Rgb shared = StageColour(kSharedMemory, theme);
    for (const Rgb other : {p.text, p.dim}) EXPECT_GE(DistanceForDeuteranope(shared, other), 15);
  }
}

TEST(PaletteTest, ContrastOfBlackAndWhiteIs21) {
  EXPECT_NEAR(Contrast({0, 0, 0}, {255, 255, 255}), 21, 1e-9);
  EXPECT_NEAR(Contrast({9, 9, 9}, {9, 9, 9}), 1, 1e-9);
}

TEST(PaletteTest, NamesHaveColoursOfTheirOwnThatCanBeReadOn) {
  std::set<std::tuple<int, int, int>> seen;
  for (const char* name : {"aten::conv2d", "aten::add", "aten::relu", "Optimizer.step", "nccl",
                           "aten::mm", "aten::copy_", "aten::cat"}) {
    for (const Theme theme : {Theme::kDark, Theme::kLight}) {
      const Rgb colour = NamedColour(name, theme);
      EXPECT_EQ(colour, NamedColour(name, theme));
      EXPECT_GE(Contrast(colour, PaletteOf(theme).panel), 3) << name;
      EXPECT_GE(Contrast(colour, InkOn(colour)), 4.5) << name;
      if (theme == Theme::kDark) seen.insert({colour.r, colour.g, colour.b});
    }
  }
  EXPECT_GE(seen.size(), 5U);
}

}  // namespace
}  // namespace penstock::gui
