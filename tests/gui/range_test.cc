// SPDX-License-Identifier: Apache-2.0
#include "gui/model/range_analysis.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cmath>
#include <random>
#include <thread>

#include "analyzer/diagnosis/diagnosis.h"
#include "gui/model/panels/whatif.h"
#include "gui/model/range_trace.h"
#include "tests/analyzer/synthetic.h"
#include "tests/gui/panels_support.h"
#include "tests/gui/support.h"
#include "traces/order.h"

namespace penstock::gui {
namespace {

using analyzer::testing::Always;
using analyzer::testing::Synthetic;
using analyzer::testing::SyntheticTrace;
using traces::StageId;

Document Opened(std::shared_ptr<const traces::Trace> trace) {
  Document document;
  document.path = "/t/run.penstock";
  document.timeline = std::make_shared<const Timeline>(*BuildTimeline(*trace));
  document.trace = std::move(trace);
  document.analysis = Analyse(*document.trace, "/t/run.penstock");
  return document;
}

Document MadeRun() {
  Synthetic run;
  run.costs = Always({.read = 1, .decode = 6, .augment = 3, .step = 4});
  return Opened(SyntheticTrace(run));
}

TEST(SliceTraceTest, CutsSpansAtTheEdgesAndKeepsTheirOrder) {
  const std::shared_ptr<const traces::Trace> whole =
      testing::MakeThreads({{{0, 100, StageId::kFetch},
                             {10, 80, StageId::kSample},
                             {20, 10, StageId::kRead},
                             {60, 40, StageId::kDecode},
                             {200, 10, StageId::kFetch}}});
  const auto part = SliceTrace(whole, {50, 90});
  const std::vector<traces::Span> spans = part->Spans(ThreadId{0});
  ASSERT_EQ(spans.size(), 3U);
  EXPECT_EQ(spans[0].stage, StageId::kFetch);
  for (const traces::Span& span : spans) {
    EXPECT_GE(span.start, part->begin());
    EXPECT_LE(span.end(), part->end());
  }
  EXPECT_EQ(spans[2].stage, StageId::kDecode);
  EXPECT_EQ(spans[2].duration.value, 30);
  EXPECT_EQ(part->span_count(), 3U);
  EXPECT_EQ((part->end() - part->begin()).value, 40);
}

TEST(SliceTraceTest, SpansComeSortedFromAnyRange) {
  const Document run = MadeRun();
  std::mt19937 random(3);
  for (int round = 0; round < 20; ++round) {
    const auto a = static_cast<std::int64_t>(random()) % run.timeline->length;
    const auto b = static_cast<std::int64_t>(random()) % run.timeline->length;
    const auto part = SliceTrace(run.trace, {std::min(a, b), std::max(a, b) + 1});
    for (std::uint32_t t = 0; t < part->threads().size(); ++t) {
      const auto spans = part->Spans(ThreadId{t});
      EXPECT_TRUE(std::is_sorted(spans.begin(), spans.end(), traces::StartsBefore));
      EXPECT_EQ(spans.size(), part->threads()[t].spans);
    }
  }
}

TEST(PartOfTest, TheWholeRangeSaysWhatTheWholeSays) {
  const Document run = MadeRun();
  const Document part = PartOf(run, TimeRange{0, run.timeline->length});
  ASSERT_EQ(part.analysis->report.stages.size(), run.analysis->report.stages.size());
  for (std::size_t i = 0; i < part.analysis->report.stages.size(); ++i) {
    const analyzer::StageRow& a = part.analysis->report.stages[i];
    const analyzer::StageRow& b = run.analysis->report.stages[i];
    EXPECT_EQ(a.name, b.name);
    EXPECT_EQ(a.count, b.count);
    EXPECT_DOUBLE_EQ(a.wall, b.wall);
    EXPECT_DOUBLE_EQ(a.p99, b.p99);
  }
  EXPECT_DOUBLE_EQ(part.analysis->report.diagnosis.samples_rate,
                   run.analysis->report.diagnosis.samples_rate);
}

TEST(PartOfTest, TimesOfStagesAreThoseOfTheSelection) {
  const Document run = MadeRun();
  const TimeRange range{run.timeline->length / 3, run.timeline->length / 2};
  const Document part = PartOf(run, range);
  std::size_t compared = 0;
  for (const StageSum& sum : Aggregate(*run.timeline, range)) {
    for (const analyzer::StageRow& row : part.analysis->report.stages) {
      if (row.name != traces::StageName(sum.stage) || sum.stage == StageId::kStep) continue;
      EXPECT_NEAR(row.wall, static_cast<double>(sum.time) * 1e-9, 1e-6) << row.name;
      std::uint64_t count = 0;
      for (std::uint32_t t = 0; t < part.trace->threads().size(); ++t) {
        for (const traces::Span& span : part.trace->Spans(ThreadId{t})) {
          count += span.stage == sum.stage && span.duration.value > 0 ? 1 : 0;
        }
      }
      EXPECT_EQ(count, sum.count) << row.name;
      ++compared;
    }
  }
  EXPECT_GE(compared, 5U);
}

TEST(PartOfTest, AnyRangeHasFiniteNumbersAndTimesOfTheWhole) {
  const Document run = MadeRun();
  const double whole = static_cast<double>(run.timeline->length) * 1e-9;
  std::mt19937_64 random(5);
  for (int round = 0; round < 12; ++round) {
    const auto from =
        static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(run.timeline->length));
    const auto length = static_cast<std::int64_t>(std::pow(10, 1 + round % 9));
    const TimeRange range{from, std::min(from + length, run.timeline->length) + 1};
    const Document part = PartOf(run, range);
    const analyzer::Report& report = part.analysis->report;
    EXPECT_TRUE(std::isfinite(report.diagnosis.samples_rate));
    EXPECT_TRUE(std::isfinite(report.diagnosis.wait_fraction));
    EXPECT_NEAR(report.duration, static_cast<double>(range.length()) * 1e-9, 1e-9);
    EXPECT_NEAR(part.analysis->from, static_cast<double>(from) * 1e-9, 1e-9);
    for (const analyzer::Finding& finding : report.findings) {
      EXPECT_GE(finding.from, part.analysis->from - 1e-9) << finding.id;
      EXPECT_LE(finding.to, whole + 1e-6) << finding.id;
      EXPECT_GT(finding.to, finding.from) << finding.id;
    }
    for (const CounterTrack& track : part.analysis->counters) {
      for (const CounterPoint& point : track.points) {
        EXPECT_GE(point.at, range.from);
        EXPECT_LE(point.at, range.to);
      }
    }
  }
}

const Document* Wait(RangeAnalyst& analyst, const Document& whole, TimeRange range) {
  for (int i = 0; i < 20'000; ++i) {
    if (const Document* part = analyst.Ask(whole, range)) return part;
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  return nullptr;
}

TEST(RangeAnalystTest, AnswersTheLastQuestionAndWakes) {
  const Document run = MadeRun();
  std::atomic<int> woken{0};
  RangeAnalyst analyst([&woken] { ++woken; });
  const std::int64_t half = run.timeline->length / 2;
  for (int i = 1; i < 5; ++i) static_cast<void>(analyst.Ask(run, TimeRange{i, half}));
  const Document* part = Wait(analyst, run, {1'000, half});
  ASSERT_NE(part, nullptr);
  EXPECT_NEAR(part->analysis->from, 1e-6, 1e-12);
  EXPECT_FALSE(analyst.busy());
  // The same question again is answered at once.
  EXPECT_EQ(analyst.Ask(run, TimeRange{1'000, half}), part);
  for (int i = 0; i < 20'000 && woken == 0; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  EXPECT_GE(woken.load(), 1);
}

TEST(RangeAnalystTest, TheOldPartOfAGrowingTraceServesUntilTheNewOneIsReady) {
  Document before = MadeRun();
  before.serial = 7;
  Document now = MadeRun();
  now.serial = 7;
  RangeAnalyst analyst;
  const TimeRange range{1'000, before.timeline->length / 2};
  const Document* part = Wait(analyst, before, range);
  ASSERT_NE(part, nullptr);
  const auto old = part->trace;
  part = analyst.Ask(now, range);
  ASSERT_NE(part, nullptr) << "nothing to show while the new part is made";
  for (int i = 0; i < 20'000 && part->trace == old; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    part = analyst.Ask(now, range);
    ASSERT_NE(part, nullptr);
  }
  EXPECT_NE(part->trace, old);
  // While a part of another trace is made, the part of this trace is not returned.
  Document other = MadeRun();
  other.serial = 8;
  for (int i = 0; i < 20'000; ++i) {
    const Document* fresh = analyst.Ask(other, range);
    if (fresh == nullptr) continue;
    EXPECT_NE(fresh->trace, old);
    break;
  }
}

TEST(RangeTest, APartIsThatOfAnotherLoader) {
  const Document run = testing::DocumentOf(testing::TwoLoaders());
  EXPECT_EQ(LoaderNames(run.analysis->report),
            (std::vector<std::string>{"train.py:88", "train.py:97"}));
  EXPECT_EQ(run.analysis->report.diagnosis.run.loader().name, "train.py:88");
  RunPart other;
  other.loader = "train.py:97";
  const Document part = PartOf(run, other);
  const analyzer::Diagnosis& diagnosis = part.analysis->report.diagnosis;
  EXPECT_EQ(part.trace, run.trace);
  EXPECT_EQ(diagnosis.run.loader().name, "train.py:97");
  EXPECT_GT(diagnosis.base_rate(), 1.2 * run.analysis->report.diagnosis.base_rate());
  EXPECT_EQ(analyzer::Diagnose(*run.trace, "train.py:97").base_rate(), diagnosis.base_rate());
  other.range = TimeRange{0, run.timeline->length / 3};
  RangeAnalyst analyst;
  const Document* found = nullptr;
  while ((found = analyst.Ask(run, other)) == nullptr) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  EXPECT_LT(found->trace->span_count(), run.trace->span_count());
}

}  // namespace
}  // namespace penstock::gui
