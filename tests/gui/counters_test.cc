// SPDX-License-Identifier: Apache-2.0
#include "gui/model/counters.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <set>
#include <string_view>
#include <utility>

#include "gui/model/document.h"
#include "tests/analyzer/synthetic.h"
#include "tests/analyzer/synthetic_ranks.h"
#include "tests/gui/panels_support.h"
#include "tests/gui/support.h"

namespace penstock::gui {
namespace {

using ::testing::ElementsAre;

CounterTrack Steps() {
  return {CounterKind::kCpu, 0, {{100, 1}, {200, 3}, {300, 2}}, 3};
}

TEST(CountersTest, AValueHoldsUntilTheNext) {
  const CounterTrack track = Steps();
  EXPECT_EQ(ValueAt(track, 99), 0);
  EXPECT_EQ(ValueAt(track, 100), 1);
  EXPECT_EQ(ValueAt(track, 299), 3);
  EXPECT_EQ(ValueAt(track, 1000), 2);
}

TEST(CountersTest, ResamplingKeepsTheHighestValueOfAColumn) {
  EXPECT_THAT(Resample(Steps(), 100, 300, 2), ElementsAre(1, 3));
  EXPECT_THAT(Resample(Steps(), 0, 400, 1), ElementsAre(3));
}

TEST(CountersTest, ThinningKeepsPeaksAndPits) {
  CounterTrack track;
  for (int i = 0; i < 50'000; ++i) track.points.push_back({i * 10, 5});
  track.points[12'345].value = 100;
  track.points[43'210].value = -7;
  const std::vector<CounterPoint> thin = Thinned(track, 200);
  EXPECT_LE(thin.size(), 402U);
  EXPECT_EQ(thin.front().at, 0);
  EXPECT_EQ(thin.back().at, 499'990);
  const auto has = [&](std::int64_t at, double value) {
    return std::any_of(thin.begin(), thin.end(), [&](const CounterPoint& point) {
      return point.at == at && point.value == value;
    });
  };
  EXPECT_TRUE(has(123'450, 100));
  EXPECT_TRUE(has(432'100, -7));
  for (std::size_t i = 1; i < thin.size(); ++i) EXPECT_LT(thin[i - 1].at, thin[i].at);
}

TEST(CountersTest, KernelsOfTwoStreamsAreUnitedNotAdded) {
  // Both streams compute in the first half of every 20 ms.
  std::vector<testing::TestSpan> stream;
  for (int i = 0; i < 10; ++i) {
    stream.push_back({i * 20'000'000LL, 10'000'000, traces::StageId::kKernel});
  }
  std::vector<testing::TestSpan> other = stream;
  other.push_back({199'000'000, 1'000'000, traces::StageId::kRead});
  const auto trace = testing::MakeThreads({stream, other});
  const auto analysis = Analyse(*trace, "t");
  const auto gpu =
      std::find_if(analysis->counters.begin(), analysis->counters.end(),
                   [](const CounterTrack& track) { return track.kind == CounterKind::kGpuBusy; });
  ASSERT_NE(gpu, analysis->counters.end());
  EXPECT_TRUE(gpu->limit);
  double busy = 0;
  for (std::size_t i = 1; i < gpu->points.size(); ++i) {
    EXPECT_LE(gpu->points[i - 1].value, 1.0);
    busy +=
        gpu->points[i - 1].value * static_cast<double>(gpu->points[i].at - gpu->points[i - 1].at);
  }
  EXPECT_NEAR(busy, 100e6, 1e5);
  EXPECT_NEAR(ValueAt(*gpu, 5'000'000), 1, 1e-9);
  EXPECT_NEAR(ValueAt(*gpu, 15'000'000), 0, 1e-9);
}

// Two devices take turns: in 6 of 20 ms some device computes, and each does in 3 of them.
TEST(CountersTest, KernelsOfTwoDevicesAreAveragedAsInTheGpuView) {
  traces::TraceData data = testing::OnTwoGpus(testing::MakeGpuRun({}));
  for (traces::Span& span : data.spans.back()) span.start.value += 5'000'000;
  const auto trace = traces::MakeTrace(std::move(data));
  const auto analysis = Analyse(*trace, "t");
  const auto gpu =
      std::find_if(analysis->counters.begin(), analysis->counters.end(),
                   [](const CounterTrack& track) { return track.kind == CounterKind::kGpuBusy; });
  ASSERT_NE(gpu, analysis->counters.end());
  double busy = 0;
  for (std::size_t i = 1; i < gpu->points.size(); ++i) {
    busy +=
        gpu->points[i - 1].value * static_cast<double>(gpu->points[i].at - gpu->points[i - 1].at);
  }
  EXPECT_NEAR(busy, 100 * 3e6, 4e6);
}

TEST(CountersTest, ALastSampleThatComesTooSoonMakesNoPeak) {
  Analysis analysis;
  analyzer::CounterSeries series;
  series.name = "cpu_ns";
  for (int i = 0; i <= 10; ++i) {
    series.at.push_back(0.1 * i);
    series.value.push_back(1e8 * i);  // one core
  }
  series.at.push_back(1.003);  // 3 ms later, with CPU time that was counted late
  series.value.push_back(1e9 + 3e7);
  analysis.report.diagnosis.run.counters.push_back(series);
  const auto trace = testing::MakeThreads({{{0, 2'000'000'000, traces::StageId::kRead}}});
  const std::vector<CounterTrack> all = BuildCounters(*trace, analysis);
  const auto cpu = std::find_if(all.begin(), all.end(), [](const CounterTrack& track) {
    return track.kind == CounterKind::kCpu && track.process != CounterTrack::kAll;
  });
  ASSERT_NE(cpu, all.end());
  EXPECT_LT(cpu->most, 1.3);
  EXPECT_FALSE(cpu->limit);
  EXPECT_NEAR(cpu->points.front().value, 1, 1e-9);
  EXPECT_GT(cpu->points.back().at, 1'002'000'000);
}

// Libraries were read in the 90 ms before the first span. The first 10 ms of the timeline had shown
// 703 MB/s, where the I/O view had a peak of 190 MB/s.
TEST(CountersTest, WhatWasReadBeforeTheTraceMakesNoPeak) {
  Analysis analysis;
  analyzer::CounterSeries series;
  series.name = "disk_read_bytes";
  for (int i = 0; i <= 10; ++i) {
    series.at.push_back(0.1 * i - 0.09);
    series.value.push_back(i == 0 ? 0 : 7e7 + 1e6 * i);
  }
  analysis.report.diagnosis.run.counters.push_back(series);
  const auto trace = testing::MakeThreads({{{0, 2'000'000'000, traces::StageId::kRead}}});
  const std::vector<CounterTrack> all = BuildCounters(*trace, analysis);
  ASSERT_EQ(all.size(), 1U);
  EXPECT_EQ(all[0].kind, CounterKind::kDisk);
  EXPECT_NEAR(all[0].most, 1e7, 1);
  EXPECT_NEAR(static_cast<double>(all[0].points.front().at), 10e6, 1);
}

// The counter of a worker that starts at 0.02 s is read first at 0.1 s.
TEST(CountersTest, WhatAWorkerReadsBeforeItsFirstSampleIsInTheTrack) {
  Analysis analysis;
  analyzer::CounterSeries series;
  series.name = "disk_read_bytes";
  series.process = ProcessId{1};
  for (int i = 1; i <= 10; ++i) {
    series.at.push_back(0.1 * i);
    series.value.push_back(8e6);
  }
  analysis.report.diagnosis.run.counters.push_back(series);
  const auto trace = testing::MakeThreads({{{0, 2'000'000'000, traces::StageId::kWait}},
                                           {{20'000'000, 1'000'000'000, traces::StageId::kFetch}}});
  const std::vector<CounterTrack> all = BuildCounters(*trace, analysis);
  ASSERT_EQ(all.size(), 1U);
  EXPECT_NEAR(all[0].most, 8e6 / 0.08, 1);
  EXPECT_NEAR(static_cast<double>(all[0].points.front().at), 20e6, 1);
  EXPECT_NEAR(ValueAt(all[0], 150'000'000), 0, 1e-9);
}

// The largest rate of reads, if the counter of a worker is `before` at its first sample.
double MostRead(traces::TraceData data, double before) {
  for (int i = 0; i < 8; ++i) {
    analyzer::testing::AddCounter(data, "disk_read_bytes", 1, 1100 + 100.0 * i, before + 1e6 * i);
  }
  const auto trace = traces::MakeTrace(std::move(data));
  const auto analysis = Analyse(*trace, "t");
  for (const CounterTrack& track : analysis->counters) {
    if (track.kind == CounterKind::kDisk) return track.most;
  }
  return -1;
}

// 5 TB that a worker had read before the kept minute made a peak of 51 TB/s.
TEST(CountersTest, WhatAFlightRecorderDroppedMakesNoPeak) {
  traces::TraceData data = analyzer::testing::MakeSynthetic({});
  data.facts["record.keep_ns"] = "60000000000";
  EXPECT_NEAR(MostRead(std::move(data), 5e12), 1e7, 1);
}

TEST(CountersTest, AThreadWithoutSpansDoesNotTellWhenItsWorkerStarted) {
  traces::TraceData data = analyzer::testing::MakeSynthetic({});
  EXPECT_GT(MostRead(data, 8e6), 5e7);
  traces::ThreadInfo idle;
  idle.process = ProcessId{1};
  data.threads.push_back(idle);
  data.spans.emplace_back();
  EXPECT_GT(MostRead(std::move(data), 8e6), 5e7);
}

TEST(CountersTest, ARunUsesNoMoreThanItsCores) {
  Analysis analysis;
  analyzer::RunModel& run = analysis.report.diagnosis.run;
  run.ranks.hosts.resize(1);
  run.ranks.hosts[0].machine.cores = 2;
  for (const std::uint32_t process : {0U, 1U}) {
    analyzer::CounterSeries series;
    series.name = "cpu_ns";
    series.process = ProcessId{process};
    for (int i = 0; i <= 10; ++i) {
      series.at.push_back(0.1 * i);
      series.value.push_back(1.005e8 * i);  // counted 0.5 % too much
    }
    run.counters.push_back(series);
  }
  const auto trace = testing::MakeThreads({{{0, 2'000'000'000, traces::StageId::kRead}}});
  const std::vector<CounterTrack> all = BuildCounters(*trace, analysis);
  ASSERT_FALSE(all.empty());
  EXPECT_EQ(all[0].process, CounterTrack::kAll);
  EXPECT_EQ(all[0].most, 2);
  for (const CounterPoint& point : all[0].points) EXPECT_LE(point.value, 2);
}

TEST(CountersTest, FinishedBatchesHaveTheirLimit) {
  Analysis analysis;
  analysis.plots.queue.width = 0.1;
  analysis.plots.queue.bins = {{.at = 0.1, .mean = 1}, {.at = 0.2, .mean = 2}};
  analysis.plots.queue.most = 4;
  const auto trace = testing::MakeThreads({{{0, 2'000'000'000, traces::StageId::kRead}}});
  const std::vector<CounterTrack> all = BuildCounters(*trace, analysis);
  ASSERT_EQ(all.size(), 1U);
  EXPECT_EQ(all[0].kind, CounterKind::kReadyBatches);
  EXPECT_EQ(all[0].most, 4);
  EXPECT_TRUE(all[0].limit);
}

// "Finished batches, limit 2" of two ranks were those of rank 1 alone.
TEST(CountersTest, FinishedBatchesSayOfWhichRankAndLoaderTheyAre) {
  const CounterTrack ready{CounterKind::kReadyBatches, CounterTrack::kAll, {}, 2, true};
  const CounterTrack cpu{CounterKind::kCpu, CounterTrack::kAll, {}, 2};
  analyzer::testing::Ranked run;
  run.wait = [](int rank, int) { return rank == 1 ? 9.0 : 1.0; };
  const auto trace = traces::MakeTrace(analyzer::testing::TraceOfAll(run));
  analyzer::Report report = analyzer::BuildReport(*trace, "t");
  EXPECT_EQ(CounterTitle(ready, report, Language::kEnglish), "Finished batches  ·  rank 1");
  EXPECT_EQ(CounterTitle(cpu, report, Language::kEnglish), "CPU, cores");
  analyzer::Report single;
  single.diagnosis.run.loaders.resize(2);
  EXPECT_EQ(CounterTitle(ready, single, Language::kEnglish), "Finished batches");
  single.diagnosis.run.loaders[0].name = "train.py:88";
  single.diagnosis.run.loaders[1].name = "train.py:97";
  EXPECT_EQ(CounterTitle(ready, single, Language::kEnglish), "Finished batches  ·  train.py:88");
}

TEST(CountersTest, NothingIsDrawnBeforeTheFirstAndAfterTheLastValue) {
  EXPECT_THAT(Resample(Steps(), 0, 500, 5), ElementsAre(-1, 1, 3, 2, -1));
}

// The memory tracks of a process with 41 samples of RSS. It has samples of PSS from sample `first`
// on.
std::vector<CounterTrack> MemoryTracks(int first) {
  traces::TraceData data = analyzer::testing::MakeSynthetic({});
  for (int i = 0; i <= 40; ++i) {
    const double at = 1000 + 20.0 * i;
    analyzer::testing::AddCounter(data, "rss_bytes", 0, at, 800e6);
    if (i >= first && i < 40) analyzer::testing::AddCounter(data, "pss_bytes", 0, at, 400e6);
  }
  const auto trace = traces::MakeTrace(std::move(data));
  std::vector<CounterTrack> memory;
  const auto analysis = Analyse(*trace, "t");
  for (const CounterTrack& track : analysis->counters) {
    const bool counts = track.kind == CounterKind::kMemory || track.kind == CounterKind::kMapped;
    if (counts && track.process == CounterTrack::kAll) memory.push_back(track);
  }
  return memory;
}

TEST(CountersTest, AMemoryTrackCoversTheRunAndSaysWhatItCounts) {
  const auto late = MemoryTracks(9);
  ASSERT_EQ(late.size(), 1U);
  EXPECT_EQ(late.front().kind, CounterKind::kMapped);
  const auto whole = MemoryTracks(1);
  ASSERT_EQ(whole.size(), 1U);
  EXPECT_LE(late.front().points.size(), 41U);
  EXPECT_GE(late.front().points.size(), whole.front().points.size());
  EXPECT_EQ(whole.front().kind, CounterKind::kMemory);
  EXPECT_EQ(whole.front().most, 400'000'000);
}

// "RSS 2.00 GB" of all processes together was more memory than they took.
TEST(CountersTest, TheSumOfRssIsSaidToBeOne) {
  CounterTrack track{CounterKind::kMapped, 0, {}, 1};
  const analyzer::Report report;
  EXPECT_EQ(CounterTitle(track, report, Language::kEnglish), "RSS (resident)");
  EXPECT_EQ(CounterTitle(track, report, Language::kChinese), "常驻内存（RSS）");
  track.process = CounterTrack::kAll;
  EXPECT_EQ(CounterTitle(track, report, Language::kEnglish), "Memory (RSS), summed");
  EXPECT_EQ(CounterTitle(track, report, Language::kChinese), "常驻内存（RSS）合计");
  track.kind = CounterKind::kMemory;
  EXPECT_EQ(CounterTitle(track, report, Language::kEnglish),
            CounterTitle({CounterKind::kMemory, 0, {}, 1}, report, Language::kEnglish));
}

// The track had at most 115 MB/s, of a run whose I/O view shows 5 MB/s: workers loaded libraries.
TEST(CountersTest, DiskReadsAreSaidToCountLibrariesToo) {
  const CounterTrack track{CounterKind::kDisk, CounterTrack::kAll, {}, 1};
  EXPECT_EQ(CounterTitle(track, {}, Language::kEnglish), "Disk reads, libraries too");
  EXPECT_EQ(CounterTitle(track, {}, Language::kChinese), "磁盘读取（含程序库）");
}

// A track whose meaning changed had kept its name: 838 MB of RSS, later 425 MB of PSS.
TEST(CountersTest, EachKindHasANameOfItsOwn) {
  constexpr std::array kKinds = {CounterKind::kCpu,     CounterKind::kMemory,
                                 CounterKind::kMapped,  CounterKind::kReadyBatches,
                                 CounterKind::kGpuBusy, CounterKind::kDisk};
  for (const Language language : {Language::kEnglish, Language::kChinese}) {
    std::set<std::string_view> names;
    for (const CounterKind kind : kKinds) names.insert(TextOf(CounterName(kind), language));
    EXPECT_EQ(names.size(), kKinds.size());
  }
  CounterTrack track;
  for (const CounterKind kind : {CounterKind::kMemory, CounterKind::kMapped}) {
    track.kind = kind;
    EXPECT_EQ(CounterText(track, 838e6), "838 MB");
  }
  track.kind = CounterKind::kDisk;
  EXPECT_EQ(CounterText(track, 838e6), "838 MB/s");
}

// Workers of the first epoch end after 2 s; those of the second begin then.
TEST(CountersTest, AProcessThatEndedTakesNoMemory) {
  analyzer::testing::Synthetic run;
  run.workers = 2;
  traces::TraceData data = analyzer::testing::MakeSynthetic(run);
  for (int i = 0; i <= 40; ++i) {
    analyzer::testing::AddCounter(data, "rss_bytes", i < 20 ? 1 : 2, 1000 + 100.0 * i, 150e6);
  }
  const auto trace = traces::MakeTrace(std::move(data));
  const auto analysis = Analyse(*trace, "t");
  const auto sum = std::find_if(
      analysis->counters.begin(), analysis->counters.end(), [](const CounterTrack& track) {
        return track.kind == CounterKind::kMapped && track.process == CounterTrack::kAll;
      });
  ASSERT_NE(sum, analysis->counters.end());
  EXPECT_LE(sum->most, 150e6);
  EXPECT_EQ(sum->points.back().value, 150e6);
}

}  // namespace
}  // namespace penstock::gui
