// SPDX-License-Identifier: Apache-2.0
#include "benchmarks/sweep/result.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <utility>

#include <simdjson.h>

#include "benchmarks/sweep/session.h"
#include "benchmarks/sweep/table.h"

namespace penstock::sweep {
namespace {

CellResult Measured(std::vector<std::string> values, const std::vector<double>& rates) {
  CellResult cell;
  cell.cell.values = std::move(values);
  for (const std::string& value : cell.cell.values) cell.cell.name += "/" + value;
  cell.state = CellState::kMeasured;
  for (const double rate : rates) {
    Measurement run;
    run.samples_per_s = rate;
    run.wall_s = 1;
    cell.runs.push_back(run);
  }
  return cell;
}

// Returns a sweep in which four workers with prefetch 4 are the best, and two workers with prefetch
// 4 only 1 % slower.
SweepResult Sample() {
  SweepResult result;
  result.subject = {"penstock-load", "DATA"};
  result.repeats = 3;
  result.axes = {{"workers", {"1", "2", "4"}}, {"prefetch", {"1", "4"}}};
  result.cells = {Measured({"1", "1"}, {100, 90, 110}),  Measured({"1", "4"}, {100, 101, 102}),
                  Measured({"2", "1"}, {180, 185, 190}), Measured({"2", "4"}, {197, 198, 199}),
                  Measured({"4", "1"}, {196, 199, 205}), Measured({"4", "4"}, {198, 200, 202})};
  return result;
}

TEST(SpreadTest, IsMedianExtremesAndQuartiles) {
  const Spread spread = SpreadOf(Measured({"1"}, {5, 1, 3, 2, 4}).runs);
  EXPECT_DOUBLE_EQ(spread.median, 3);
  EXPECT_DOUBLE_EQ(spread.least, 1);
  EXPECT_DOUBLE_EQ(spread.most, 5);
  EXPECT_DOUBLE_EQ(spread.p25, 2);
  EXPECT_DOUBLE_EQ(spread.p75, 4);
}

TEST(ChooseTest, SuggestsTheCheapestWithinTheTie) {
  const auto choice = Choose(Sample());
  ASSERT_TRUE(choice);
  EXPECT_EQ(choice->best, 5u);
  EXPECT_EQ(choice->suggested, 3u);  // 198 with two workers, 1 % below
  EXPECT_EQ(choice->within_noise, (std::vector<bool>{false, false, false, true, true, false}));
}

TEST(ChooseTest, SmallerTieSuggestsTheBest) {
  SweepResult result = Sample();
  result.tie = 0.001;
  EXPECT_EQ(Choose(result)->suggested, 5u);
}

TEST(ChooseTest, AmongEqualWorkersTheLeastMemoryWins) {
  SweepResult result = Sample();
  result.cells[2] = Measured({"2", "1"}, {199, 199, 199});
  EXPECT_EQ(Choose(result)->suggested, 2u);
}

TEST(ChooseTest, CellsThatFailedDoNotCount) {
  SweepResult result = Sample();
  result.cells[5].state = CellState::kFailed;  // in its third run
  EXPECT_EQ(Choose(result)->best, 4u);
  for (CellResult& cell : result.cells) cell.state = CellState::kFailed;
  EXPECT_FALSE(Choose(result));
}

TEST(IncrementsTest, AreDifferencesOfTimePerSample) {
  SweepResult result;
  result.mode = "ablation";
  result.threads = 2;
  result.cells = {Measured({}, {1000}), Measured({}, {500})};
  result.cells[1].against = 0;
  const auto increments = Increments(result);
  ASSERT_TRUE(increments[1]);
  EXPECT_DOUBLE_EQ(increments[1]->seconds_per_sample, 0.004);
  EXPECT_DOUBLE_EQ(increments[1]->added.value(), 0.002);
  EXPECT_FALSE(increments[0]->added);
}

TEST(TableTest, HasALineForEachCellAndNamesTheBest) {
  SweepResult result = Sample();
  result.cells[0] = CellResult{};
  result.cells[0].cell.values = {"1", "1"};
  result.cells[1].state = CellState::kFailed;
  result.cells[1].error = "status 1";
  result.cells[1].runs.clear();
  EXPECT_EQ(RenderTable(result, {}),
            "workers  prefetch  samples/s           range  of best\n"
            "      1         1          .\n"
            "      1         4     failed                           status 1\n"
            "      2         1      185.0  180.0 to 190.0   92.5 %\n"
            "      2         4      198.0  197.0 to 199.0   99.0 %  as good, suggested\n"
            "      4         1      199.0  196.0 to 205.0   99.5 %  as good\n"
            "      4         4      200.0  198.0 to 202.0    100 %  best\n");
}

// A run of the cell reached the slowest run of the best, but its median is 9 % lower.
TEST(TableTest, RunsThatOverlapTheBestOnesAreNotCalledAsGood) {
  SweepResult result = Sample();
  result.cells[4] = Measured({"4", "1"}, {165, 199});
  const std::string table = RenderTable(result, {});
  EXPECT_NE(table.find("91.0 %  not told apart\n"), std::string::npos) << table;
}

TEST(TableTest, MatrixSetsWorkersAgainstPrefetch) {
  EXPECT_EQ(RenderMatrix(Sample(), {}),
            "workers \\ prefetch      1       4\n"
            "                 1  100.0   101.0\n"
            "                 2  185.0   198.0\n"
            "                 4  199.0  200.0*\n\n");
  SweepResult one = Sample();
  one.axes[1].values = {"4"};
  EXPECT_EQ(RenderMatrix(one, {}), "");
}

TEST(TableTest, VerdictNamesBestAndSuggestion) {
  EXPECT_EQ(RenderVerdict(Sample(), {}),
            "best: workers 4, prefetch 4: 200.0 samples/s (198.0 to 202.0)\n"
            "take: workers 2, prefetch 4: 198.0 samples/s (197.0 to 199.0)\n"
            "      the cheapest within 2 % of the best\n"
            "2 other configurations: within 2 % of the best, or not told apart from it\n");
}

TEST(TableTest, ColourIsAddedOnlyWhenAsked) {
  EXPECT_EQ(RenderTable(Sample(), {false}).find('\033'), std::string::npos);
  EXPECT_NE(RenderTable(Sample(), {true}).find("\033[1m"), std::string::npos);
}

TEST(ResultFilesTest, JsonHasTheSchemaThatIsPromised) {
  SweepResult result = Sample();
  result.cells[0] = CellResult{};
  result.cells[0].cell = {"workers:1/prefetch:1", {"1", "1"}, {}};
  result.cells[1].state = CellState::kFailed;
  result.cells[1].error = "said \"no\"";
  result.cells[2].runs[1].trace = "/runs/run-0007.penstock";
  simdjson::dom::parser parser;
  const std::string text = ToJson(result);
  const simdjson::dom::element json = parser.parse(text);
  EXPECT_EQ(json["schema"].get_string().value(), "penstock.sweep/1");
  EXPECT_EQ(json["axes"].at(1)["values"].at(1).get_string().value(), "4");
  ASSERT_EQ(json["cells"].get_array().size(), 6u);
  EXPECT_EQ(json["cells"].at(0)["state"].get_string().value(), "pending");
  EXPECT_EQ(json["cells"].at(0)["samples_per_s"].error(), simdjson::NO_SUCH_FIELD);
  EXPECT_EQ(json["cells"].at(1)["error"].get_string().value(), "said \"no\"");
  const auto best = json["cells"].at(5);
  EXPECT_DOUBLE_EQ(best["samples_per_s"]["median"].get_double().value(), 200);
  EXPECT_EQ(best["values"]["prefetch"].get_string().value(), "4");
  EXPECT_EQ(best["runs"].get_array().size(), 3u);
  EXPECT_EQ(best["traces"].error(), simdjson::NO_SUCH_FIELD);
  const auto kept = json["cells"].at(2)["traces"];
  ASSERT_EQ(kept.get_array().size(), 3u) << "one for each run, also where none was kept";
  EXPECT_EQ(kept.at(0).get_string().value(), "");
  EXPECT_EQ(kept.at(1).get_string().value(), "/runs/run-0007.penstock");
  EXPECT_EQ(json["best"].get_string().value(), "/4/4");
  EXPECT_EQ(json["suggested"].get_string().value(), "/2/4");
}

TEST(ResultFilesTest, CsvHasAsManyFieldsInEveryLine) {
  SweepResult result = Sample();
  result.cells[0] = CellResult{};
  result.cells[0].cell.values = {"1", "1"};
  const std::string csv = ToCsv(result);
  std::size_t start = 0;
  int lines = 0;
  while (start < csv.size()) {
    const std::size_t end = csv.find('\n', start);
    EXPECT_EQ(std::count(csv.begin() + static_cast<std::ptrdiff_t>(start),
                         csv.begin() + static_cast<std::ptrdiff_t>(end), ','),
              12)
        << csv.substr(start, end - start);
    start = end + 1;
    ++lines;
  }
  EXPECT_EQ(lines, 7);
}

// A runner whose runs return the results that it was given, in order.
class Scripted : public Runner {
 public:
  explicit Scripted(std::deque<Result<Measurement>> script) : script_(std::move(script)) {}
  Result<Measurement> Run(const Cell&, const std::stop_token&) override {
    ++runs;
    if (script_.empty()) return Measurement{};
    Result<Measurement> next = script_.front();
    script_.pop_front();
    return next;
  }
  int runs = 0;

 private:
  std::deque<Result<Measurement>> script_;
};

TEST(SessionTest, CellThatFailedIsNotRunAgain) {
  SweepResult result = Sample();
  for (CellResult& cell : result.cells) cell = {cell.cell, CellState::kPending, "", {}, {}};
  Scripted runner({Fail(ErrorKind::kInput, "broken")});
  Session session(result, runner, {}, [] {});
  EXPECT_FALSE(session.Measure(0));
  EXPECT_FALSE(session.Measure(0));
  EXPECT_TRUE(session.Measure(1));
  EXPECT_EQ(runner.runs, 2);
  EXPECT_EQ(result.cells[0].state, CellState::kFailed);
  EXPECT_EQ(result.cells[0].error, "broken");
}

TEST(SessionTest, ErrorThatEveryRunWouldMeetEndsTheSweep) {
  SweepResult result = Sample();
  Scripted runner({Fail(ErrorKind::kEnvironment, "no program")});
  Session session(result, runner, {}, [] {});
  EXPECT_FALSE(session.Measure(0));
  EXPECT_FALSE(session.Measure(1));
  EXPECT_EQ(runner.runs, 1);
  ASSERT_TRUE(session.fatal());
  EXPECT_EQ(session.fatal()->message, "no program");
}

TEST(SessionTest, WarmUpIsForgotten) {
  SweepResult result = Sample();
  for (CellResult& cell : result.cells) cell = {cell.cell, CellState::kPending, "", {}, {}};
  Scripted runner({});
  Session session(result, runner, {}, [] {});
  EXPECT_TRUE(session.WarmUp(2));
  EXPECT_EQ(runner.runs, 2);
  EXPECT_TRUE(result.cells[0].runs.empty());
  EXPECT_EQ(session.runs_done(), 0u);
}

TEST(SessionTest, NothingRunsAfterAnInterruption) {
  SweepResult result = Sample();
  std::stop_source stop;
  stop.request_stop();
  Scripted runner({});
  Session session(result, runner, stop.get_token(), [] {});
  EXPECT_FALSE(session.Measure(0));
  EXPECT_EQ(runner.runs, 0);
  EXPECT_EQ(result.cells[0].state, CellState::kMeasured);  // the earlier result stays
}

}  // namespace
}  // namespace penstock::sweep
