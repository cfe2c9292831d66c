// SPDX-License-Identifier: Apache-2.0
//
// Plots of the page with extreme values.
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "analyzer/report/html_report.h"
#include "analyzer/report/html_text.h"
#include "tests/analyzer/html_support.h"
#include "tests/analyzer/synthetic.h"
#include "tests/analyzer/synthetic_ranks.h"
#include "traces/trace_builder.h"

namespace penstock::analyzer {
namespace {

using testing::Has;

// A curve with points at `first` workers and the next two numbers, which take `ram` bytes each.
WorkerCurve CurveOf(int first, std::uint64_t ram) {
  WorkerCurve curve;
  for (int workers = first; workers < first + 3; ++workers) {
    CurvePoint point;
    point.workers = workers;
    point.rate = {100, 90, 110};
    point.ram = point.of_batches = ram;
    curve.points.push_back(point);
  }
  return curve;
}

TEST(MemoryFigureTest, DrawsBatchesOfAFewBytes) {
  const std::string svg = MemoryFigure(CurveOf(0, 96), Language::kEnglish).html;
  EXPECT_TRUE(Has(svg, "memory (B)"));
  EXPECT_TRUE(Has(svg, "96 B in all"));
}

// The number that follows the first occurrence of `before` in `svg`.
double NumberAfter(const std::string& svg, std::string_view before) {
  const std::size_t at = svg.find(before);
  return at == std::string::npos ? NAN : std::strtod(svg.c_str() + at + before.size(), nullptr);
}

TEST(MemoryFigureTest, DrawsBarsOfOneWidthWhateverTheFirstNumberOfWorkers) {
  for (const int first : {0, 1, 2, 8}) {
    const std::string svg = MemoryFigure(CurveOf(first, 1'000'000), Language::kEnglish).html;
    const std::size_t bar = svg.find("<rect class=\"batches\"");
    ASSERT_NE(bar, std::string::npos);
    EXPECT_DOUBLE_EQ(NumberAfter(svg.substr(bar), "width=\""), 36) << first;
  }
}

TEST(WorkerCurveTest, HasTheRecordedDepthIfNoWorkersAreSuggested) {
  testing::Synthetic run;
  run.prefetch = 3;
  const auto trace = testing::SyntheticTrace(run);
  Report report = BuildReport(*trace, "t");
  ASSERT_TRUE(report.diagnosis.loader);
  Suggestion& suggestion = report.diagnosis.loader->suggestion;
  suggestion.changes = true;
  suggestion.workers = 0;
  suggestion.prefetch = 1;  // is ignored: without workers there is no depth
  EXPECT_EQ(BuildPlots(*trace, report).workers.prefetch, 3);
  suggestion.workers = 4;
  suggestion.prefetch = 8;
  EXPECT_EQ(BuildPlots(*trace, report).workers.prefetch, 8);
}

TEST(WorkerCurveTest, HasTheDepthOfPyTorchIfNoWorkersWereRecorded) {
  testing::Synthetic run;
  run.workers = 0;
  run.prefetch = 0;  // the hooks record this for a loader without workers
  const auto trace = testing::SyntheticTrace(run);
  Report report = BuildReport(*trace, "t");
  ASSERT_TRUE(report.diagnosis.loader);
  report.diagnosis.loader->suggestion.changes = false;
  EXPECT_EQ(BuildPlots(*trace, report).workers.prefetch, 2);
}

TEST(TimelineFigureTest, ShowsTheWorkersOfOneRank) {
  const auto trace = traces::MakeTrace(testing::SideBySide(testing::Synthetic{}, 12));
  const Report report = BuildReport(*trace, "t");
  const TimelineExcerpt excerpt = BuildPlots(*trace, report).timeline;
  ASSERT_EQ(excerpt.rows.size(), 3u);
  EXPECT_EQ(English(excerpt.rows[0].label), "worker 0");
  EXPECT_EQ(English(excerpt.rows[1].label), "worker 1");
  EXPECT_EQ(excerpt.left_out, 0u);
}

TEST(TimelineFigureTest, CallsOnlyTheLoopsOwnThreadLoading) {
  testing::Synthetic run;
  run.workers = 0;
  traces::TraceData data = testing::MakeSynthetic(run);
  testing::AddNamedRanges(data);
  const auto trace = traces::MakeTrace(std::move(data));
  const TimelineExcerpt excerpt = BuildPlots(*trace, BuildReport(*trace, "t")).timeline;
  ASSERT_EQ(excerpt.rows.size(), 3u);
  EXPECT_EQ(English(excerpt.rows[0].label), "decoder 0");
  EXPECT_EQ(English(excerpt.rows[1].label), "loop: loading");
  EXPECT_EQ(English(excerpt.rows[2].label), "training loop");
}

TEST(TimelineFigureTest, NumbersNoFetchThatHasNoBatch) {
  TimelineExcerpt excerpt;
  excerpt.to = 1;
  excerpt.batches = 1;
  excerpt.rows.emplace_back();
  excerpt.rows[0].spans = {{0, 0.4, traces::StageId::kFetch, 7},
                           {0.5, 0.9, traces::StageId::kFetch, wire::kNoBatch}};
  const std::string svg = TimelineFigure(excerpt, Language::kEnglish).html;
  EXPECT_TRUE(Has(svg, ">batch 7</text>"));
  EXPECT_FALSE(Has(svg, "4294967295"));
}

TEST(TimelineFigureTest, HasRoomForTheLegendOfEveryKind) {
  TimelineExcerpt excerpt;
  excerpt.to = 1;
  excerpt.batches = 1;
  excerpt.rows.emplace_back();
  for (const traces::StageId stage :
       {traces::StageId::kFetch, traces::StageId::kRead, traces::StageId::kDecode,
        traces::StageId::kAugment, traces::StageId::kTokenize, traces::StageId::kSample,
        traces::StageId::kCollate, traces::StageId::kPut, traces::StageId::kIdle,
        traces::StageId::kWait, traces::StageId::kStep}) {
    excerpt.rows[0].spans.push_back({0, 1, stage, 0});
  }
  for (const Language language : {Language::kEnglish, Language::kChinese}) {
    const std::string svg = TimelineFigure(excerpt, language).html;
    // The last square of the legend, and the text of four letters or three characters beside it.
    const std::size_t last = svg.find("<rect class=\"s-step\" x=");
    ASSERT_NE(last, std::string::npos);
    EXPECT_LT(NumberAfter(svg.substr(last), " x=\"") + 17 + 40, kPictureWidth);
  }
}

std::string PageOfReport(const traces::Trace& trace, const Report& report) {
  return ReportHtml(report, BuildPlots(trace, report), Language::kEnglish);
}

// Epochs of 12 batches whose workers start anew: the figures are those of the whole run.
TEST(HtmlReportTest, TheTileOfTheWaitAndTheStageTableAgree) {
  const auto trace = testing::SyntheticTrace({.batches = 12, .epochs = 5, .worker_start = 400});
  const Report report = BuildReport(*trace, "t");
  ASSERT_TRUE(report.diagnosis.whole_run);
  const std::string page = PageOfReport(*trace, report);
  const std::size_t meaning = page.find(" %</b><span>of the loop&#39;s time over the whole run is");
  ASSERT_NE(meaning, std::string::npos);
  const double tile = std::strtod(page.c_str() + page.rfind("<b>", meaning) + 3, nullptr);
  const std::string_view row = "<th class=\"stage\">wait</th><td>";
  ASSERT_TRUE(Has(page, row));
  const double table = std::strtod(page.c_str() + page.find(row) + row.size(), nullptr);
  EXPECT_GT(tile, 50);
  EXPECT_NEAR(tile, table, 0.5);
  const auto wait = std::find_if(report.stages.begin(), report.stages.end(),
                                 [](const StageRow& one) { return one.name == "wait"; });
  ASSERT_NE(wait, report.stages.end());
  EXPECT_NEAR(report.diagnosis.wait_fraction, wait->share, 0.005);
}

// As in a file of PyTorch's profiler: nothing tells how many workers there are.
TEST(QueueFigureTest, WorkersThatAreNotKnownAreNotNone) {
  traces::TraceData data = testing::MakeSynthetic({.workers = 0});
  for (auto& process : data.processes) process.facts.erase("loader.0.num_workers");
  const auto trace = traces::MakeTrace(std::move(data));
  const Report report = BuildReport(*trace, "t");
  ASSERT_FALSE(report.diagnosis.run.loader().config.workers_known);
  const std::string page = PageOfReport(*trace, report);
  EXPECT_FALSE(Has(page, "here are no workers"));
  EXPECT_FALSE(Has(page, "loop: loading"));
  EXPECT_TRUE(Has(page, "whether batches queue is not known"));
  const std::string json = ReportJson(report);
  EXPECT_TRUE(Has(json, "\"num_workers\": 0,\n    \"workers_known\": false")) << json;
  Diagnosis kept = report.diagnosis;
  kept.loader->suggestion.changes = false;
  EXPECT_EQ(SuggestedCode(kept), "");
  const std::string known = ReportJson(BuildReport(*testing::SyntheticTrace({}), "t"));
  EXPECT_FALSE(Has(known, "\"workers_known\": false")) << known;
}

// Half of the batches decode 15 times as long, by another decoder.
TEST(LatencyFigureTest, AStageOfTwoKindsOfCallsHasNoMedian) {
  traces::TraceData data = testing::MakeSynthetic({.costs = [](int, int index) {
    return testing::Costs{.decode = index % 2 == 0 ? 4.0 : 60.0};
  }});
  const StringId other = data.Intern("numpy.load");
  for (auto& spans : data.spans) {
    for (traces::Span& span : spans) {
      if (span.stage == traces::StageId::kDecode && span.batch.index % 2 == 1) span.name = other;
    }
  }
  const auto trace = traces::MakeTrace(std::move(data));
  const Report report = BuildReport(*trace, "t");
  const std::vector<LatencyRow> rows = BuildPlots(*trace, report).latencies;
  std::size_t medians = 0;
  const std::string svg = LatencyFigure(rows, Language::kEnglish).html;
  for (std::size_t at = 0; (at = svg.find("median ", at)) != std::string::npos; ++at) ++medians;
  EXPECT_EQ(medians, rows.size() - 1) << svg;
  EXPECT_TRUE(Has(svg, "calls of several kinds"));
  const std::string json = ReportJson(report);
  const std::string decode = json.substr(json.find("\"name\": \"decode\""), 400);
  EXPECT_TRUE(Has(decode, "\"p50_s\": ")) << decode;
  EXPECT_TRUE(Has(decode, "\"mixed\": true")) << decode;
  const std::string read = json.substr(json.find("\"name\": \"read\""), 300);
  EXPECT_TRUE(Has(read, "\"mixed\": false")) << read;
  // The stage tables of the text report and of the page have no percentiles of it either.
  const std::string text = ReportText(report, Colour::kOff);
  const std::size_t row = text.find("\n  decode ");
  ASSERT_NE(row, std::string::npos);
  const std::string line = text.substr(row + 1, text.find('\n', row + 1) - row - 1);
  EXPECT_TRUE(Has(line, "      -       - ")) << line;
  const std::string table = StageTableHtml(report, Language::kEnglish);
  const std::size_t cell = table.find(">decode</th>");
  ASSERT_NE(cell, std::string::npos);
  EXPECT_TRUE(Has(table.substr(cell, table.find("</tr>", cell) - cell), "<td>-</td><td>-</td>"));
}

TEST(HtmlReportTest, TheTileOfTheWaitSaysThatItIsOfTheSteadyPart) {
  const auto trace = testing::SyntheticTrace({});
  const Report report = BuildReport(*trace, "t");
  ASSERT_FALSE(report.diagnosis.whole_run);
  EXPECT_TRUE(Has(PageOfReport(*trace, report),
                  " %</b><span>of the loop&#39;s time in the steady part is waiting for data"));
}

}  // namespace
}  // namespace penstock::analyzer
