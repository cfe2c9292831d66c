// SPDX-License-Identifier: Apache-2.0
//
// What the view says about the followed units, and the frames of their flame graph.
#include <gtest/gtest.h>

#include <fstream>
#include <memory>
#include <optional>
#include <string>

#include "gui/model/panels/functions.h"
#include "tests/gui/functions_support.h"
#include "tests/gui/panels_support.h"

namespace penstock::gui {
namespace {

const analyzer::LineReader kNoSource = [](const std::string&, std::uint32_t) {
  return std::nullopt;
};

class FunctionNotesTest : public ::testing::Test {
 protected:
  FunctionNotesTest()
      : trace(traces::MakeTrace(testing::RunWithFunctions())),
        report(analyzer::BuildReport(*trace, "t")) {}

  [[nodiscard]] UnitProfile Sample() const {
    return BuildFunctions(*trace, report, kNoSource).profiles.at(0);
  }

  std::unique_ptr<traces::Trace> trace;
  analyzer::Report report;
};

// A gap of 36 % below the function that decodes had no name.
TEST_F(FunctionNotesTest, TheTimeOutsideOfCallsHasItsPlaceInTheFlameGraph) {
  const UnitProfile sample = Sample();
  const auto edges = WidestFrame(sample, {"/home/a/dataset.py", 47, "make_edges"});
  ASSERT_TRUE(edges);
  const auto own = OwnRects(sample, std::nullopt);
  ASSERT_EQ(own.size(), 2U);  // of __getitem__ and of make_edges, which call others
  EXPECT_EQ(own[1].frame, *edges);
  EXPECT_NEAR(own[1].width, 0.4, 1e-9);
  EXPECT_NEAR(own[1].left + own[1].width, sample.frames[*edges].left + 0.6, 1e-9);
  const auto zoomed = OwnRects(sample, edges);
  ASSERT_EQ(zoomed.size(), 1U);
  EXPECT_NEAR(zoomed[0].left, 1.0 / 3, 1e-9);
  EXPECT_NEAR(zoomed[0].width, 2.0 / 3, 1e-9);
}

// read_pil took 63 % of six followed samples, decoding 22 % of all: the rest of its time waited for
// a core, and the followed ones were few.
TEST_F(FunctionNotesTest, FewUnitsStandBesideTheWholeRunAndTellOfWaitingForACore) {
  const auto note = [](const UnitProfile& profile) {
    return UnitNoteOf(profile, Language::kEnglish).text;
  };
  EXPECT_EQ(note(Sample()).find("waiting for a core"), std::string::npos);
  EXPECT_EQ(note(Sample()).find("all samples:"), std::string::npos);
  report.diagnosis.loader->cpu.core_wait = 0.78;
  UnitProfile sample = Sample();
  EXPECT_NE(note(sample).find("times include waiting for a core: 78 % of the time of all batches"),
            std::string::npos)
      << note(sample);
  sample.units = 6;
  sample.lined = 0;
  const std::size_t all = note(sample).find("all samples: augment 6");
  ASSERT_NE(all, std::string::npos) << note(sample);
  EXPECT_NE(note(sample).find(", decode ", all), std::string::npos) << note(sample);
}

// Both reasons stood in one sentence, and a changed file was not shown.
TEST_F(FunctionNotesTest, AChangedFileIsShownAndAMissingOneIsNot) {
  const auto edges_in = [](const std::string& file, double started) {
    const auto other = traces::MakeTrace(testing::RunWithFunctions(file));
    analyzer::Report with = analyzer::BuildReport(*other, "t");
    with.started = started;
    const FunctionsModel model = BuildFunctions(*other, with, kNoSource);
    const FunctionLine* edges = model.profiles.at(0).Find({file, 47, "make_edges"});
    EXPECT_NE(edges, nullptr) << file;
    return edges == nullptr ? FunctionLine{} : *edges;
  };
  const std::string file = ::testing::TempDir() + "/penstock_changed.py";
  {
    std::ofstream out(file);
    for (int line = 1; line <= 60; ++line) out << "    line_" << line << "()\n";
  }
  const FunctionLine changed = edges_in(file, 1);
  EXPECT_EQ(changed.state, SourceState::kChanged);
  ASSERT_FALSE(changed.source.empty());
  EXPECT_EQ(changed.source.front().text, "line_47()");
  EXPECT_EQ(SourceNoteOf(changed, Language::kEnglish),
            "The file was changed after the run began: lines may have moved.");
  EXPECT_EQ(edges_in(file, 0).state, SourceState::kUndated);
  EXPECT_EQ(edges_in("/proc/self", 1).state, SourceState::kUnreadable);
  const FunctionLine missing = edges_in("/home/a/no/such/file.py", 1);
  EXPECT_EQ(missing.state, SourceState::kMissing);
  EXPECT_NE(SourceNoteOf(missing, Language::kChinese).find("无法显示源代码"), std::string::npos);
}

TEST_F(FunctionNotesTest, LinesThatWereNotFollowedYetSayWhatTheyNeed) {
  UnitProfile sample = Sample();
  FunctionLine edges = *sample.Find({"/home/a/dataset.py", 47, "make_edges"});
  EXPECT_EQ(UnlinedNoteOf(sample, edges, Language::kEnglish), "");
  edges.lined = false;
  EXPECT_NE(UnlinedNoteOf(sample, edges, Language::kEnglish).find("not known in time"),
            std::string::npos);
  sample.lined = 0;
  EXPECT_NE(UnlinedNoteOf(sample, edges, Language::kEnglish).find("from the second one on"),
            std::string::npos);
}

}  // namespace
}  // namespace penstock::gui
