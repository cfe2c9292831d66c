// SPDX-License-Identifier: Apache-2.0
//
// Recordings that are short, cut, skewed or without a loader, or that lack some spans. The report
// has little confidence or says "not enough: needs ...", and makes no figure up.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "analyzer/predict/predict.h"
#include "analyzer/report/compare.h"
#include "analyzer/report/html_data.h"
#include "analyzer/report/html_report.h"
#include "analyzer/report/limits.h"
#include "analyzer/report/report.h"
#include "analyzer/whatif/grid.h"
#include "analyzer/words/limits.h"
#include "tests/analyzer/synthetic.h"
#include "tests/traces/support.h"
#include "traces/pack.h"

namespace penstock::analyzer::testing {
namespace {

using traces::Span;
using traces::StageId;
using traces::TraceData;

// Two workers whose decoding cannot keep up with a step of 4 ms.
Synthetic Starved(int batches = 200) {
  Synthetic run;
  run.batches = batches;
  Costs costs;
  costs.decode = 20;
  run.costs = [costs](int, int index) {
    Costs one = costs;
    one.decode += index % 7;
    return one;
  };
  return run;
}

Report ReportOf(TraceData data) {
  return BuildReport(*traces::MakeTrace(std::move(data)), "t");
}

void Pack(const TraceData& data, const std::filesystem::path& path) {
  auto created = traces::CreatePacked(path);
  ASSERT_TRUE(created);
  traces::Packer& out = **created;
  for (const auto& [key, value] : data.facts) out.SetFact(key, value);
  for (const auto& process : data.processes) static_cast<void>(out.AddProcess(process));
  for (const auto& thread : data.threads) static_cast<void>(out.AddThread(thread));
  for (const traces::Event& event : data.events) out.AddEvent(event);
  for (std::uint32_t i = 0; i < data.spans.size(); ++i) {
    for (Span span : data.spans[i]) {
      span.name = out.Intern(data.strings[span.name.value]);
      out.AddSpan(ThreadId{i}, span);
    }
  }
  ASSERT_TRUE(out.Finish());
}

// What a report says in all its forms.
std::string Everything(const Report& report) {
  return ReportText(report, Colour::kOff, Detail::kAll) + ReportBrief(report, Colour::kOff) +
         ReportJson(report);
}

// Checks that every form of the report says that its trace holds too little, and predicts nothing.
void ExpectNotEnough(const Report& report) {
  const Diagnosis& diagnosis = report.diagnosis;
  EXPECT_EQ(English(diagnosis.needs).rfind("not enough: needs", 0), 0u) << English(diagnosis.needs);
  EXPECT_LE(diagnosis.confidence, 0.35);
  for (const Finding& finding : report.findings) EXPECT_FALSE(finding.predicted) << finding.id;
  if (diagnosis.loader) {
    EXPECT_FALSE(diagnosis.loader->suggestion.changes);
  }
  const std::string text = ReportText(report, Colour::kOff, Detail::kAll);
  EXPECT_EQ(text.find("if free"), std::string::npos) << text;
  EXPECT_EQ(text.find("predicted"), std::string::npos) << text;
  EXPECT_NE(ReportJson(report).find("\"needs\": \"not enough"), std::string::npos);
  EXPECT_FALSE(PredictGrid(diagnosis, {}));
}

TEST(LimitsTest, OneBatchIsNotEnough) {
  const Report report = ReportOf(MakeSynthetic(Starved(1)));
  ExpectNotEnough(report);
  EXPECT_NE(English(report.diagnosis.summary).find("Not enough: needs 16 batches"),
            std::string::npos)
      << English(report.diagnosis.summary);
}

// A single wait does not tell how long one turn of the loop takes, with or without seen workers.
TEST(LimitsTest, OneBatchHasNoRate) {
  for (const bool workers_seen : {true, false}) {
    TraceData data = MakeSynthetic(Starved(1));
    for (std::uint32_t i = 0; i < data.threads.size() && !workers_seen; ++i) {
      if (data.processes[data.threads[i].process.value].worker_id >= 0) data.spans[i].clear();
    }
    const Report report = ReportOf(std::move(data));
    EXPECT_EQ(report.diagnosis.samples_rate, 0);
    EXPECT_EQ(report.diagnosis.whole_rate, 0);
    const std::string text = Everything(report);
    EXPECT_NE(text.find("not known: no batch followed another"), std::string::npos) << text;
    EXPECT_EQ(text.find("samples/s,"), std::string::npos) << text;
    EXPECT_EQ(text.find("of the loop"), std::string::npos) << text;
  }
}

TEST(LimitsTest, TenBatchesAreAHint) {
  const Report report = ReportOf(MakeSynthetic(Starved(10)));
  ExpectNotEnough(report);
  EXPECT_EQ(report.diagnosis.bottleneck, Factor::kDecode);
  EXPECT_NE(English(report.diagnosis.summary).find("As a hint: decode"), std::string::npos);
}

TEST(LimitsTest, TheSimulationOfAFewBatchesIsNotSaidToRepeatThem) {
  const Report report = ReportOf(MakeSynthetic(Starved(6)));
  ASSERT_FALSE(report.diagnosis.loader->steady.steady);
  const std::string text = Everything(report);
  EXPECT_NE(text.find("confidence "), std::string::npos) << text;
  EXPECT_EQ(text.find("simulation repeats"), std::string::npos) << text;
}

// As in a file of another tool that does not show how batches are made.
TEST(LimitsTest, NoSimulationRepeatsBatchesWhoseMakingWasNotSeen) {
  TraceData data = MakeSynthetic(Starved());
  for (std::uint32_t i = 0; i < data.threads.size(); ++i) {
    if (data.processes[data.threads[i].process.value].worker_id >= 0) data.spans[i].clear();
  }
  const auto trace = traces::MakeTrace(std::move(data));
  const Report report = BuildReport(*trace, "t");
  ASSERT_EQ(report.diagnosis.loader->fetched, 0);
  ASSERT_TRUE(report.diagnosis.loader->steady.steady);
  const std::string page = ReportHtml(report, BuildPlots(*trace, report), Language::kEnglish);
  for (const std::string& said : {Everything(report), page}) {
    EXPECT_NE(said.find("confidence "), std::string::npos) << said;
    EXPECT_EQ(said.find("simulation repeats"), std::string::npos) << said;
  }
}

TEST(LimitsTest, TwentyBatchesAreLessSureThanTwoHundred) {
  const Report few = ReportOf(MakeSynthetic(Starved(20)));
  const Report many = ReportOf(MakeSynthetic(Starved(200)));
  EXPECT_EQ(few.diagnosis.bottleneck, Factor::kDecode);
  EXPECT_EQ(many.diagnosis.bottleneck, Factor::kDecode);
  EXPECT_LT(few.diagnosis.confidence, 0.9 * many.diagnosis.confidence);
}

TEST(LimitsTest, NoBatchesHaveNoRate) {
  for (const int epochs : {0, 1}) {
    Synthetic run = Starved(0);
    run.epochs = epochs;
    const Report report = ReportOf(MakeSynthetic(run));
    EXPECT_EQ(report.diagnosis.confidence, 0);
    EXPECT_EQ(report.diagnosis.samples_rate, 0);
    const std::string text = ReportText(report, Colour::kOff);
    EXPECT_NE(text.find("not known"), std::string::npos) << text;
    EXPECT_NE(text.find("Not enough"), std::string::npos) << text;
    EXPECT_EQ(text.find("0.00"), std::string::npos) << text;
  }
}

// The file lost the second half of what worker 1 did.
TraceData CutRun() {
  TraceData data = MakeSynthetic(Starved());
  const std::int64_t half = traces::MakeTrace(data)->end().value / 2;
  const auto is_lost = [&](ThreadId thread, std::int64_t at) {
    return data.processes[data.threads[thread.value].process.value].worker_id == 1 && at > half;
  };
  for (std::uint32_t i = 0; i < data.spans.size(); ++i) {
    std::erase_if(data.spans[i],
                  [&](const Span& span) { return is_lost(ThreadId{i}, span.end().value); });
  }
  std::erase_if(data.events,
                [&](const traces::Event& event) { return is_lost(event.thread, event.at.value); });
  data.losses.truncated = true;
  return data;
}

TEST(LimitsTest, WhatACutFileLostIsNoIdleTime) {
  TraceData data = CutRun();
  EXPECT_GT(ReportOf(data).diagnosis.loader->signals.worker_busy, 0.95);
  data.losses.truncated = false;  // then the worker did nothing for half of the time
  EXPECT_LT(ReportOf(data).diagnosis.loader->signals.worker_busy, 0.8);
}

// The end of a worker without a whole fetch was taken for the smallest time: its life overflowed.
TEST(LimitsTest, AWorkerWithoutAWholeFetchLeavesTheShareOfTheOthers) {
  TraceData data = CutRun();
  for (std::uint32_t i = 0; i < data.spans.size(); ++i) {
    if (data.processes[data.threads[i].process.value].worker_id != 1) continue;
    std::erase_if(data.spans[i], [](const Span& span) { return span.stage == StageId::kFetch; });
  }
  const Report report = ReportOf(std::move(data));
  EXPECT_GT(report.diagnosis.loader->signals.worker_busy, 0.9);
  EXPECT_LE(report.diagnosis.loader->signals.worker_busy, 1.001);
}

TEST(LimitsTest, ACutFileSaysWhatItHasOfEachProcess) {
  const Report report = ReportOf(CutRun());
  const std::string text = ReportText(report, Colour::kOff);
  EXPECT_NE(text.find("with no calls of worker 1 after"), std::string::npos) << text;
  const Statement lost = Lost(report.losses, report.diagnosis.run);
  ASSERT_TRUE(lost.Is(words::kEndsEarly));
  const std::string chinese = Render(lost, Language::kChinese);
  EXPECT_NE(chinese.find("工作进程 1"), std::string::npos) << chinese;
}

// The bytes per second fell by half where the records of worker 1 end, without a mark.
TEST(LimitsTest, ACutFileLacksAWorkerFromItsLastRecordOn) {
  const Report report = ReportOf(CutRun());
  const RunModel& run = report.diagnosis.run;
  const auto end = FirstRecordsEnd(run);
  ASSERT_TRUE(end);
  EXPECT_EQ(end->worker, 1);
  EXPECT_GT(end->at, 0.2 * run.duration());
  EXPECT_LT(end->at, 0.6 * run.duration());
  EXPECT_FALSE(FirstRecordsEnd(ReportOf(MakeSynthetic(Starved())).diagnosis.run));
}

// From there on, finished batches of worker 1 were missing in the curve, which looked whole.
TEST(LimitsTest, FinishedBatchesEndWhereAWorkersRecordsEnd) {
  const auto trace = traces::MakeTrace(CutRun());
  const Report report = BuildReport(*trace, "t");
  const auto end = FirstRecordsEnd(report.diagnosis.run);
  ASSERT_TRUE(end);
  const QueueDepth queue = BuildPlots(*trace, report).queue;
  ASSERT_FALSE(queue.bins.empty());
  EXPECT_LE(queue.bins.back().at, end->at);
  EXPECT_GT(queue.bins.back().at, 0.8 * end->at);
}

// Worker 1 was recorded up to a time at which none of its batches had been delivered for long.
TEST(LimitsTest, TheLastRecordOfAProcessIsNotThatOfADeliveredBatch) {
  TraceData data = CutRun();
  const std::int64_t end = traces::MakeTrace(data)->end().value;
  const std::int64_t begin = traces::MakeTrace(data)->begin().value;
  for (std::uint32_t i = 0; i < data.spans.size(); ++i) {
    if (data.processes[data.threads[i].process.value].worker_id != 1) continue;
    Span idle;
    idle.stage = StageId::kIdle;
    idle.start = TimeNs{begin + (end - begin) * 3 / 4};
    idle.duration = TimeNs{1000};
    data.spans[i].push_back(idle);
  }
  const Report report = ReportOf(std::move(data));
  const Statement said = Say<words::kNothingAfter>(
      GiveIf<"worker">(true, 1), Give<"at">(Seconds(TimeNs{(end - begin) * 3 / 4 + 1000})));
  const std::string lost = English(Lost(report.losses, report.diagnosis.run));
  EXPECT_NE(lost.find(English(said)), std::string::npos) << English(said) << ": " << lost;
}

// The last span of a worker ended at 4.71 s, and a lone event of it at 5.62 s set the time.
TEST(LimitsTest, AnEventAfterTheGapIsNotTheEndOfAProcess) {
  TraceData data = CutRun();
  const auto whole = traces::MakeTrace(data);
  traces::Event event;
  event.type = traces::EventType::kIndexReceived;
  event.at = TimeNs{whole->end().value - 1000};
  for (std::uint32_t i = 0; i < data.threads.size(); ++i) {
    if (data.processes[data.threads[i].process.value].worker_id == 1) event.thread = ThreadId{i};
  }
  data.events.push_back(event);
  std::sort(data.events.begin(), data.events.end(),
            [](const traces::Event& a, const traces::Event& b) { return a.at < b.at; });
  const Report before = ReportOf(CutRun());
  const Report after = ReportOf(std::move(data));
  EXPECT_EQ(English(Lost(after.losses, after.diagnosis.run)),
            English(Lost(before.losses, before.diagnosis.run)));
}

// "It has 40 batches" stood above 20 and 16 batches of its two workers.
TEST(LimitsTest, ACutFileSaysOfHowManyBatchesItHasTheMaking) {
  TraceData data = CutRun();
  data.processes[0].facts["loader.0.dataset_len"] = "800";
  const Report report = ReportOf(std::move(data));
  const LoaderRun& run = report.diagnosis.run.loader();
  std::uint64_t made = 0;
  for (const WorkerRun& worker : run.workers) made += worker.batches;
  ASSERT_LT(made, run.batches.size());
  const std::string lost = English(Lost(report.losses, report.diagnosis.run));
  const std::string said = std::to_string(made) + " of them with how they were made";
  EXPECT_NE(lost.find(said), std::string::npos) << said << ": " << lost;
}

// One batch has lost its fetch, and still has its samples.
TEST(LimitsTest, ABatchThatACutFileHasInPartCountsForNoWorker) {
  TraceData data = MakeSynthetic(Starved());
  const auto batches = [](const TraceData& of) {
    std::uint64_t count = 0;
    const Report report = ReportOf(of);
    for (const WorkerRun& worker : report.diagnosis.run.loader().workers) count += worker.batches;
    return count;
  };
  const std::uint64_t whole = batches(data);
  for (std::vector<Span>& spans : data.spans) {
    const auto fetch = std::find_if(spans.begin(), spans.end(), [](const Span& span) {
      return span.stage == StageId::kFetch && span.batch.index == 10;
    });
    if (fetch != spans.end()) spans.erase(fetch);
  }
  EXPECT_EQ(batches(data), whole);
  data.losses.truncated = true;
  EXPECT_EQ(batches(data), whole - 1);
}

// The bar of worker 1 ended in 3 % of "other" time, and that of worker 0 did not: both were making
// a batch when the file ended, but only that of worker 1 had been delivered.
TEST(LimitsTest, AWorkersLifeEndsWithTheLastBatchThatACutFileHasWhole) {
  TraceData data = MakeSynthetic(Starved());
  const auto lives = [&] {
    std::vector<double> found;
    const Report report = ReportOf(data);
    for (const WorkerRun& worker : report.diagnosis.run.loader().workers) {
      found.push_back(Seconds(TimeNs{worker.last - worker.first}) - worker.busy - worker.idle);
    }
    return found;
  };
  const std::vector<double> whole = lives();
  ASSERT_EQ(whole.size(), 2u);
  for (std::vector<Span>& spans : data.spans) {
    const auto fetch = std::find_if(spans.rbegin(), spans.rend(),
                                    [](const Span& span) { return span.stage == StageId::kFetch; });
    if (fetch == spans.rend()) continue;
    spans.erase(std::next(fetch).base());
    break;  // the other worker keeps its last fetch
  }
  data.losses.truncated = true;
  const std::vector<double> cut = lives();
  ASSERT_EQ(cut.size(), 2u);
  for (std::size_t i = 0; i < cut.size(); ++i) EXPECT_NEAR(cut[i], whole[i], 1e-3) << i;
}

// If one span in a hundred is lost, the bottleneck stays the same, and the figures change little.
TEST(LimitsTest, OneSpanInAHundredMayBeMissing) {
  const Report whole = ReportOf(MakeSynthetic(Starved()));
  for (const unsigned seed : {1u, 2u, 3u}) {
    TraceData data = MakeSynthetic(Starved());
    // The agent also writes an event when next() is entered.
    for (std::uint32_t i = 0; i < data.spans.size(); ++i) {
      for (const Span& span : data.spans[i]) {
        if (span.stage != StageId::kWait) continue;
        traces::Event entered;
        entered.type = traces::EventType::kNextEntered;
        entered.at = span.start;
        entered.thread = ThreadId{i};
        entered.batch = span.batch;
        data.events.push_back(entered);
      }
    }
    std::mt19937 random(seed);
    for (std::vector<Span>& spans : data.spans) {
      std::erase_if(spans, [&](const Span&) { return random() % 100 == 0; });
    }
    const Report report = ReportOf(std::move(data));
    EXPECT_EQ(report.diagnosis.bottleneck, whole.diagnosis.bottleneck);
    EXPECT_NEAR(report.diagnosis.samples_rate / whole.diagnosis.samples_rate, 1, 0.02);
    EXPECT_LT(std::abs(report.diagnosis.loader->replay.error()), 0.05);
    EXPECT_NEAR(report.diagnosis.loader->suggestion.workers,
                whole.diagnosis.loader->suggestion.workers, 1);
  }
}

// The clocks of two processes differ by a millisecond, as across machines.
TEST(LimitsTest, ClocksMayDifferByAMillisecond) {
  const Report whole = ReportOf(MakeSynthetic(Starved()));
  for (const std::int64_t skew : {-1'000'000, 1'000'000}) {
    TraceData data = MakeSynthetic(Starved());
    const auto moved = [&](ThreadId thread) {
      return data.processes[data.threads[thread.value].process.value].worker_id == 1;
    };
    for (std::uint32_t i = 0; i < data.threads.size(); ++i) {
      if (!moved(ThreadId{i})) continue;
      for (Span& span : data.spans[i]) span.start.value += skew;
    }
    for (traces::Event& event : data.events) {
      if (moved(event.thread)) event.at.value += skew;
    }
    const Report report = ReportOf(std::move(data));
    EXPECT_EQ(report.diagnosis.bottleneck, whole.diagnosis.bottleneck);
    EXPECT_LT(std::abs(report.diagnosis.loader->replay.error()), 0.1);
    EXPECT_EQ(report.diagnosis.loader->suggestion.workers,
              whole.diagnosis.loader->suggestion.workers);
  }
}

// The workers' spans end early, the training process's do not. If 70 % of the workers' spans are
// there, the missing ones are assumed to be like the others. With only 30 %, nothing is predicted.
// A profile of the loop alone, six batches long, that ends within a step: neither the workers nor
// the end of the last step were seen.
TraceData LoopAlone() {
  Synthetic run = Starved();
  run.batches = 6;
  run.costs = testing::Always({.step = 50});
  TraceData data = MakeSynthetic(run);
  for (std::size_t i = 1; i < data.spans.size(); ++i) data.spans[i].clear();
  data.spans[0].resize(data.spans[0].size() - 2);  // without the last step and the wait after it
  return data;
}

TEST(LimitsTest, AStepWhoseEndWasNotSeenCountsInNoRate) {
  const Diagnosis diagnosis = ReportOf(LoopAlone()).diagnosis;
  EXPECT_LT(diagnosis.whole_rate, diagnosis.samples_rate);
  EXPECT_GT(diagnosis.whole_rate, 0.85 * diagnosis.samples_rate);
}

TEST(LimitsTest, AStepWhoseEndWasNotSeenIsAsLongAsOthersInTheModel) {
  const Diagnosis diagnosis = ReportOf(LoopAlone()).diagnosis;
  EXPECT_NEAR(diagnosis.loader->pipeline.epochs.front().batches.back().step, 0.05, 1e-3);
  EXPECT_NEAR(CeilingRate(diagnosis.loader->pipeline, diagnosis.loader->replay),
              diagnosis.samples_rate, 0.05 * diagnosis.samples_rate);
}

TEST(LimitsTest, TheErrorOfTheReplayIsNotTakenOffTheStepAlone) {
  const Diagnosis diagnosis = ReportOf(MakeSynthetic(Starved())).diagnosis;
  const Pipeline& pipeline = diagnosis.loader->pipeline;
  const double measured = diagnosis.samples_rate;
  const double exact = CeilingRate(pipeline, ReplayOf(pipeline, pipeline, measured));
  const double off = CeilingRate(pipeline, ReplayOf(pipeline, pipeline, 0.9 * measured));
  ASSERT_GT(exact, measured);
  EXPECT_NEAR(off, exact, 1e-6 * exact);
}

TEST(LimitsTest, NoGainIsNamedWhereNothingIsPredicted) {
  const Diagnosis diagnosis = ReportOf(LoopAlone()).diagnosis;
  ASSERT_FALSE(diagnosis.needs.empty());
  EXPECT_EQ(diagnosis.bottleneck, Factor::kCompute);
  EXPECT_TRUE(diagnosis.gains.empty());
  EXPECT_LT(diagnosis.headroom(), 1.02);  // the loop hardly waits
  const std::string verdict = English(diagnosis.summary);
  EXPECT_NE(verdict.find("the training step holds the run back"), std::string::npos) << verdict;
  EXPECT_EQ(verdict.find("x as fast"), std::string::npos) << verdict;
}

TEST(LimitsTest, WorkersThatEndInTheMiddleAreNotTakenForFast) {
  for (const double part : {0.7, 0.3}) {
    TraceData data = MakeSynthetic(Starved());
    for (std::uint32_t i = 0; i < data.threads.size(); ++i) {
      if (data.processes[data.threads[i].process.value].worker_id < 0) continue;
      auto& spans = data.spans[i];
      spans.resize(static_cast<std::size_t>(part * static_cast<double>(spans.size())));
    }
    const Report report = ReportOf(std::move(data));
    if (part < 0.5) {
      ExpectNotEnough(report);
      EXPECT_EQ(English(report.diagnosis.summary).find("x as fast"), std::string::npos);
    } else {
      EXPECT_EQ(report.diagnosis.bottleneck, Factor::kDecode);
      EXPECT_LT(std::abs(report.diagnosis.loader->replay.error()), 0.1);
    }
  }
}

// Every third batch decodes five times as long, and its spans are lost. The simulation takes it for
// an ordinary batch, so it does not explain the run, and no gain is told.
TEST(LimitsTest, ARunThatTheSimulationDoesNotExplainHasNoGain) {
  Synthetic run = Starved();
  run.workers = 1;
  run.costs = [](int, int index) { return Costs{.decode = index % 3 == 2 ? 100.0 : 20.0}; };
  TraceData data = MakeSynthetic(run);
  for (std::uint32_t i = 0; i < data.threads.size(); ++i) {
    if (data.processes[data.threads[i].process.value].worker_id < 0) continue;
    std::erase_if(data.spans[i], [](const Span& span) { return span.batch.index % 3 == 2; });
  }
  const Report report = ReportOf(std::move(data));
  const LoaderDiagnosis& loader = *report.diagnosis.loader;
  EXPECT_GT(loader.fetched, 0.5);
  ASSERT_GT(std::abs(loader.replay.error()), kUselessReplay);
  const std::string summary = English(report.diagnosis.summary);
  EXPECT_EQ(summary.find("x as fast"), std::string::npos) << summary;
  const std::string needs = English(report.diagnosis.needs);
  EXPECT_EQ(needs.find("the simulation does not match this run"), 0u) << needs;
  EXPECT_FALSE(loader.suggestion.changes);
  for (const Finding& finding : report.findings) EXPECT_FALSE(finding.predicted) << finding.id;
  EXPECT_EQ(ReportText(report, Colour::kOff, Detail::kAll).find("if free"), std::string::npos);
  EXPECT_FALSE(PredictGrid(report.diagnosis, {}));
}

// Files are cut at many places, or bytes of them are damaged. If such a file can be opened, its
// report is close to the whole file's report, or says that the data is not enough.
TEST(LimitsTest, DamagedFilesAreToldAndNotBelieved) {
  Synthetic run = Starved(1200);
  run.batch_size = 64;  // each thread has several blocks of spans
  const Report whole = ReportOf(MakeSynthetic(run));
  const traces::testing::TempFolder folder;
  Pack(MakeSynthetic(run), folder / "t");
  const auto bytes = traces::testing::ReadFile(folder / "t");
  std::mt19937 random(7);
  for (int trial = 0; trial < 24; ++trial) {
    auto damaged = bytes;
    if (trial % 2 == 0) {
      damaged.resize(bytes.size() * static_cast<std::size_t>(trial + 1) / 25);
    } else {
      for (int k = 0; k < 3; ++k) damaged[random() % damaged.size()] ^= std::byte{0x40};
    }
    const auto trace = traces::OpenTraceBytes(std::move(damaged), "t");
    if (!trace) continue;
    const Report report = BuildReport(**trace, "t");
    const Diagnosis& diagnosis = report.diagnosis;
    if (!diagnosis.needs.empty()) {
      EXPECT_LE(diagnosis.confidence, 0.5);
      continue;
    }
    EXPECT_NEAR(diagnosis.samples_rate / whole.diagnosis.samples_rate, 1, 0.15) << trial;
    EXPECT_EQ(diagnosis.bottleneck, whole.diagnosis.bottleneck) << trial;
    EXPECT_FALSE(Everything(report).empty());
  }
}

// A program with threads that decode, but without a loader that Penstock knows. `busy`: the share
// of a thread's time that decoding takes.
TraceData ForeignThreads(int threads, double busy, bool opens) {
  TraceData data;
  traces::ProcessInfo process;
  process.pid = 1;
  process.command = {"decode", "photos"};
  data.processes.push_back(process);
  for (int t = 0; t < threads; ++t) {
    traces::ThreadInfo info;
    info.tid = static_cast<std::uint32_t>(t + 1);
    data.threads.push_back(info);
    data.spans.emplace_back();
    for (int i = 0; i < 500; ++i) {
      Span span;
      span.stage = StageId::kDecode;
      span.start = Ms(10.0 * i);
      span.duration = Ms(10 * busy);
      span.bytes = Bytes{500'000};
      if (opens) {
        Span open = span;
        open.duration = Ms(0.1);
        open.bytes = Bytes{};
        data.spans.back().push_back(open);
        span.start = Ms(10.0 * i + 0.1);
      }
      data.spans.back().push_back(span);
    }
  }
  return data;
}

TEST(LimitsTest, ForeignProgramIsNeverFirm) {
  const Report report = ReportOf(ForeignThreads(2, 0.9, false));
  EXPECT_EQ(report.diagnosis.bottleneck, Factor::kDecode);
  EXPECT_LE(report.diagnosis.confidence, 0.5);
  EXPECT_NE(English(report.diagnosis.summary).find("no loader was seen"), std::string::npos);
  EXPECT_FALSE(PredictGrid(report.diagnosis, {}));
  EXPECT_FALSE(Compare(Baseline{report.diagnosis, "a"}, Candidate{report.diagnosis, "b"}));
}

// A trace of a device alone: copies are not the data path, and no rate is made up.
TEST(LimitsTest, CopiesAloneNameNothing) {
  TraceData data = ForeignThreads(1, 0.9, false);
  for (Span& span : data.spans.front()) span.stage = StageId::kH2d;
  const Report report = ReportOf(std::move(data));
  EXPECT_EQ(report.diagnosis.bottleneck, Factor::kNone);
  EXPECT_TRUE(report.diagnosis.gains.empty());
  const std::string text = Everything(report);
  EXPECT_NE(text.find("Not enough: no loader and no decoding was seen"), std::string::npos) << text;
  EXPECT_EQ(text.find("images/s"), std::string::npos) << text;
}

// Each image has two decode spans: one that opens it, and one that decodes its pixels.
TEST(LimitsTest, ImagesAreCountedOnce) {
  const Report report = ReportOf(ForeignThreads(1, 0.5, true));
  EXPECT_NEAR(report.diagnosis.samples_rate, 100, 1);
  EXPECT_NE(Everything(report).find("images/s"), std::string::npos);
}

// If a loop decodes for only a tenth of its time, free decoding saves at most a tenth of its time.
TEST(LimitsTest, GainOfALoopWithoutLoaderIsBoundByItsTime) {
  const Report report = ReportOf(ForeignThreads(1, 0.1, false));
  ASSERT_FALSE(report.diagnosis.gains.empty());
  EXPECT_LT(report.diagnosis.gains.front().speedup, 1.13);
  EXPECT_LT(report.diagnosis.confidence, 0.1);
}

}  // namespace
}  // namespace penstock::analyzer::testing
