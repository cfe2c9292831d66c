// SPDX-License-Identifier: Apache-2.0
//
// Programs without a loader: who makes the data, who waits for it, and what holds the run back.
#include "analyzer/diagnosis/feed.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "analyzer/diagnosis/diagnosis.h"
#include "analyzer/diagnosis/without_loader.h"
#include "analyzer/model/thread_use.h"
#include "analyzer/report/report.h"
#include "analyzer/words/format.h"
#include "traces/trace.h"

namespace penstock::analyzer {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using traces::Span;
using traces::StageId;

constexpr std::int64_t kFeedMs = 1'000'000;
constexpr std::int64_t kFeedStart = 1'000'000'000;

// What a thread does in each of `count` turns, in milliseconds. The rest of a turn has no span.
struct Turns {
  std::uint32_t process = 0;
  bool first = true;
  double turn = 10;
  double decode = 0;
  double augment = 0;
  double blocked = 0;
  int count = 400;
};

// Process 0 is the program; the others are its children.
traces::TraceData Program(const std::vector<Turns>& threads) {
  traces::TraceData data;
  std::uint32_t processes = 1;
  for (const Turns& thread : threads) processes = std::max(processes, thread.process + 1);
  for (std::uint32_t i = 0; i < processes; ++i) {
    traces::ProcessInfo process;
    process.pid = 100 + i;
    process.parent = i == 0 ? 1 : 100;
    data.processes.push_back(process);
  }
  std::uint32_t tid = 1000;
  for (const Turns& turns : threads) {
    traces::ThreadInfo thread;
    thread.process = ProcessId{turns.process};
    thread.tid = turns.first ? 100 + turns.process : tid++;
    std::vector<Span> spans;
    for (int i = 0; i < turns.count; ++i) {
      std::int64_t at = kFeedStart + static_cast<std::int64_t>(i * turns.turn * kFeedMs);
      const auto add = [&](StageId stage, double ms) {
        Span span;
        span.stage = stage;
        span.start = TimeNs{at};
        span.duration = TimeNs{static_cast<std::int64_t>(ms * kFeedMs)};
        span.bytes = Bytes{stage == StageId::kDecode ? 1000U : 0U};
        span.flags = stage == StageId::kBlock ? std::uint8_t{0} : wire::kFlagPython;
        if (ms > 0) spans.push_back(span);
        at += span.duration.value;
      };
      add(StageId::kDecode, turns.decode);
      add(StageId::kAugment, turns.augment);
      add(StageId::kBlock, turns.blocked);
    }
    data.threads.push_back(thread);
    data.spans.push_back(std::move(spans));
  }
  data.facts["record.root_pid"] = "100";
  return data;
}

Diagnosis FeedDiagnosis(const std::vector<Turns>& threads) {
  return Diagnose(*traces::MakeTrace(Program(threads)));
}

double GainOf(const Diagnosis& diagnosis, Factor factor) {
  for (const Gain& gain : diagnosis.gains) {
    if (gain.factor == factor) return gain.speedup;
  }
  return 0;
}

const Turns kWaitingLoop = {0, true, 10, 0, 0, 8};
const Turns kBusyMaker = {1, true, 10, 7, 3, 0};

TEST(FeedTest, LoopThatWaitsForBusyProcessesIsHeldBackByWhatTheyDo) {
  Turns other = kBusyMaker;
  other.process = 2;
  const Diagnosis found = FeedDiagnosis({kWaitingLoop, kBusyMaker, other});
  EXPECT_EQ(found.feed.doubt, FeedDoubt::kNone);
  EXPECT_EQ(found.bottleneck, Factor::kDecode);
  EXPECT_NEAR(found.wait_fraction, 0.8, 0.02);
  EXPECT_NEAR(found.samples_rate, 200, 4);
  // Without decoding, the threads that make data would take 3 ms instead of 10. The loop takes 2.
  EXPECT_NEAR(GainOf(found, Factor::kDecode), 1 / 0.3, 0.1);
  EXPECT_NEAR(GainOf(found, Factor::kAugment), 1 / 0.7, 0.05);
  EXPECT_NEAR(GainOf(found, Factor::kCompute), 1, 0.01);
  EXPECT_NEAR(found.feed.headroom, 5, 0.5);
  EXPECT_EQ(found.feed.makers, 2U);
  EXPECT_EQ(found.feed.processes, 2U);
  EXPECT_THAT(English(found.summary),
              HasSubstr("the loop waits 80 % of the time for 2 threads that make its data"));
  EXPECT_THAT(Render(found.summary, Language::kChinese), HasSubstr("2 个数据线程"));
}

// The spans have four times the CPU time that the threads of one interpreter can use together.
TEST(FeedTest, NoGainIsALoss) {
  traces::TraceData data = Program({kWaitingLoop, kBusyMaker});
  for (Span& span : data.spans[1]) span.cpu = TimeNs{4 * span.duration.value};
  for (const Gain& gain : Diagnose(*traces::MakeTrace(std::move(data))).gains) {
    EXPECT_GE(gain.speedup, 1);
  }
}

TEST(ThreadUseTest, PicturesThatOnlyRangesNameAreData) {
  traces::TraceData data = Program({kWaitingLoop, {1, true, 10, 8, 0, 0}});
  const StringId picture = data.Intern("libjpeg_turbo_decoder process #0");
  for (auto& spans : data.spans) {
    for (Span& span : spans) {
      if (span.stage != StageId::kDecode) continue;
      span.stage = StageId::kMark;
      span.name = picture;
    }
  }
  const ThreadsUse use = MeasureThreads(*traces::MakeTrace(std::move(data)));
  std::uint32_t decodes = 0;
  for (const std::uint32_t count : use.decodes) decodes += count;
  EXPECT_EQ(decodes, 400U);
}

TEST(FeedTest, MakersThatWaitForTheLoopAreNotBlamed) {
  // The loop never waits, so it has no span.
  const Diagnosis found = FeedDiagnosis({{0, true, 10, 0, 0, 0}, {1, true, 10, 2, 1, 7}});
  EXPECT_EQ(found.bottleneck, Factor::kCompute);
  EXPECT_NEAR(found.wait_fraction, 0, 0.01);
  EXPECT_NEAR(GainOf(found, Factor::kCompute), 1 / 0.3, 0.1);
  EXPECT_THAT(English(found.summary), HasSubstr("The training step holds the run back"));
}

TEST(FeedTest, ThreadThatServesTheMakersIsNotTheLoop) {
  // A thread of an executor waits and hands samples over. The first thread of that process never
  // waits.
  const Diagnosis found = FeedDiagnosis({{0, false, 10, 0, 0, 9}, {1, true, 10, 2, 1, 7}});
  EXPECT_EQ(found.bottleneck, Factor::kCompute);
  EXPECT_NEAR(found.wait_fraction, 0, 0.01);
}

TEST(FeedTest, LoopMayBeAThreadThatTheFirstOneWaitsFor) {
  const Turns joins = {0, true, 4000, 0, 0, 4000, 1};
  const Turns loop = {0, false, 10, 0, 0, 6};
  const Diagnosis found = FeedDiagnosis({joins, loop, {0, false, 10, 9, 1, 0}});
  EXPECT_EQ(found.bottleneck, Factor::kDecode);
  EXPECT_NEAR(found.wait_fraction, 0.6, 0.02);
}

TEST(FeedTest, LoopThatMakesItsDataItselfIsToldSo) {
  const Diagnosis found = FeedDiagnosis({{0, true, 10, 6, 1, 0}});
  EXPECT_EQ(found.bottleneck, Factor::kDecode);
  EXPECT_NEAR(found.wait_fraction, 0.7, 0.02);
  EXPECT_NEAR(GainOf(found, Factor::kDecode), 2.5, 0.1);
  EXPECT_NEAR(found.feed.headroom, 1 / 0.3, 0.1);
  EXPECT_THAT(English(found.summary),
              HasSubstr("the loop makes its data itself, 70 % of the time"));
}

TEST(FeedTest, LoopThatMakesItsDataInTheLesserPartIsNotToldOfItsStepAlone) {
  const Diagnosis found = FeedDiagnosis({{0, true, 10, 3, 1, 0}});
  EXPECT_EQ(found.bottleneck, Factor::kCompute);
  EXPECT_NEAR(found.feed.headroom, 1 / 0.6, 0.05);
  const std::string verdict = English(found.summary);
  EXPECT_THAT(verdict, HasSubstr("Data and the rest of the loop take turns at "));
  // Each ratio has its own rate.
  const double headroom = found.feed.headroom;
  const double gain = GainOf(found, Factor::kCompute);
  EXPECT_THAT(verdict, HasSubstr(TimesText(headroom) + "x as fast (" +
                                 ShortNumber(found.feed.rate * headroom) + "), without the rest " +
                                 TimesText(gain) + "x (" + ShortNumber(found.feed.rate * gain)));
}

TEST(FeedTest, LoopThatMakesItsDataItselfIsToldWhatWorkersGainAtMost) {
  const Diagnosis alone = FeedDiagnosis({{0, true, 10, 3, 1, 0}});
  EXPECT_THAT(English(alone.needs),
              HasSubstr("run at most " + TimesText(alone.feed.headroom) + " times as fast"));
  const auto trace = traces::MakeTrace(Program({{0, true, 10, 3, 1, 0}}));
  EXPECT_THAT(ReportBrief(BuildReport(*trace, "t"), Colour::kOff),
              HasSubstr("advice       not enough: needs the batches of a loader, and this loop"));
  EXPECT_THAT(English(FeedDiagnosis({kWaitingLoop, kBusyMaker}).needs),
              Not(HasSubstr("at most")));  // it has threads that make its data
}

TEST(FeedTest, FirstThreadThatOnlyWaitsIsNotTakenForALoopThatNeverDoes) {
  const Turns joins = {0, true, 4000, 0, 0, 4000, 1};
  const Diagnosis found = FeedDiagnosis({joins, {0, false, 10, 7, 1, 2}});
  EXPECT_EQ(found.feed.doubt, FeedDoubt::kNoLoop);
}

TEST(FeedTest, BothWaitingForEachOtherIsTheQueue) {
  const Diagnosis found = FeedDiagnosis({{0, true, 10, 0, 0, 5}, {1, true, 10, 5, 0, 5}});
  EXPECT_EQ(found.bottleneck, Factor::kPrefetch);
  EXPECT_NEAR(GainOf(found, Factor::kPrefetch), 2, 0.1);
}

TEST(FeedTest, MakersAtWorkWithoutAnyoneSeenToWaitAreNoVerdict) {
  const Diagnosis found = FeedDiagnosis({{1, true, 10, 9, 1, 0}, {2, true, 10, 9, 1, 0}});
  EXPECT_NE(found.feed.doubt, FeedDoubt::kNone);
  EXPECT_EQ(found.wait_fraction, 0);
  EXPECT_THAT(English(found.summary), HasSubstr("so whether it holds the run back is not known"));
}

// A thread makes half of the data and keeps pace with the loop, so that neither waits.
TEST(FeedTest, LoopThatMakesDataMostOfTheTimeNeedsNoWait) {
  const Turns half = {0, false, 10, 9, 1, 0};
  const Diagnosis found = FeedDiagnosis({{0, true, 10, 8, 1, 0}, half});
  EXPECT_EQ(found.feed.doubt, FeedDoubt::kNone);
  EXPECT_EQ(found.bottleneck, Factor::kDecode);
  EXPECT_NEAR(found.wait_fraction, 0.9, 0.02);
  EXPECT_EQ(found.feed.makers, 1U);
  // A loop that makes data only now and then may wait in calls that are not recorded.
  EXPECT_EQ(FeedDiagnosis({{0, true, 10, 2, 1, 0}, half}).feed.doubt, FeedDoubt::kNoBlock);
}

// A loop transforms its inputs for 3 of 10 ms, outside of any sample.
TEST(FeedTest, TransformsOutsideOfSamplesAreNoMoreThanTheirShare) {
  const Diagnosis found = FeedDiagnosis({{0, true, 10, 0, 3, 0}});
  EXPECT_NEAR(found.run.data_life, 4, 0.02);
  const auto gains = GainsByThreadTime(found.run.stages, found.run.data_life);
  ASSERT_FALSE(gains.empty());
  EXPECT_NEAR(gains.front().speedup, 1 / 0.7, 0.01);
}

TEST(FeedTest, FewSamplesAreNoVerdict) {
  Turns maker = kBusyMaker;
  Turns loop = kWaitingLoop;
  maker.count = loop.count = 40;
  const Diagnosis found = FeedDiagnosis({loop, maker});
  EXPECT_EQ(found.feed.doubt, FeedDoubt::kFew);
  EXPECT_THAT(English(found.summary), HasSubstr("64 are needed"));
}

TEST(FeedTest, RateLeavesOutTheStart) {
  std::vector<Turns> threads = {kWaitingLoop, kBusyMaker};
  traces::TraceData data = Program(threads);
  Span import;
  import.stage = StageId::kMark;
  import.start = TimeNs{0};
  import.duration = TimeNs{kFeedStart};
  data.spans[0].insert(data.spans[0].begin(), import);
  const Diagnosis found = Diagnose(*traces::MakeTrace(data));
  EXPECT_NEAR(found.samples_rate, 100, 2);
  EXPECT_LT(found.whole_rate, 85);
}

}  // namespace
}  // namespace penstock::analyzer
