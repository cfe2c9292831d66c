// SPDX-License-Identifier: Apache-2.0
#include "gui/model/panels/stages.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <numeric>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "gui/model/derived.h"
#include "gui/model/panels/stage_cells.h"
#include "tests/gui/panels_support.h"

namespace penstock::gui {
namespace {

using traces::StageId;

class StagesTest : public ::testing::Test {
 protected:
  StagesTest() : document(testing::DocumentOf(traces::MakeTrace(testing::MakeGpuRun({})))) {}

  std::vector<StageLine> Lines(std::optional<TimeRange> range = std::nullopt) const {
    return BuildStages({document.trace.get(), range}, *document.analysis);
  }
  Tail TailOf(const TailQuestion& question) const {
    return FindTail({document.trace.get(), std::nullopt}, *document.analysis, question);
  }

  Document document;
};

const StageLine& LineOf(const std::vector<StageLine>& lines, StageId stage) {
  return *std::find_if(lines.begin(), lines.end(), [stage](const StageLine& line) {
    return line.id.stage == stage && !line.is_part();
  });
}

TEST_F(StagesTest, WholeRunIsTheReportsOwnTable) {
  const auto lines = Lines();
  std::size_t i = 0;
  const auto same = [](const StageLine& line, const analyzer::StageRow& row) {
    EXPECT_EQ(line.name, row.name);
    EXPECT_EQ(line.count, row.count);
    EXPECT_DOUBLE_EQ(line.wall, row.wall);
    EXPECT_DOUBLE_EQ(line.p50, row.p50);
    EXPECT_DOUBLE_EQ(line.p99, row.p99);
    EXPECT_DOUBLE_EQ(line.share, row.share);
    EXPECT_EQ(line.bytes, row.bytes);
  };
  for (const analyzer::StageRow& row : document.analysis->report.stages) {
    ASSERT_LT(i, lines.size());
    same(lines[i++], row);
    for (const analyzer::StageRow& child : row.children) same(lines.at(i++), child);
  }
  EXPECT_EQ(i, lines.size());
}

TEST_F(StagesTest, TwoHalvesOfTheRunHoldItsCallsOnce) {
  const std::int64_t half = document.timeline->length / 2;
  const auto first = Lines(TimeRange{0, half});
  const auto second = Lines(TimeRange{half, document.timeline->length + 1});
  const auto whole = Lines();
  for (const StageId stage : {StageId::kRead, StageId::kDecode, StageId::kKernel}) {
    EXPECT_GT(LineOf(first, stage).count, 0U);
    EXPECT_EQ(LineOf(first, stage).count + LineOf(second, stage).count, LineOf(whole, stage).count);
  }
}

TEST(StagesOfRangesTest, ASelectionCountsRangesOfALibraryAsTheReportDoes) {
  traces::TraceData data = testing::MakeGpuRun({});
  analyzer::testing::AddNamedRanges(data);
  const Document document = testing::DocumentOf(traces::MakeTrace(std::move(data)));
  const Extent run{document.trace.get(), std::nullopt};
  const Extent all{document.trace.get(), TimeRange{0, document.timeline->length + 1}};
  const auto reported = BuildStages(run, *document.analysis);
  const auto counted = BuildStages(all, *document.analysis);
  EXPECT_EQ(LineOf(reported, StageId::kDecode).count, 500U);  // one in each of the 100 steps
  for (const StageId stage : {StageId::kDecode, StageId::kAugment}) {
    EXPECT_EQ(LineOf(counted, stage).count, LineOf(reported, stage).count);
    EXPECT_EQ(FindTail(run, *document.analysis, {.id = {stage, {}}}).count,
              LineOf(reported, stage).count);
  }
}

TEST(StagesOfReadsTest, WaitingBeforeAReadIsNoCall) {
  traces::TraceData data = testing::MakeGpuRun({});
  testing::DelayReads(data);
  const Document document = testing::DocumentOf(traces::MakeTrace(std::move(data)));
  const Extent run{document.trace.get(), std::nullopt};
  const auto lines = BuildStages(run, *document.analysis);
  ASSERT_GT(document.analysis->report.diagnosis.run.stages[StageId::kRead].queued.value, 0);
  EXPECT_EQ(FindTail(run, *document.analysis, {.id = {StageId::kRead, {}}}).count,
            LineOf(lines, StageId::kRead).count);
}

TEST(StagesOfReadsTest, ACallInWhichItsProcessEndedIsInNeitherTableNorTail) {
  traces::TraceData data = testing::MakeGpuRun({});
  std::uint64_t reads = 0;
  for (std::vector<traces::Span>& spans : data.spans) {
    for (traces::Span& span : spans) {
      if (span.stage != StageId::kRead) continue;
      if (reads++ % 10 == 0) span.flags |= wire::kFlagUnfinished;
    }
  }
  const Document document = testing::DocumentOf(traces::MakeTrace(std::move(data)));
  const Extent run{document.trace.get(), std::nullopt};
  const auto lines = BuildStages(run, *document.analysis);
  EXPECT_EQ(LineOf(lines, StageId::kRead).count, reads - reads / 10);
  EXPECT_EQ(FindTail(run, *document.analysis, {.id = {StageId::kRead, {}}}).count,
            LineOf(lines, StageId::kRead).count);
}

TEST_F(StagesTest, HistogramHoldsAllCallsAndItsMedian) {
  for (const StageLine& line : Lines()) {
    const auto& bins = line.histogram.bins;
    EXPECT_NEAR(std::accumulate(bins.begin(), bins.end(), 0.0), 1, 1e-9) << line.name;
    EXPECT_GE(line.p90, line.p50);
    EXPECT_LE(line.p90, line.p99);
    const double place = line.histogram.PlaceOf(line.p50);
    EXPECT_GE(place, 0);
    EXPECT_LE(place, static_cast<double>(bins.size()));
  }
}

TEST_F(StagesTest, PartsStayBelowTheirStageHoweverRowsAreSorted) {
  const auto lines = Lines();
  for (int column = 1; column <= static_cast<int>(StageColumn::kBytes); ++column) {
    for (const bool descending : {false, true}) {
      const auto order = SortStages(lines, column, descending);
      ASSERT_EQ(order.size(), lines.size());
      StageId stage = StageId::kNone;
      double last = descending ? 1e300 : -1e300;
      for (const std::uint32_t i : order) {
        if (!lines[i].is_part()) {
          stage = lines[i].id.stage;
          if (column != static_cast<int>(StageColumn::kWall)) continue;
          EXPECT_TRUE(descending ? lines[i].wall <= last : lines[i].wall >= last);
          last = lines[i].wall;
        }
        EXPECT_EQ(lines[i].id.stage, stage);
      }
    }
  }
}

TEST(StageOrderTest, PercentilesThatAreNotShownSortBelowAllOthers) {
  std::vector<StageLine> lines(3);
  lines[0].id.stage = StageId::kDecode;
  lines[0].p50 = 5;
  lines[0].mixed = true;
  lines[1].id.stage = StageId::kRead;
  lines[1].p50 = 1;
  lines[2].id.stage = StageId::kAugment;
  lines[2].p50 = 9;
  const int column = static_cast<int>(StageColumn::kP50);
  EXPECT_EQ(SortStages(lines, column, true), (std::vector<std::uint32_t>{2, 1, 0}));
  EXPECT_EQ(SortStages(lines, column, false), (std::vector<std::uint32_t>{0, 1, 2}));
}

TEST(StageShareTest, NoShareIsRoundedToNothingOrLargerThanAll) {
  StageLine line;
  const auto cell = [&](StageId stage, double share, Language language = Language::kEnglish) {
    line.id.stage = stage;
    line.share = share;
    return CellText(line, StageColumn::kShare, language);
  };
  EXPECT_EQ(cell(StageId::kKernel, 1.16), "1.2 streams");
  EXPECT_EQ(cell(StageId::kKernel, 1.16, Language::kChinese), "1.2 个流");
  EXPECT_EQ(cell(StageId::kDecode, 2.34), "2.3 thr");
  EXPECT_EQ(cell(StageId::kPin, 0.0003), "< 0.1 %");
  EXPECT_EQ(cell(StageId::kPin, 0), "0 %");
  EXPECT_EQ(cell(StageId::kH2d, 0.13), "13 %");
}

TEST_F(StagesTest, SharesOfStagesThatContainOthersAreSaidToNest) {
  const auto lines = Lines();
  const auto notes = ShareNotes(lines, 1, Language::kEnglish);
  ASSERT_EQ(notes.size(), 3U);
  EXPECT_EQ(notes[1], TextOf(Text::kSharesNest, Language::kEnglish));
  EXPECT_NE(notes[1].find("wait may contain get"), std::string::npos) << notes[1];
  StageLine wait;
  wait.id.stage = StageId::kWait;
  EXPECT_EQ(ShareNotes({&wait, 1}, 1, Language::kEnglish).size(), 1U);
  StageLine decode;  // of a run without a loader
  decode.id.stage = StageId::kDecode;
  decode.of_workers = true;
  EXPECT_EQ(ShareNotes({&decode, 1}, 1, Language::kEnglish).front(),
            "share: of the time making data");
  EXPECT_EQ(ShareNotes({&wait, 1}, 3, Language::kEnglish).front(), "the 3 recorded ranks together");
  StageLine kernel;
  kernel.id.stage = StageId::kKernel;
  EXPECT_EQ(ShareNotes({&kernel, 1}, 1, Language::kEnglish).back(),
            TextOf(Text::kSharesOfStreams, Language::kEnglish));
  EXPECT_EQ(ShareNotes({&kernel, 1}, 1, Language::kEnglish).front(),
            "share: for stages of the loop, of its time");
  kernel.unended = true;  // a profiler's trace ends in a step, in which kernels run
  EXPECT_EQ(ShareNotes({&kernel, 1}, 1, Language::kEnglish).front(),
            "share: for stages of the loop, of its time; for those of the GPU, with the last step, "
            "whose end was not recorded");
  StageLine startup;
  startup.id.stage = StageId::kStartup;
  EXPECT_EQ(ShareNotes({&startup, 1}, 1, Language::kEnglish).front(),
            "share: for startup, of the run");
  StageLine h2d;  // recorded by the hooks of Python
  h2d.id.stage = StageId::kH2d;
  EXPECT_EQ(ShareNotes({&h2d, 1}, 1, Language::kEnglish).size(), 1U) << "no stream of a device";
  StageLine rest;
  rest.id = {StageId::kAugment, StageLine::kRest};
  EXPECT_EQ(ShareNotes({&rest, 1}, 1, Language::kEnglish).back(),
            TextOf(Text::kRestOfSamples, Language::kEnglish));
  analyzer::RunModel run;
  run.stages[StageId::kH2d].Add(1, -1, 0);
  EXPECT_EQ(TableNotes(run, lines, 1, Language::kEnglish).size(), 3U);
  run.stages[StageId::kCopy].Add(1, -1, 0);
  EXPECT_EQ(TableNotes(run, lines, 1, Language::kEnglish).back(),
            TextOf(Text::kStagesOfDevice, Language::kEnglish))
      << "the table has no row \"copy\"";
  run.loaders.resize(1);
  run.loaders[0].probes = {{wire::kProbeNothing, 2, 0, 1'000'000'000}};
  EXPECT_EQ(TableNotes(run, lines, 1, Language::kEnglish).back(),
            TextOf(Text::kStagesProbed, Language::kEnglish));
}

TEST_F(StagesTest, TheTailIsLongestFirstAndLeadsToItsSpans) {
  const Tail tail = TailOf({.id = {StageId::kDecode, {}}});
  EXPECT_EQ(tail.count, LineOf(Lines(), StageId::kDecode).count);
  EXPECT_EQ(tail.calls.size(), Tail::kMost);
  for (std::size_t i = 1; i < tail.calls.size(); ++i) {
    EXPECT_GE(tail.calls[i - 1].wall, tail.calls[i].wall);
  }
  const auto span = FindSpan(*document.timeline, tail.calls[0]);
  ASSERT_TRUE(span.has_value());
  EXPECT_EQ(document.timeline->stage(*span), StageId::kDecode);
}

TEST_F(StagesTest, ABarOfTheHistogramHoldsTheCallsItCounts) {
  const auto lines = Lines();
  for (const StageId stage : {StageId::kRead, StageId::kWait, StageId::kStep}) {
    const StageLine& line = LineOf(lines, stage);
    double sum = 0;
    for (std::size_t i = 0; i < line.histogram.bins.size(); ++i) {
      const Tail tail = TailOf({line.id, line.histogram.EdgeOf(i), line.histogram.EdgeOf(i + 1)});
      EXPECT_NEAR(static_cast<double>(tail.count) / static_cast<double>(line.count),
                  line.histogram.bins[i], 1e-9);
      sum += static_cast<double>(tail.count);
    }
    EXPECT_EQ(sum, static_cast<double>(line.count));
  }
}

TEST_F(StagesTest, TheRowToLookAtFirstIsTheBottlenecks) {
  const auto lines = Lines();
  analyzer::Report report = document.analysis->report;
  const auto first = [&](analyzer::Factor factor) {
    report.diagnosis.bottleneck = factor;
    return MostTelling(report, lines).stage;
  };
  EXPECT_EQ(first(analyzer::Factor::kDecode), StageId::kDecode);
  EXPECT_EQ(first(analyzer::Factor::kCompute), StageId::kStep);
  EXPECT_EQ(first(analyzer::Factor::kTransfer), StageId::kGet);
}

TEST(StageOrderTest, WithoutABottleneckTheLongestStageIsLookedAtFirst) {
  std::vector<StageLine> lines(4);
  const std::array stages = {StageId::kRead, StageId::kFetch, StageId::kDecode, StageId::kStep};
  const std::array walls = {0.8, 90.0, 12.0, 7.0};
  for (std::size_t i = 0; i < lines.size(); ++i) {
    lines[i].id.stage = stages[i];
    lines[i].wall = walls[i];
  }
  EXPECT_EQ(MostTelling(analyzer::Report{}, lines).stage, StageId::kDecode);
  EXPECT_EQ(MostTelling(analyzer::Report{}, {lines.data() + 1, 1}).stage, StageId::kFetch);
}

TEST_F(StagesTest, APartHasCallsOfItsOwn) {
  const auto lines = Lines();
  const auto part = std::find_if(lines.begin(), lines.end(),
                                 [](const StageLine& line) { return line.is_part(); });
  ASSERT_NE(part, lines.end());
  const Tail tail = TailOf({.id = part->id});
  EXPECT_EQ(tail.count, part->count);
  EXPECT_EQ(tail.calls[0].detail.name, part->id.part);
}

TEST(DerivedTest, MakesAValueOnceForAQuestionAndAnewForAnother) {
  Derived<int, int> derived;
  int made = 0;
  const auto ask = [&](int key, bool now) {
    return derived.Get(key, now, [&made, key](const std::stop_token&) {
      ++made;
      return key * 10;
    });
  };
  EXPECT_EQ(*ask(1, true), 10);
  EXPECT_EQ(*ask(1, true), 10);
  EXPECT_EQ(made, 1);
  const int* value = nullptr;
  for (int i = 0; i < 100'000 && value == nullptr; ++i) {
    value = ask(2, false);
    if (value == nullptr) std::this_thread::yield();
    if (i > 1000) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  ASSERT_NE(value, nullptr);
  EXPECT_EQ(*value, 20);
  EXPECT_FALSE(derived.busy());
  EXPECT_EQ(made, 2);
}

struct Grown {
  int state = 0;
  int question = 0;
  bool operator==(const Grown&) const = default;
  [[nodiscard]] bool Follows(const Grown& before) const { return question == before.question; }
};

TEST(DerivedTest, TheAnswerBeforeServesWhereItIsFollowed) {
  Derived<Grown, int> derived;
  const auto of = [](int value) { return [value](const std::stop_token&) { return value; }; };
  ASSERT_NE(derived.Get({1, 1}, true, of(11)), nullptr);
  EXPECT_EQ(*derived.Get({2, 1}, false, of(21)), 11);
  const int* value = nullptr;
  for (int i = 0; i < 20'000 && (value == nullptr || *value != 21); ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    value = derived.Get({2, 1}, false, of(21));
    ASSERT_NE(value, nullptr);
  }
  EXPECT_EQ(*value, 21);
  EXPECT_EQ(derived.key(), (Grown{2, 1}));
  EXPECT_EQ(derived.Get({2, 2}, false, of(22)), nullptr) << "another question";
}

TEST(DerivedTest, AJobThatIsForgottenIsNotWaitedFor) {
  std::atomic<bool> end{false};
  std::atomic<bool> stopped{false};
  Derived<int, int> derived;
  EXPECT_EQ(derived.Get(1, false,
                        [&](const std::stop_token& stop) {
                          while (!end) std::this_thread::sleep_for(std::chrono::milliseconds(1));
                          stopped = stop.stop_requested();
                          return 10;
                        }),
            nullptr);
  derived.Forget();  // if it waited for the job, it would never return
  EXPECT_FALSE(derived.busy());
  end = true;
  while (!stopped) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  derived.TakeFinished();
  const auto of = [](const std::stop_token&) { return 20; };
  EXPECT_EQ(*derived.Get(2, true, of), 20);
  derived.Forget();
  EXPECT_EQ(derived.Get(2, false, of), nullptr) << "the value is gone too";
}

}  // namespace
}  // namespace penstock::gui
