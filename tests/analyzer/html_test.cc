// SPDX-License-Identifier: Apache-2.0
//
// The page is well-formed, needs nothing from elsewhere, and its plots show the report's numbers.
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/core.h>
#include <gtest/gtest.h>

#include "analyzer/diagnosis/summary.h"
#include "analyzer/report/gpu_report.h"
#include "analyzer/report/html_report.h"
#include "analyzer/report/html_text.h"
#include "analyzer/whatif/grid.h"
#include "analyzer/words/format.h"
#include "tests/analyzer/html_support.h"
#include "tests/analyzer/synthetic.h"
#include "tests/analyzer/synthetic_threads.h"
#include "traces/trace_builder.h"

namespace penstock::analyzer {
namespace {

using testing::Has;
using testing::Malformed;
using testing::Synthetic;

struct Page {
  Report report;
  ReportPlots plots;
  std::string html;
};

Page PageOf(const traces::Trace& trace, const std::string& name = "run.penstock") {
  Page page;
  page.report = BuildReport(trace, name);
  page.plots = BuildPlots(trace, page.report);
  page.html = ReportHtml(page.report, page.plots, Language::kEnglish);
  return page;
}

Page PageOf(const Synthetic& run) {
  return PageOf(*testing::SyntheticTrace(run));
}

// The attribute `name` of the element whose <title> begins with `tip`.
double Attribute(const std::string& svg, std::string_view tip, const std::string& name) {
  const std::size_t title = svg.find("<title>" + std::string(tip));
  if (title == std::string::npos) return NAN;
  const std::size_t start = svg.rfind('<', title - 1);
  const std::size_t value = svg.find(" " + name + "=\"", start);
  if (value == std::string::npos || value > title) return NAN;
  return std::strtod(svg.c_str() + value + name.size() + 3, nullptr);
}

TEST(HtmlReportTest, IsWellFormedAndNeedsNothingFromElsewhere) {
  const Page page = PageOf(Synthetic{});
  EXPECT_EQ(Malformed(page.html), "");
  EXPECT_FALSE(Has(page.html, "<script"));
  EXPECT_FALSE(Has(page.html, "<link"));
  EXPECT_FALSE(Has(page.html, "src="));
  EXPECT_FALSE(Has(page.html, "url("));
  EXPECT_FALSE(Has(page.html, "@import"));
  EXPECT_FALSE(Has(page.html, "nan"));
  EXPECT_FALSE(Has(page.html, "\"inf"));
}

TEST(HtmlReportTest, SaysVerdictLossesAndSuggestionInThisOrder) {
  traces::TraceData data = testing::MakeSynthetic({});
  data.losses.dropped_events = 17;
  const Page page = PageOf(*traces::MakeTrace(std::move(data)));
  const std::size_t verdict = page.html.find(Escaped(English(page.report.diagnosis.summary)));
  const std::size_t losses = page.html.find("17 events dropped");
  const std::size_t suggestion = page.html.find("<h2 id=\"suggestion\"");
  ASSERT_NE(verdict, std::string::npos);
  ASSERT_NE(losses, std::string::npos);
  EXPECT_LT(verdict, losses);
  EXPECT_LT(losses, suggestion);
}

TEST(HtmlReportTest, GivesTheLineToPaste) {
  Synthetic run;
  run.workers = 1;
  run.costs = testing::Always({1, 8, 2, 0.5, 0.1, 0.3, 2, 0});
  const Page page = PageOf(run);
  ASSERT_TRUE(page.report.diagnosis.loader->suggestion.changes);
  EXPECT_TRUE(Has(page.html, "<pre>" + SuggestedCode(page.report.diagnosis) + "</pre>"));
}

TEST(HtmlReportTest, EscapesWhatATraceHolds) {
  const Page page =
      PageOf(*testing::SyntheticTrace({}), "<script>alert('x')</script>&\"\x1b\xff.penstock");
  EXPECT_EQ(Malformed(page.html), "");
  EXPECT_FALSE(Has(page.html, "<script"));
  EXPECT_TRUE(Has(page.html, "&lt;script&gt;alert(&#39;x&#39;)&lt;/script&gt;&amp;&quot;?"));
}

TEST(HtmlReportTest, EscapesNamesInPlots) {
  Synthetic run;
  run.transform = "</title></svg><b onload=\"x\">";
  const Page page = PageOf(run);
  EXPECT_EQ(Malformed(page.html), "");
  EXPECT_FALSE(Has(page.html, "<b onload"));
  EXPECT_TRUE(Has(page.html, "&lt;b onload="));
}

TEST(HtmlReportTest, ShowsEveryFindingWithItsAction) {
  Synthetic run;
  run.workers = 0;
  const Page page = PageOf(run);
  ASSERT_FALSE(page.report.findings.empty());
  for (const Finding& finding : page.report.findings) {
    EXPECT_TRUE(Has(page.html, Escaped(English(finding.seen))));
    EXPECT_TRUE(Has(page.html, Escaped(English(finding.action))));
    for (const auto& [key, value] : finding.evidence) {
      EXPECT_TRUE(Has(page.html, "<dt>" + Escaped(key) + "</dt>"));
    }
  }
}

TEST(HtmlReportTest, FiguresOfAFindingHaveFewDigits) {
  EXPECT_EQ(EvidenceText("batch_bytes", 3.85357e7), "38.5 MB");
  EXPECT_EQ(EvidenceText("decode_share", 0.492654), "0.4927");
  EXPECT_EQ(EvidenceText("iterations", 12345.0), "12345");
  EXPECT_EQ(EvidenceText("transforms", std::string("ToTensor")), "ToTensor");
}

TEST(HtmlReportTest, WithoutAGpuThePageHasNoPartAboutIt) {
  Page page = PageOf(Synthetic{});
  page.report.gpu_nvml = "unavailable: libnvidia-ml.so.1";
  EXPECT_EQ(GpuHtml(page.report, Language::kEnglish).html, "");
  EXPECT_TRUE(Has(ReportHtml(page.report, page.plots, Language::kEnglish),
                  "<li>NVML: unavailable: libnvidia-ml.so.1</li>"));
}

TEST(HtmlReportTest, SaysOfAnEmptyTraceThatNothingCanBePlotted) {
  const Page page = PageOf(*traces::MakeTrace({}));
  EXPECT_EQ(Malformed(page.html), "");
  EXPECT_FALSE(Has(page.html, "<svg"));
  EXPECT_TRUE(Has(page.html, "Stages, Latency of each stage: no plot. No stage was recorded."));
  EXPECT_TRUE(Has(page.html, "Not enough: no finished call of the run was recorded"));
}

// The page once had a box for each of nine plots without data. They hid the two or three sections
// that had content.
TEST(HtmlReportTest, NamesPlotsWithoutDataInOneLineAndHasNoSectionForThem) {
  const Page page = PageOf(*traces::MakeTrace({}));
  const std::size_t line = page.html.find("<p class=\"none\">");
  ASSERT_NE(line, std::string::npos);
  EXPECT_EQ(page.html.find("<p class=\"none\">", line + 1), std::string::npos);
  const std::string said = page.html.substr(line, page.html.find('\n', line) - line);
  for (const char* title :
       {"Stages", "Functions and lines", "If one part cost nothing", "The GPU",
        "A few batches in time", "Throughput against workers", "Memory against workers",
        "Latency of each stage", "Queue depth over time"}) {
    EXPECT_TRUE(Has(said, title)) << said;
    EXPECT_FALSE(Has(page.html, fmt::format(">{}</h2>", title))) << title;
  }
  for (const char* id : {"stages", "functions", "gpu", "timeline", "workers", "latency", "queue"}) {
    EXPECT_FALSE(Has(page.html, fmt::format("href=\"#{}\"", id))) << id;
  }
}

TEST(HtmlReportTest, IsTitledByTheRunAndNotByAPath) {
  traces::TraceData data = testing::MakeSynthetic({});
  for (traces::ProcessInfo& process : data.processes)
    process.command = {"python", "train.py", "--lr", "1"};
  const Page page = PageOf(*traces::MakeTrace(std::move(data)), "/data/runs/7/a.penstock");
  const std::string command = page.report.command;
  ASSERT_NE(command, "");
  EXPECT_TRUE(Has(page.html, "<title>Penstock: " + Escaped(command) + "</title>"));
  EXPECT_TRUE(Has(page.html, "<h1><code>" + Escaped(command) + "</code></h1>"));
  EXPECT_TRUE(Has(page.html, "/data/runs/7/a.penstock, recorded for "));
  Report unnamed = page.report;
  unnamed.command.clear();
  const std::string bare = ReportHtml(unnamed, page.plots, Language::kEnglish);
  EXPECT_TRUE(Has(bare, "<h1><code>a.penstock</code></h1>"));
}

TEST(HtmlReportTest, SaysOfAShortTraceWhyNothingIsPredicted) {
  for (const int batches : {1, 2, 5}) {
    Synthetic run;
    run.batches = batches;
    const Page page = PageOf(run);
    EXPECT_EQ(Malformed(page.html), "");
    const Picture rates = RateFigure(page.plots.workers, Language::kEnglish);
    EXPECT_EQ(rates.html, "");
    EXPECT_EQ(English(rates.missing).rfind("not enough: needs 16 batches", 0), 0u);
    EXPECT_TRUE(Has(page.html, "no plot. Not enough: needs 16 batches"));
    EXPECT_TRUE(Has(TimelineFigure(page.plots.timeline, Language::kEnglish).html, "<svg"));
  }
}

TEST(HtmlReportTest, SurvivesOddTraces) {
  Synthetic still;
  still.costs = testing::Always({0, 0, 0, 0, 0, 0, 0, 0});
  still.worker_start = 0;
  Synthetic bare;
  bare.loader_facts = bare.host_facts = bare.events = bare.sample_spans = false;
  Synthetic many;
  many.workers = 40;
  many.batches = 400;
  Synthetic alone;
  alone.workers = 0;
  Synthetic slow;
  slow.batches = 30;
  slow.costs = testing::Always({1e5, 1e6, 1e5, 1, 1, 1, 1e6, 0});
  for (const Synthetic& run : {still, bare, many, alone, slow}) {
    const Page page = PageOf(run);
    EXPECT_EQ(Malformed(page.html), "");
    EXPECT_FALSE(Has(page.html, "nan"));
    EXPECT_FALSE(Has(page.html, "\"inf"));
  }
}

TEST(HtmlReportTest, KnowsTheReferenceLoader) {
  const Page page = PageOf(*testing::ThreadsTrace({}));
  EXPECT_EQ(Malformed(page.html), "");
  EXPECT_EQ(page.plots.timeline.rows.size(), 5u);
  EXPECT_FALSE(page.plots.workers.points.empty());
  EXPECT_GE(page.plots.workers.points.front().workers, 1);
}

TEST(HtmlFigureTest, DrawsStagesAsWideAsTheirShares) {
  const Report report = PageOf(Synthetic{}).report;
  const std::string svg = StageFigure(report, Language::kEnglish).html;
  for (const StageRow& row : report.stages) {
    if (row.name != "read" && row.name != "decode" && row.name != "wait") continue;
    EXPECT_NEAR(Attribute(svg, row.name + ": ", "width"), row.share * 530, 0.01)
        << traces::StageName(row.stage);
    EXPECT_TRUE(Has(svg, fmt::format("{}: {} of the time; {} wall", row.name,
                                     PercentText(row.share), DurationText(row.wall))));
  }
}

TEST(HtmlFigureTest, DrawsGainsInProportion) {
  const Diagnosis diagnosis = PageOf(Synthetic{}).report.diagnosis;
  const std::string svg = GainFigure(diagnosis, Language::kEnglish).html;
  double scale = 0;
  for (const Gain& gain : diagnosis.gains) {
    if (gain.speedup < 1.05) continue;
    const double width = Attribute(svg, std::string(FactorName(gain.factor)) + " free", "width");
    if (scale <= 0) scale = width / (gain.speedup - 1);
    EXPECT_NEAR(width, scale * (gain.speedup - 1), 0.02);
  }
  EXPECT_GT(scale, 0);
}

TEST(HtmlFigureTest, ShowsThePredictionsOfWhatif) {
  const Page page = PageOf(Synthetic{});
  const WorkerCurve& curve = page.plots.workers;
  GridRequest request;
  for (const CurvePoint& point : curve.points) request.workers.push_back(point.workers);
  request.prefetch = {curve.prefetch};
  const Predicted<Grid> grid = PredictGrid(page.report.diagnosis, request);
  ASSERT_TRUE(grid);
  ASSERT_EQ(grid->configurations.size(), curve.points.size());
  const std::string rates = RateFigure(curve, Language::kEnglish).html;
  const std::string memory = MemoryFigure(curve, Language::kEnglish).html;
  for (const Configuration& one : grid->configurations) {
    const Interval& rate = one.predicted.rate;
    const std::string workers = CountedText(one.workers, "worker");
    EXPECT_TRUE(Has(rates, fmt::format("{} samples/s ({}..{})", ShortNumber(rate.estimate),
                                       ShortNumber(rate.low), ShortNumber(rate.high))));
    EXPECT_TRUE(std::isfinite(Attribute(rates, workers, "cy"))) << workers;
    EXPECT_TRUE(Has(memory, BytesText(one.predicted.ram) + " in all")) << workers;
  }
  // Higher rates are drawn higher: their cy is smaller.
  const auto& points = grid->configurations;
  EXPECT_GT(Attribute(rates, CountedText(points.front().workers, "worker"), "cy"),
            Attribute(rates, CountedText(points.back().workers, "worker"), "cy"));
}

TEST(HtmlFigureTest, CountsEveryCallInTheLatencyHistogram) {
  const Page page = PageOf(Synthetic{});
  ASSERT_FALSE(page.plots.latencies.empty());
  for (const LatencyRow& row : page.plots.latencies) {
    std::uint64_t sum = 0;
    for (const std::uint64_t bin : row.bins) sum += bin;
    EXPECT_EQ(sum, row.count) << traces::StageName(row.stage);
    const auto stage = std::find_if(page.report.stages.begin(), page.report.stages.end(),
                                    [&](const StageRow& one) { return one.stage == row.stage; });
    ASSERT_NE(stage, page.report.stages.end()) << traces::StageName(row.stage);
    EXPECT_EQ(row.count, stage->count) << traces::StageName(row.stage);
    EXPECT_DOUBLE_EQ(row.p99, stage->p99) << traces::StageName(row.stage);
    const auto bin = static_cast<std::size_t>(std::log10(row.p50 * 1e9) * kBinsPerDecade);
    EXPECT_GT(row.bins[bin] + row.bins[bin + 1] + row.bins[bin - 1], 0u)
        << traces::StageName(row.stage);
  }
}

TEST(HtmlFigureTest, CountsLatenciesAlsoWhenThereAreMany) {
  DurationSketch sketch;
  for (std::int64_t i = 1; i <= 20'000; ++i) sketch.Add(i * 1000);
  EXPECT_NEAR(static_cast<double>(sketch.CountBelow(0.01)), 10'000, 100);
  EXPECT_EQ(sketch.CountBelow(1), 20'000u);
  EXPECT_EQ(sketch.CountBelow(0), 0u);
}

TEST(HtmlFigureTest, TimelineShowsAThreadOnWhichALibraryNamesItsStages) {
  traces::TraceData data = testing::MakeSynthetic(Synthetic{});
  testing::AddNamedRanges(data);
  const TimelineExcerpt excerpt = PageOf(*traces::MakeTrace(std::move(data))).plots.timeline;
  ASSERT_EQ(excerpt.rows.size(), 4u);  // two workers, the library's thread, the loop
  const TimelineRow& row = excerpt.rows[2];
  EXPECT_EQ(English(row.label), "decoder 0");
  ASSERT_EQ(row.spans.size(), 2 * excerpt.batches);
  EXPECT_EQ(row.spans[0].stage, traces::StageId::kDecode);
  EXPECT_EQ(row.spans[1].stage, traces::StageId::kAugment);
}

TEST(HtmlFigureTest, TimelineRepeatsTheRecordedBatches) {
  const Page page = PageOf(Synthetic{});
  const TimelineExcerpt& excerpt = page.plots.timeline;
  ASSERT_EQ(excerpt.rows.size(), 3u);
  EXPECT_EQ(English(excerpt.rows[0].label), "worker 0");
  EXPECT_EQ(English(excerpt.rows[1].label), "worker 1");
  ASSERT_EQ(English(excerpt.rows[2].label), "training loop");
  const RunModel& run = page.report.diagnosis.run;
  std::size_t waits = 0;
  for (const TimelineSpan& span : excerpt.rows[2].spans) {
    if (span.stage != traces::StageId::kWait) continue;
    ++waits;
    const Batch& batch = run.loader().batches.at(span.batch);
    ASSERT_EQ(batch.key.index, span.batch);
    EXPECT_NEAR(span.to - span.from, batch.wait(), 1e-9);
  }
  EXPECT_EQ(waits, excerpt.batches);
}

TEST(HtmlFigureTest, QueueStaysWithinTheCreditsAndIsFullBehindASlowStep) {
  Synthetic run;
  run.costs = testing::Always({0.1, 0.2, 0.1, 0.1, 0.1, 0.1, 20, 0});
  const QueueDepth queue = PageOf(run).plots.queue;
  ASSERT_TRUE(queue.missing.empty());
  EXPECT_EQ(queue.most, 4);
  for (const QueueBin& bin : queue.bins) {
    EXPECT_GE(bin.low, 0);
    EXPECT_LE(bin.high, queue.most);
    EXPECT_LE(bin.low, bin.mean + 1e-9);
    EXPECT_LE(bin.mean, bin.high + 1e-9);
  }
  EXPECT_GT(queue.bins[queue.bins.size() / 2].mean, 2.5);
}

TEST(HtmlFigureTest, QueueOfBatchesThatAreAllAlikeHasNoWaves) {
  Synthetic run;
  run.workers = 1;
  run.batches = 300;
  run.costs = testing::Always({.decode = 8, .step = 20});
  const QueueDepth queue = PageOf(run).plots.queue;
  ASSERT_GT(queue.bins.size(), 60U);
  const double middle = queue.bins[queue.bins.size() / 2].mean;
  for (std::size_t i = 10; i + 10 < queue.bins.size(); ++i) {
    EXPECT_NEAR(queue.bins[i].mean, middle, 0.1) << i;
  }
}

// Bins of one batch each had a batch in every second one: light and dark stripes.
TEST(HtmlFigureTest, QueueOfWorkersInStepHasNoStripes) {
  Synthetic run;
  run.worker_start = 0;
  run.costs = testing::Always({.decode = 20, .step = 4});
  const QueueDepth queue = PageOf(run).plots.queue;
  ASSERT_GT(queue.bins.size(), 40U);
  const double middle = queue.bins[queue.bins.size() / 2].mean;
  EXPECT_GT(middle, 0.1);
  for (std::size_t i = 5; i + 5 < queue.bins.size(); ++i) {
    EXPECT_NEAR(queue.bins[i].mean, middle, 0.08) << i;
  }
}

TEST(HtmlFigureTest, QueueIsEmptyBehindSlowWorkers) {
  Synthetic run;
  run.costs = testing::Always({1, 20, 1, 0.1, 0.1, 0.1, 0.5, 0});
  const QueueDepth queue = PageOf(run).plots.queue;
  EXPECT_LT(queue.bins[queue.bins.size() / 2].mean, 0.5);
}

TEST(HtmlTextTest, EscapesMarkupAndWhatIsNoText) {
  EXPECT_EQ(Escaped("a<b>&\"'"), "a&lt;b&gt;&amp;&quot;&#39;");
  EXPECT_EQ(Escaped("\xc3\xa9"), "\xc3\xa9");
  EXPECT_EQ(Escaped("\xf0\x9f\x98\x80"), "\xf0\x9f\x98\x80");
  const std::string lost = "\xef\xbf\xbd";
  EXPECT_EQ(Escaped("\x01"), lost);
  EXPECT_EQ(Escaped("\xff"), lost);
  EXPECT_EQ(Escaped("\xc3"), lost);
  EXPECT_EQ(Escaped("\xc0\x80"), lost + lost);
  EXPECT_EQ(Escaped("\xed\xa0\x80"), lost + lost + lost);  // a surrogate
  EXPECT_EQ(Escaped("\xe2\x80\xae"), lost + lost + lost);  // changes the direction of reading
  EXPECT_EQ(Escaped("\xe2\x80\x8f"), lost + lost + lost);  // likewise
  EXPECT_EQ(Escaped("\xd8\x9c"), lost + lost);             // likewise
  EXPECT_EQ(Escaped("\xef\xbf\xbf"), lost + lost + lost);
}

TEST(HtmlTextTest, RoundStepsCoverTheRange) {
  for (const double high : {1e-9, 0.7, 1.0, 3.0, 9.99, 100.0, 123456.0, 1e12}) {
    const std::vector<double> steps = RoundSteps(high, 7);
    EXPECT_LE(steps.size(), 8u) << high;
    EXPECT_GE(steps.size(), 3u) << high;
    EXPECT_GE(steps.back(), high * (1 - 1e-9)) << high;
    EXPECT_LE(steps[steps.size() - 2], high) << high;
  }
  EXPECT_EQ(RoundSteps(0, 5).front(), 0);
}

}  // namespace
}  // namespace penstock::analyzer
