// SPDX-License-Identifier: Apache-2.0
#include "gui/model/panels/functions.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <sstream>

#include "tests/analyzer/finds.h"
#include "tests/gui/functions_support.h"
#include "tests/gui/panels_support.h"

namespace penstock::gui {
namespace {

// Lines 46 to 56 of a file.
std::optional<std::string> DatasetLine(const std::string& file, std::uint32_t line) {
  constexpr std::uint32_t kFirst = 46;
  static const std::vector<std::string> lines = {"    # Slow on purpose.",
                                                 "    def make_edges(gray,",
                                                 "                   low=20",
                                                 "    ):",
                                                 "\t\tpass",
                                                 "",
                                                 "        edges = deepcopy(gray)  # \xc3\xa9",
                                                 "        return edges",
                                                 "",
                                                 "    # The next one.",
                                                 "    def other(self):"};
  if (file != "/home/a/dataset.py" || line < kFirst || line - kFirst >= lines.size()) {
    return std::nullopt;
  }
  return lines[line - kFirst];
}

class FunctionsPanelTest : public ::testing::Test {
 protected:
  explicit FunctionsPanelTest(int slow = 0)
      : trace(traces::MakeTrace(testing::RunWithFunctions("/home/a/dataset.py", slow))),
        model(BuildFunctions(*trace, analyzer::BuildReport(*trace, "t"), DatasetLine)) {}

  const UnitProfile& sample() const { return model.profiles.at(0); }
  std::size_t FrameOf(const std::string& name) const {
    for (std::size_t i = 0; i < sample().frames.size(); ++i) {
      if (sample().frames[i].id.name == name) return i;
    }
    ADD_FAILURE() << name;
    return 0;
  }

  std::unique_ptr<traces::Trace> trace;
  FunctionsModel model;
};

TEST_F(FunctionsPanelTest, TheFindingTellsALineAsItsSourceDoes) {
  const analyzer::Report report = analyzer::BuildReport(*trace, "t");
  const auto finding = std::find_if(report.findings.begin(), report.findings.end(),
                                    [](const auto& one) { return one.id == "hot-python-loop"; });
  ASSERT_NE(finding, report.findings.end());
  double shown = 0;
  for (const FunctionLine& function : sample().lines) {
    for (const SourceLine& line : function.source) {
      if (line.number == 52) shown = line.share * sample().of_stage;
    }
  }
  EXPECT_NEAR(analyzer::testing::Evidence(*finding, "loop_share_with_calls"), shown, 1e-6);
  EXPECT_NE(English(finding->seen).find("with the library functions that it calls"),
            std::string::npos)
      << English(finding->seen);
}

TEST_F(FunctionsPanelTest, AFrameIsAsWideAsItsShareAndLiesInItsCaller) {
  ASSERT_EQ(model.profiles.size(), 1U);
  EXPECT_EQ(model.missing, NoFunctions::kNone);
  const FlameFrame& edges = sample().frames[FrameOf("make_edges")];
  EXPECT_NEAR(edges.width, 0.6, 1e-9);
  EXPECT_NEAR(edges.own, 0.4, 1e-9);
  EXPECT_EQ(edges.depth, 1U);
  for (std::size_t i = 0; i < sample().frames.size(); ++i) {
    const FlameFrame& frame = sample().frames[i];
    const FlameFrame& above = sample().frames[frame.parent];
    EXPECT_LE(frame.parent, i);
    EXPECT_GE(frame.left, above.left - 1e-9);
    EXPECT_LE(frame.left + frame.width, above.left + above.width + 1e-9);
  }
}

// The followed samples take 10 ms; all that were recorded take 10 or 4 ms. In the second case the
// shares of the followed ones say nothing about the run.
TEST_F(FunctionsPanelTest, FollowedSamplesThatTookMuchLongerAreToldApart) {
  EXPECT_NEAR(sample().mean_time, 10e-3, 1e-4);
  EXPECT_FALSE(sample().unusual);
  const auto other = traces::MakeTrace(testing::RunWithFunctions("/home/a/dataset.py", 0, 3));
  const analyzer::Report report = analyzer::BuildReport(*other, "t");
  const FunctionsModel unusual = BuildFunctions(*other, report, DatasetLine);
  EXPECT_NEAR(unusual.profiles.at(0).mean_time, 4e-3, 1e-4);
  EXPECT_TRUE(unusual.profiles.at(0).unusual);
  EXPECT_EQ(UnitNoteOf(sample(), Language::kEnglish).text,
            "10.0 ms in 16 of 800 samples, followed call by call  ·  mean of all: 10.0 ms  ·  "
            "99 % of the time spent making batches");
  const UnitNote note = UnitNoteOf(unusual.profiles.at(0), Language::kEnglish);
  EXPECT_TRUE(note.warns);
  EXPECT_NE(note.text.find("slower than usual: the mean of all is 4.00 ms; shares are of these "
                           "alone  ·  all samples: decode 7"),
            std::string::npos)
      << note.text;
  // They were of all workers' time: make_edges of 6 in 10 ms took less than 60 %.
  EXPECT_LT(unusual.profiles.at(0).of_stage, 0.99);
  EXPECT_EQ(unusual.profiles.at(0).scale(), 1);
  EXPECT_EQ(sample().scale(), sample().of_stage);
  for (const analyzer::Finding& finding : report.findings) {
    EXPECT_FALSE(FunctionOf(finding)) << finding.id;
  }
  const std::string text = analyzer::ReportText(report, analyzer::Colour::kOff);
  EXPECT_NE(
      text.find("    slower than usual: 10.0 ms, mean of all 4.00 ms; shares of these alone\n"),
      std::string::npos)
      << text;
  EXPECT_NE(text.find("60 %"), std::string::npos) << text;
}

// The number was 32 of 32: the units with lines do not tell how long a unit takes.
TEST_F(FunctionsPanelTest, ANumberOfUnitsThatIsNotKnownIsNotMadeUp) {
  UnitProfile profile = sample();
  profile.all = 0;
  EXPECT_TRUE(UnitNoteOf(profile, Language::kEnglish).text.starts_with("10.0 ms in 16 samples,"));
  profile.lined = profile.units;
  EXPECT_TRUE(UnitNoteOf(profile, Language::kEnglish).text.starts_with("10.0 ms in 32 samples,"));
}

TEST_F(FunctionsPanelTest, TitlesNamePlaceAndFunction) {
  EXPECT_EQ(TitleOf(sample().frames[FrameOf("make_edges")].id), "dataset.py:47 make_edges");
  EXPECT_EQ(TitleOf(sample().frames[FrameOf("cv2.imdecode")].id), "cv2.imdecode");
  EXPECT_EQ(TitleOf({"/a/b.py", 3, "run.<locals>.<lambda>"}), "b.py:3 run.<lambda>");
}

TEST_F(FunctionsPanelTest, KindsAreToldApart) {
  const auto kind = [this](const char* name) {
    return KindOfFunction(sample().frames[FrameOf(name)].id);
  };
  EXPECT_EQ(kind("make_edges"), FunctionKind::kProgram);
  EXPECT_EQ(kind("deepcopy"), FunctionKind::kLibrary);
  EXPECT_EQ(kind("cv2.imdecode"), FunctionKind::kCompiled);
}

TEST_F(FunctionsPanelTest, APathLeadsBackToItsFrame) {
  for (std::size_t i = 0; i < sample().frames.size(); ++i) {
    EXPECT_EQ(FrameAt(sample(), FramePathOf(sample(), i)), i);
  }
  EXPECT_EQ(FrameAt(sample(), {}), std::nullopt);
  FramePath other = FramePathOf(sample(), FrameOf("make_edges"));
  other.back().line = 1;
  EXPECT_EQ(FrameAt(sample(), other), std::nullopt);
}

TEST_F(FunctionsPanelTest, AZoomedFrameIsAsWideAsTheWindow) {
  const std::size_t edges = FrameOf("make_edges");
  const auto rects = FlameRects(sample(), edges);
  ASSERT_EQ(rects.size(), 3U);  // __getitem__ above, deepcopy below
  EXPECT_TRUE(rects[0].above);
  EXPECT_EQ(rects[1].frame, edges);
  EXPECT_NEAR(rects[1].left, 0, 1e-9);
  EXPECT_NEAR(rects[1].width, 1, 1e-9);
  EXPECT_NEAR(rects[2].width, 1.0 / 3, 1e-9);
  EXPECT_FALSE(rects[2].above);
  EXPECT_EQ(FlameRects(sample(), std::nullopt).size(), sample().frames.size());
}

TEST_F(FunctionsPanelTest, ArrowsLeadToCallerCalleeAndNeighbour) {
  const std::size_t item = FrameOf("Photos.__getitem__");
  const std::size_t edges = FrameOf("make_edges");
  const std::size_t decode = FrameOf("cv2.imdecode");
  EXPECT_EQ(NextFrame(sample(), item, FlameWay::kDown), edges) << "the widest";
  EXPECT_EQ(NextFrame(sample(), edges, FlameWay::kRight), decode);
  EXPECT_EQ(NextFrame(sample(), decode, FlameWay::kLeft), edges);
  EXPECT_EQ(NextFrame(sample(), decode, FlameWay::kUp), item);
  for (const FlameWay way : {FlameWay::kUp, FlameWay::kLeft, FlameWay::kRight}) {
    EXPECT_EQ(NextFrame(sample(), item, way), std::nullopt);
  }
  EXPECT_EQ(NextFrame(sample(), decode, FlameWay::kDown), std::nullopt);
}

TEST_F(FunctionsPanelTest, ASourceGoesFromTheFirstLineToTheLast) {
  const FunctionLine* edges = sample().Find({"/home/a/dataset.py", 47, "make_edges"});
  ASSERT_NE(edges, nullptr);
  EXPECT_TRUE(edges->readable());
  ASSERT_FALSE(edges->source.empty());
  EXPECT_EQ(edges->source.front().number, 47U);
  EXPECT_EQ(edges->source.front().text, "def make_edges(gray,");
  EXPECT_EQ(edges->source.back().text, "    return edges");
  EXPECT_EQ(edges->source[3].text, "    pass") << "a tab is as wide as four spaces";
}

TEST_F(FunctionsPanelTest, ALineHasItsTimeBesideItsText) {
  const FunctionLine* edges = sample().Find({"/home/a/dataset.py", 47, "make_edges"});
  ASSERT_NE(edges, nullptr);
  EXPECT_TRUE(edges->lined);
  for (const SourceLine& line : edges->source) {
    EXPECT_NEAR(line.share, line.number == 52 ? 0.5 : 0, 1e-9) << line.number;
    EXPECT_NEAR(line.count, line.number == 52 ? 4096 : 0, 1e-9) << line.number;
  }
  EXPECT_NE(LinesNoteOf(sample(), *edges, Language::kEnglish).find("line by line (16 of 32)"),
            std::string::npos);
}

TEST_F(FunctionsPanelTest, LinesOfACutUnitAreNotSaidToBeOfWholeOnes) {
  analyzer::Report report = analyzer::BuildReport(*trace, "t");
  for (auto& function : report.diagnosis.functions.at(0).functions) function.of_cut = true;
  const FunctionsModel cut = BuildFunctions(*trace, report, DatasetLine);
  const FunctionLine* edges = cut.profiles.at(0).Find({"/home/a/dataset.py", 47, "make_edges"});
  ASSERT_NE(edges, nullptr);
  EXPECT_EQ(LinesNoteOf(cut.profiles.at(0), *edges, Language::kEnglish), "");
}

TEST_F(FunctionsPanelTest, WithoutTheFileTheLinesStandAlone) {
  const auto nothing = [](const std::string&, std::uint32_t) { return std::nullopt; };
  const FunctionsModel blind = BuildFunctions(*trace, analyzer::BuildReport(*trace, "t"), nothing);
  const FunctionLine* edges = blind.profiles.at(0).Find({"/home/a/dataset.py", 47, "make_edges"});
  ASSERT_NE(edges, nullptr);
  EXPECT_FALSE(edges->readable());
  ASSERT_EQ(edges->source.size(), 1U);
  EXPECT_EQ(edges->source[0].number, 52U);
  EXPECT_NEAR(edges->source[0].share, 0.5, 1e-9);
}

TEST_F(FunctionsPanelTest, FontsAreToldOfUnusualCharacters) {
  EXPECT_NE(model.unusual_text.find("\xc3\xa9"), std::string::npos);
}

TEST(FunctionOfTest, AFindingNamesItsFunction) {
  analyzer::Finding finding;
  EXPECT_EQ(FunctionOf(finding), std::nullopt);
  finding.evidence = {{"function", std::string("f")},
                      {"file", std::string("/a.py")},
                      {"first_line", 7.0},
                      {"line", 9.0}};
  EXPECT_EQ(FunctionOf(finding), (FunctionId{"/a.py", 7, "f"}));
}

class SlowFunctionsTest : public FunctionsPanelTest {
 protected:
  SlowFunctionsTest() : FunctionsPanelTest(4) {}
};

TEST_F(SlowFunctionsTest, SlowSamplesSayWhatTheyDoMore) {
  const analyzer::SlowUnits& slow = sample().slow;
  EXPECT_EQ(slow.units, 4U);
  ASSERT_EQ(slow.functions.size(), 1U);
  EXPECT_EQ(slow.functions[0].name, "make_edges");
  EXPECT_NEAR(slow.functions[0].slow - slow.functions[0].others, 0.010, 1e-6);
}

TEST_F(SlowFunctionsTest, SlowSamplesHaveAFlameGraphOfTheirOwn) {
  ASSERT_EQ(sample().slow_profile.size(), 1U);
  const UnitProfile& slow = sample().slow_profile.front();
  EXPECT_EQ(slow.units, 4U);
  EXPECT_NEAR(slow.unit_time, sample().slow.slow_time, 1e-9);
  const auto share = [](const UnitProfile& profile) {
    const auto frame = WidestFrame(profile, {"/home/a/dataset.py", 47, "make_edges"});
    return frame ? profile.frames[*frame].width : 0;
  };
  EXPECT_GT(share(slow), share(sample()) + 0.05);
}

TEST_F(FunctionsPanelTest, WithoutSlowSamplesThereIsNoneOfThem) {
  EXPECT_TRUE(sample().slow_profile.empty());
}

// The text of a file with one function, and the numbers of the function's first and last line.
struct SourceCase {
  std::string text;
  std::uint32_t first;
  std::uint32_t last;
};

std::uint32_t LastLineOf(const SourceCase& source) {
  traces::TraceData data = testing::RunWithFunctions();
  for (traces::CallRow& call : data.call_rows) {
    if (call.line == 47) call.line = source.first;
    // Line 52, which took time, becomes the first line too.
    if (call.line == 52) call.line = source.first;
  }
  const auto trace = traces::MakeTrace(std::move(data));
  const auto read = [&](const std::string&, std::uint32_t line) -> std::optional<std::string> {
    std::istringstream in(source.text);
    std::string text;
    for (std::uint32_t i = 0; i < line; ++i) {
      if (!std::getline(in, text)) return std::nullopt;
    }
    return text;
  };
  const FunctionsModel model = BuildFunctions(*trace, analyzer::BuildReport(*trace, "t"), read);
  const FunctionLine* edges =
      model.profiles.at(0).Find({"/home/a/dataset.py", source.first, "make_edges"});
  return edges == nullptr || edges->source.empty() ? 0 : edges->source.back().number;
}

TEST(FunctionSourceTest, EndsWhereTheFunctionDoes) {
  const std::vector<SourceCase> cases = {
      {"def f(x):\n  return x\n\n\nnext = 1\n", 1, 2},
      {"def f(x):\n  return x\n", 1, 2},
      {"class A:\n  @once\n  def f(x):\n    y = 1\n\n    return y\n  def g(): pass\n", 2, 6},
      {"def f(\n    x,\n):\n  return x\nnext = 1\n", 1, 4},
      {"def f(x):\n  y = 1\n# y = 2\n  return y\n# next\nnext = 1\n", 1, 4},
      {"async def f(x):\n\treturn x\nnext = 1\n", 1, 2},
      {"key = lambda x: x\nnext = 1\n", 1, 1},
      {"rows = [\n    f(x)\n    for x in y\n]\n", 1, 3},
      {"@cached(\n    size=1,\n)\ndef f(x):\n  return x\nnext = 1\n", 1, 5},
  };
  for (const SourceCase& one : cases) EXPECT_EQ(LastLineOf(one), one.last) << one.text;
}

TEST(NoFunctionsTest, StepsAloneAreToldFromSamples) {
  traces::TraceData data = testing::RunWithFunctions();
  const auto nothing = [](const std::string&, std::uint32_t) { return std::nullopt; };
  const auto model_of = [&](traces::TraceData of) {
    const auto trace = traces::MakeTrace(std::move(of));
    return BuildFunctions(*trace, analyzer::BuildReport(*trace, "t"), nothing);
  };
  EXPECT_FALSE(model_of(data).without_samples);
  for (traces::UnitRow& unit : data.unit_rows) unit.stage = traces::StageId::kStep;
  const FunctionsModel steps = model_of(std::move(data));
  ASSERT_FALSE(steps.profiles.empty());
  EXPECT_TRUE(steps.without_samples);
  EXPECT_NE(TextOf(Text::kNoSampleFollowed, Language::kEnglish).find("record longer"),
            std::string_view::npos);
  // Most of a step may be a wait for the device, or a sleep.
  EXPECT_EQ(TextOf(Text::kUnitStep, Language::kEnglish).find("CPU"), std::string_view::npos);
  analyzer::FunctionProfile step;
  step.stage = traces::StageId::kStep;
  EXPECT_EQ(English(NameOf(step)), "in a step, Python side") << "the report says the same";
}

TEST(NoFunctionsTest, TheReasonIsToldByTheRecording) {
  const auto reason = [](const char* fact) {
    traces::TraceData data = analyzer::testing::MakeSynthetic({});
    if (*fact != '\0') data.processes.back().facts["functions.off"] = fact;
    const auto trace = traces::MakeTrace(std::move(data));
    const auto nothing = [](const std::string&, std::uint32_t) { return std::nullopt; };
    return BuildFunctions(*trace, analyzer::BuildReport(*trace, "t"), nothing).missing;
  };
  EXPECT_EQ(reason(""), NoFunctions::kUnfollowed) << "its loader is PyTorch's";
  EXPECT_EQ(reason("switched off"), NoFunctions::kSwitchedOff);
  EXPECT_EQ(reason("this Python"), NoFunctions::kPython);
  EXPECT_EQ(reason("a debug or free-threaded build"), NoFunctions::kPython);
  EXPECT_EQ(reason("a profiler of the program"), NoFunctions::kOtherTool);
}

TEST(NoFunctionsTest, AnImportedTraceIsNotSaidToHaveNoLoader) {
  traces::TraceData data = analyzer::testing::MakeSynthetic({});
  data.facts["record.mode"] = "imported";
  const auto trace = traces::MakeTrace(std::move(data));
  const auto nothing = [](const std::string&, std::uint32_t) { return std::nullopt; };
  EXPECT_EQ(BuildFunctions(*trace, analyzer::BuildReport(*trace, "t"), nothing).missing,
            NoFunctions::kImported);
}

TEST(NoFunctionsTest, OnlyAShortRunIsTooShort) {
  const auto reason = [](int batches, const char* kind = "pytorch") {
    analyzer::testing::Synthetic run;
    run.batches = batches;
    run.costs = analyzer::testing::Always({.step = 100});
    traces::TraceData data = MakeSynthetic(run);
    data.processes.front().facts["version.python"] = "3.11.2";
    data.processes.front().facts["loader.0.kind"] = kind;
    const auto trace = traces::MakeTrace(std::move(data));
    const auto nothing = [](const std::string&, std::uint32_t) { return std::nullopt; };
    return BuildFunctions(*trace, analyzer::BuildReport(*trace, "t"), nothing).missing;
  };
  EXPECT_EQ(reason(50), NoFunctions::kShort);
  EXPECT_EQ(reason(400), NoFunctions::kTooManyCalls);
  EXPECT_EQ(reason(400, "other"), NoFunctions::kNoLoader) << "only PyTorch's are followed";
}

TEST_F(FunctionsPanelTest, TheFunctionsThatTakeMostAreThoseWhoseLinesAreFollowed) {
  const std::vector<FunctionLine>& lines = sample().lines;
  ASSERT_FALSE(lines.empty());
  for (std::size_t i = 0; i < lines.size(); ++i) EXPECT_EQ(lines[i].takes_most, i < 3);
}

}  // namespace
}  // namespace penstock::gui
