// SPDX-License-Identifier: Apache-2.0
#include "gui/model/files/sweep.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <random>
#include <string>

#include "tests/gui/files/sweep_samples.h"

namespace penstock::gui {
namespace {

using ::testing::HasSubstr;
using testing::SweepText;

SweepFault FaultOf(const std::string& text) {
  const auto sweep = ParseSweep(text);
  EXPECT_FALSE(sweep) << text.substr(0, 200);
  return sweep ? SweepFault::kUnreadable : sweep.error().fault;
}

std::string Replaced(std::string text, const std::string& from, const std::string& to) {
  const std::size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return at == std::string::npos ? text : text.replace(at, from.size(), to);
}

class SweepFiles : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = std::filesystem::path(::testing::TempDir()) /
              ::testing::UnitTest::GetInstance()->current_test_info()->name();
    std::filesystem::create_directories(folder_);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }
  std::filesystem::path Make(const std::string& name, const std::string& text) {
    std::ofstream(folder_ / name, std::ios::binary) << text;
    return folder_ / name;
  }
  std::filesystem::path folder_;
};

TEST(SweepTest, ReadsWhatASweepWrites) {
  const auto sweep = ParseSweep(SweepText());
  ASSERT_TRUE(sweep);
  EXPECT_EQ(sweep->mode, "command");
  EXPECT_EQ(sweep->repeats, 3);
  EXPECT_EQ(sweep->cores, 8);
  ASSERT_EQ(sweep->axes.size(), 3U);
  EXPECT_EQ(sweep->axes[1].name, "prefetch");
  ASSERT_EQ(sweep->cells.size(), 9U);
  EXPECT_EQ(sweep->measured(), 7U);
  ASSERT_TRUE(sweep->best);
  const SweepCell& best = sweep->cells[*sweep->best];
  EXPECT_EQ(best.name, "workers:4/prefetch:4/batch:64");
  EXPECT_DOUBLE_EQ(best.rate->median, 420);
  EXPECT_DOUBLE_EQ(best.rate->least, 400);
  EXPECT_EQ(best.bottleneck, "decode");
  ASSERT_EQ(best.traces.size(), 3U);
  EXPECT_EQ(sweep->cells[*sweep->suggested].name, "workers:2/prefetch:4/batch:64");
  EXPECT_EQ(sweep->cells.back().state, SweepState::kPending);
}

TEST(SweepTest, EveryFaultIsToldApart) {
  const std::string whole = SweepText();
  EXPECT_EQ(FaultOf(""), SweepFault::kEmpty);
  EXPECT_EQ(FaultOf(" \n\t"), SweepFault::kEmpty);
  EXPECT_EQ(FaultOf(whole.substr(0, whole.size() / 2)), SweepFault::kNotJson);
  EXPECT_EQ(FaultOf("[1, 2]"), SweepFault::kForeign);
  EXPECT_EQ(FaultOf("{}"), SweepFault::kForeign);
  EXPECT_EQ(FaultOf(R"({"schema": "penstock.report/1"})"), SweepFault::kForeign);
  EXPECT_EQ(FaultOf(R"({"traceEvents": []})"), SweepFault::kForeign);
  EXPECT_EQ(FaultOf(Replaced(whole, "sweep/1", "sweep/2")), SweepFault::kNewer);
  EXPECT_EQ(FaultOf(Replaced(whole, "sweep/1", "sweep/1x")), SweepFault::kForeign);
  EXPECT_EQ(FaultOf(R"({"schema": "penstock.sweep/1", "axes": []})"), SweepFault::kDamaged);
  EXPECT_EQ(FaultOf(R"({"schema": "penstock.sweep/1", "axes": [], "cells": []})"),
            SweepFault::kNoCells);
  EXPECT_EQ(FaultOf(Replaced(whole, R"("values": ["0", "2", "4"])", R"("values": ["0", "2"])")),
            SweepFault::kDamaged);
  EXPECT_EQ(FaultOf(Replaced(whole, R"("median": 420)", R"("median": "fast")")),
            SweepFault::kDamaged);
}

TEST(SweepTest, TruncatedAnywhereIsRefused) {
  const std::string whole = SweepText();
  const std::size_t last = whole.find_last_of('}');
  for (std::size_t length = 0; length <= last; ++length) {
    EXPECT_FALSE(ParseSweep(std::string_view(whole).substr(0, length))) << length;
  }
}

TEST(SweepTest, FlippedBitsAreReadOrRefused) {
  const std::string whole = SweepText();
  std::mt19937 random(7);
  for (int i = 0; i < 3'000; ++i) {
    std::string text = whole;
    for (int k = 0; k < 3; ++k) {
      text[random() % text.size()] ^= static_cast<char>(1U << (random() % 8));
    }
    const auto sweep = ParseSweep(text);
    if (!sweep) continue;
    for (const SweepCell& cell : sweep->cells) EXPECT_EQ(cell.values.size(), sweep->axes.size());
  }
}

TEST(SweepTest, AGridBeyondAllMeasureIsRefused) {
  std::string axes;
  for (int a = 0; a < 8; ++a) {
    axes += std::string(a == 0 ? "" : ", ") + R"({"name": "a)" + std::to_string(a) +
            R"(", "values": [)";
    for (int v = 0; v < 50; ++v) axes += (v == 0 ? "\"" : ", \"") + std::to_string(v) + "\"";
    axes += "]}";
  }
  EXPECT_EQ(FaultOf(R"({"schema": "penstock.sweep/1", "axes": [)" + axes + R"(], "cells": []})"),
            SweepFault::kTooLarge);
}

TEST(SweepTest, AFigureThatIsNoNumberIsNotKnown) {
  const auto sweep =
      ParseSweep(Replaced(SweepText(), R"("first_batch_s": 0.5)", R"("first_batch_s": -3)"));
  ASSERT_TRUE(sweep);
  EXPECT_FALSE(sweep->cells[0].first_batch);
}

TEST(SweepTest, EveryProblemIsOneLineInBothLanguages) {
  for (int fault = 0; fault <= static_cast<int>(SweepFault::kNoCells); ++fault) {
    const SweepProblem problem{static_cast<SweepFault>(fault), "what\nit is"};
    const std::string english = ProblemText(problem, "f.json", Language::kEnglish);
    const std::string chinese = ProblemText(problem, "f.json", Language::kChinese);
    EXPECT_THAT(english, HasSubstr("f.json"));
    EXPECT_EQ(english.find('\n'), std::string::npos);
    EXPECT_NE(english, chinese);
  }
  EXPECT_THAT(ProblemText({SweepFault::kNewer, "penstock.sweep/9"}, "f", Language::kEnglish),
              HasSubstr("penstock.sweep/9"));
}

TEST_F(SweepFiles, RelativeTracesLieBesideTheSweep) {
  const auto path =
      Make("s.json", Replaced(SweepText(), "/runs/run-0021.penstock", "r/a.penstock"));
  const auto sweep = ReadSweep(path);
  ASSERT_TRUE(sweep);
  EXPECT_EQ(sweep->cells[*sweep->best].traces[0], folder_ / "r/a.penstock");
  EXPECT_EQ(sweep->path, path);
}

TEST_F(SweepFiles, WhatIsNoFileIsSaid) {
  const auto missing = ReadSweep(folder_ / "none.json");
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().fault, SweepFault::kUnreadable);
  EXPECT_FALSE(ReadSweep(folder_));
}

TEST_F(SweepFiles, KindIsToldByContentThenByName) {
  EXPECT_EQ(KindOf(Make("a.txt", "  {\"schema\": 1}")), FileKind::kJson);
  EXPECT_EQ(KindOf(Make("b.json", "PENSTPAK....")), FileKind::kTrace);
  EXPECT_EQ(KindOf(Make("c.json", "")), FileKind::kJson);
  EXPECT_EQ(KindOf(Make("d.penstock", "")), FileKind::kTrace);
  EXPECT_EQ(KindOf(folder_ / "none.json"), FileKind::kJson);
  EXPECT_EQ(KindOf(folder_), FileKind::kTrace);
  EXPECT_EQ(KindOf(Make("e.json", "{\"schemaVersion\": 1, \"traceEvents\": []}")),
            FileKind::kForeign);
  EXPECT_EQ(KindOf(Make("f.json", "[{\"ph\": \"X\"}]")), FileKind::kForeign);
  EXPECT_EQ(KindOf(Make("g.json", "{\"schema\": \"penstock.sweep/1\"}")), FileKind::kJson);
  EXPECT_EQ(KindOf(Make("h.sqlite", "SQLite format 3")), FileKind::kForeign);
  EXPECT_EQ(KindOf(Make("i.json.gz", "\x1f\x8b")), FileKind::kForeign);
  EXPECT_EQ(KindOf(Make("j.nsys-rep", "??")), FileKind::kForeign);
}

}  // namespace
}  // namespace penstock::gui
