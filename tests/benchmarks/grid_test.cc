// SPDX-License-Identifier: Apache-2.0
#include "benchmarks/sweep/grid.h"

#include <gtest/gtest.h>

#include <regex>

#include "benchmarks/sweep/ablation.h"
#include "benchmarks/sweep/options.h"
#include "benchmarks/sweep/process.h"
#include "benchmarks/sweep/runner.h"

namespace penstock::sweep {
namespace {

using Words = std::vector<std::string>;

Words ValuesOf(const std::string& name, const std::string& text) {
  const Result<Axis> axis = ParseAxis(name, text);
  return axis ? axis->values : Words{"error: " + axis.error().message};
}

TEST(ParseAxisTest, ReadsListsAndRanges) {
  EXPECT_EQ(ValuesOf("workers", "0,1,2,4"), (Words{"0", "1", "2", "4"}));
  EXPECT_EQ(ValuesOf("workers", "1..4,8"), (Words{"1", "2", "3", "4", "8"}));
  EXPECT_EQ(ValuesOf("io", "buffered,uring"), (Words{"buffered", "uring"}));
}

TEST(ParseAxisTest, RefusesWhatIsNoNumber) {
  for (const char* text : {"", "1,", "x", "-1", "1.5", "4..1", "1..", "..", "9999999", "1 ,2"}) {
    const Result<Axis> axis = ParseAxis("workers", text);
    ASSERT_FALSE(axis) << text;
    EXPECT_EQ(axis.error().kind, ErrorKind::kUsage);
    EXPECT_NE(axis.error().message.find("--workers"), std::string::npos);
  }
  EXPECT_FALSE(ParseAxis("batch", "0"));
  EXPECT_FALSE(ParseAxis("prefetch", "0..2"));
}

TEST(ParseAxisTest, RefusesAValueThatIsThereTwice) {
  const Result<Axis> axis = ParseAxis("workers", "1..3,2");
  ASSERT_FALSE(axis);
  EXPECT_EQ(axis.error().message, "--workers: 2 is there twice");
}

TEST(MakeGridTest, CombinesAllValuesLastAxisFastest) {
  const auto grid = MakeGrid({{"workers", {"1", "2"}}, {"batch", {"16", "64"}}});
  ASSERT_TRUE(grid);
  Words names;
  for (const Cell& cell : *grid) names.push_back(cell.name);
  EXPECT_EQ(names, (Words{"workers:1/batch:16", "workers:1/batch:64", "workers:2/batch:16",
                          "workers:2/batch:64"}));
}

TEST(MakeGridTest, MeasuresNoWorkersOnceForAllPrefetches) {
  const auto grid = MakeGrid({{"workers", {"0", "2"}}, {"prefetch", {"1", "2", "4"}}});
  ASSERT_TRUE(grid);
  ASSERT_EQ(grid->size(), 4u);
  EXPECT_EQ((*grid)[0].values, (Words{"0", "-"}));
  EXPECT_EQ((*grid)[3].values, (Words{"2", "4"}));
  EXPECT_EQ(Describe({{"workers", {"0"}}, {"prefetch", {"1"}}}, (*grid)[0]), "workers 0");
}

TEST(MakeGridTest, RefusesWhatNobodyWaitsFor) {
  Axis workers{"workers", {}};
  Axis batch{"batch", {}};
  for (int i = 0; i < 200; ++i) {
    workers.values.push_back(std::to_string(i));
    batch.values.push_back(std::to_string(i));
  }
  const auto grid = MakeGrid({workers, batch});
  ASSERT_FALSE(grid);
  EXPECT_EQ(grid.error().kind, ErrorKind::kUsage);
}

TEST(OptionsTest, ReadsALoaderSweep) {
  const auto options = ParseOptions({"DATA", "--workers", "1,2", "--ops", "flip,normalize", "--ops",
                                     "center_crop=224", "--set", "batches=100", "--set", "exif",
                                     "--axis", "read-ahead=1,4", "--benchmark_filter=x"});
  ASSERT_TRUE(options) << options.error().message;
  EXPECT_EQ(options->source, "DATA");
  ASSERT_EQ(options->axes.size(), 3u);
  EXPECT_EQ(options->axes[1].name, "ops");
  EXPECT_EQ(options->axes[1].values, (Words{"flip,normalize", "center_crop=224"}));
  EXPECT_EQ(options->axes[2].name, "read-ahead");
  EXPECT_EQ(options->fixed, (Words{"--batches", "100", "--exif"}));
  EXPECT_EQ(options->benchmark_flags, Words{"--benchmark_filter=x"});
}

TEST(OptionsTest, ReadsACommandWithItsOwnOptions) {
  const auto options =
      ParseOptions({"--workers", "0,4", "--pin", "0,1", "--set", "persistent=1", "--pattern",
                    "rate ([0-9.]+)", "--", "python3", "train.py", "--workers", "9", "--"});
  ASSERT_TRUE(options) << options.error().message;
  EXPECT_EQ(options->command, (Words{"python3", "train.py", "--workers", "9", "--"}));
  EXPECT_EQ(options->overrides, "persistent=1");
  EXPECT_EQ(options->axes.size(), 2u);
  EXPECT_TRUE(options->pattern.has_value());
}

TEST(OptionsTest, RefusesWhatMakesNoSense) {
  const std::vector<Words> wrong = {
      {},                                                 // nothing to measure
      {"DATA"},                                           // nothing to vary
      {"--workers", "1"},                                 // no source
      {"DATA", "--workers", "1", "--", "cmd"},            // source and command
      {"--workers", "1", "--"},                           // no command
      {"--io", "mmap", "--", "cmd"},                      // not for a command
      {"--ops", "flip", "--", "cmd"},                     // not for a command
      {"DATA", "--pin", "1"},                             // only for a command
      {"DATA", "--workers", "1", "--pattern", "(x)"},     // only for a command
      {"--workers", "1", "--pattern", "x", "--", "cmd"},  // no group
      {"--workers", "1", "--pattern", "(", "--", "cmd"},  // no pattern
      {"DATA", "--ablate", "--workers", "1"},             // ablation has no axes
      {"DATA", "--workers", "1", "--set", "workers=2"},   // an axis has no fixed value
      {"DATA", "--workers", "1", "--axis", "workers=2"},  // twice
      {"DATA", "--workers", "1", "--axis", "=2"},         // no name
      {"DATA", "--workers", "1", "--repeats", "0"},       // none
      {"DATA", "--workers", "1", "--tie", "nan"},         // no number
      {"DATA", "--workers", "1", "--timeout", "nan"},     // no number
      {"DATA", "--workers", "1", "--unknown"},            // unknown
      {"DATA", "--workers", "1", "--set", "json"},        // an option of the sweep
  };
  for (const Words& words : wrong) {
    const auto options = ParseOptions(words);
    ASSERT_FALSE(options) << (words.empty() ? "" : words.back());
    EXPECT_EQ(options.error().kind, ErrorKind::kUsage);
    EXPECT_EQ(options.error().message.find('\n'), std::string::npos) << options.error().message;
  }
}

TEST(AblationTest, EveryStepIsComparedWithAnEarlierOne) {
  const std::vector<CellResult> cells = AblationCells(false);
  ASSERT_GT(cells.size(), 10u);
  EXPECT_FALSE(cells[0].against);
  for (std::size_t i = 1; i < cells.size(); ++i) {
    ASSERT_TRUE(cells[i].against) << cells[i].cell.name;
    EXPECT_LT(*cells[i].against, i);
  }
}

TEST(AblationTest, CopyIsNotFakedWithoutAGpu) {
  std::size_t unavailable = 0;
  for (const CellResult& cell : AblationCells(false)) {
    if (cell.state != CellState::kUnavailable) continue;
    ++unavailable;
    EXPECT_EQ(cell.error, "not available without a GPU");
  }
  EXPECT_EQ(unavailable, 1u);
}

TEST(FigureInTest, TakesTheLastMatch) {
  const std::regex pattern("rate: ([0-9.]+)");
  EXPECT_EQ(FigureIn("rate: 10\nx\nrate: 12.5 samples/s\n", pattern), 12.5);
  EXPECT_EQ(FigureIn("nothing\n", pattern), std::nullopt);
  EXPECT_EQ(FigureIn("rate: .\n", pattern), std::nullopt);
}

TEST(ProcessTest, KeepsOutputAndStatus) {
  const auto finished = RunProcess({"/bin/sh", "-c", "echo out; echo err >&2; exit 7"}, {}, {});
  ASSERT_TRUE(finished);
  EXPECT_EQ(finished->out, "out\n");
  EXPECT_EQ(finished->err, "err\n");
  EXPECT_EQ(EndOf(*finished), "status 7");
}

TEST(ProcessTest, ProgramThatIsNotThereIsAnError) {
  const auto finished = RunProcess({"/nonexistent/program"}, {}, {});
  ASSERT_FALSE(finished);
  EXPECT_EQ(finished.error().kind, ErrorKind::kEnvironment);
}

TEST(ProcessTest, DoesNotWaitForWhatTheProgramLeavesRunning) {
  const auto finished = RunProcess({"/bin/sh", "-c", "sleep 20 & echo done"}, {}, {});
  ASSERT_TRUE(finished);
  EXPECT_EQ(finished->out, "done\n");
  EXPECT_LT(finished->wall_s, 15);
}

TEST(ProcessTest, TimeLimitInterruptsTheWholeGroup) {
  ProcessLimits limits;
  limits.timeout_s = 0.05;
  const auto finished = RunProcess({"/bin/sh", "-c", "sleep 20; echo late"}, limits, {});
  ASSERT_TRUE(finished);
  EXPECT_TRUE(finished->timed_out);
  EXPECT_EQ(EndOf(*finished), "time was up");
  EXPECT_EQ(finished->out, "");
}

TEST(ProcessTest, LastLineSkipsBlanks) {
  EXPECT_EQ(LastLine("a\nb\n\n  \n"), "b");
  EXPECT_EQ(LastLine("only"), "only");
  EXPECT_EQ(LastLine("\n\n"), "");
}

}  // namespace
}  // namespace penstock::sweep
