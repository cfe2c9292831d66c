// SPDX-License-Identifier: Apache-2.0
//
// What reads cost: the model must find the costs that synthetic reads were made with.
#include "analyzer/model/reads.h"
#include "analyzer/measure/build_pipeline.h"

#include <algorithm>
#include <cmath>
#include <random>

#include <gtest/gtest.h>

#include "analyzer/diagnosis/diagnosis.h"
#include "analyzer/simulate/simulate.h"
#include "tests/analyzer/synthetic.h"
#include "tests/analyzer/synthetic_threads.h"

namespace penstock::analyzer {
namespace {

constexpr double kLatency = 2e-3;
constexpr double kPerByte = 1 / 50e6;

double Noise(std::mt19937_64& random) {
  return 0.9 + 0.2 * (static_cast<double>(random() >> 11) * 0x1p-53);
}

// Each of `threads` threads reads files of different sizes (equal ones if `even`), one after the
// other with pauses. If `shared`, they share one device, which serves them in slices of 20 us.
std::vector<ReadSpan> Reads(int threads, bool shared, bool even = false) {
  struct Reader {
    double latency = 0;  // time left
    double bytes = 0;
    double pause = 0;
    ReadSpan span;
    bool reading = false;
  };
  std::mt19937_64 random(7);
  std::vector<Reader> readers(static_cast<std::size_t>(threads));
  std::vector<ReadSpan> done;
  constexpr double kSlice = 20e-6;
  double now = 0;
  while (done.size() < 1500) {
    int moving = 0;
    for (const Reader& reader : readers) moving += reader.reading && reader.latency <= 0 ? 1 : 0;
    const double speed = shared && moving > 1 ? 1.0 / moving : 1;
    now += kSlice;
    for (Reader& reader : readers) {
      if (!reader.reading) {
        reader.pause -= kSlice;
        if (reader.pause > 0) continue;
        reader.reading = true;
        reader.latency = kLatency * Noise(random);
        reader.span.bytes = even ? 100'000 : 20'000 + random() % 400'000;
        reader.bytes = static_cast<double>(reader.span.bytes) * kPerByte;
        reader.span.start = std::llround(now * 1e9);
      } else if (reader.latency > 0) {
        reader.latency -= kSlice;
      } else {
        reader.bytes -= kSlice * speed;
        if (reader.bytes > 0) continue;
        reader.reading = false;
        reader.span.end = std::llround(now * 1e9);
        reader.pause = 10e-3 * Noise(random);
        done.push_back(reader.span);
      }
    }
  }
  return done;
}

TEST(ReadsTest, TellsLatencyFromBandwidth) {
  const ReadCosts costs = FitReads(Reads(1, false));
  ASSERT_TRUE(costs.split);
  EXPECT_NEAR(costs.latency, kLatency, 0.1 * kLatency);
  EXPECT_NEAR(costs.per_byte, kPerByte, 0.05 * kPerByte);
  EXPECT_FALSE(costs.shared);
  EXPECT_NEAR(costs.concurrency, 1, 1e-6);
}

TEST(ReadsTest, SeesThatADeviceIsShared) {
  const ReadCosts costs = FitReads(Reads(4, true));
  ASSERT_TRUE(costs.shared);
  EXPECT_NEAR(costs.device_per_byte, kPerByte, 0.4 * kPerByte);
  EXPECT_GT(costs.concurrency, 1.5);
}

TEST(ReadsTest, ReadsBesideEachOtherNeedNotShare) {
  const ReadCosts costs = FitReads(Reads(4, false));
  EXPECT_FALSE(costs.shared);
  EXPECT_TRUE(costs.split);
  EXPECT_GT(costs.concurrency, 1.5);
}

// Four workers read batches of eight files, each up to one batch ahead of a loop that takes 10 ms
// for a batch. One read in twelve takes thirty times as long as the others. This does not depend on
// other reads at the same time.
std::vector<ReadSpan> WithLongOnes(unsigned seed) {
  std::mt19937_64 random(seed);
  std::vector<ReadSpan> done;
  std::vector<double> made(4);
  std::vector<double> consumed(164);
  for (std::size_t batch = 4; batch < consumed.size(); ++batch) {
    double& now = made[batch % 4];
    now = std::max(now, consumed[batch - 4]);
    for (int i = 0; i < 8; ++i) {
      ReadSpan span;
      span.bytes = 20'000 + random() % 20'000;
      span.start = std::llround(now * 1e9);
      now += 1e-3 * Noise(random) * (random() % 12 == 0 ? 30 : 1);
      span.end = std::llround(now * 1e9);
      now += 0.1e-3;
      done.push_back(span);
    }
    consumed[batch] = std::max(consumed[batch - 1] + 10e-3, now);
  }
  return done;
}

TEST(ReadsTest, LongReadsAreNotSlowedByThoseThatRunMeanwhile) {
  for (unsigned seed = 1; seed < 40; ++seed) {
    EXPECT_FALSE(FitReads(WithLongOnes(seed)).shared) << seed;
  }
}

// `threads` threads that read over a link. The link serves them in order at 50 MB/s and is never
// idle.
std::vector<ReadSpan> InOrder(int threads) {
  std::mt19937_64 random(11);
  std::vector<ReadSpan> done;
  std::vector<double> asked(static_cast<std::size_t>(threads), 0.0);
  double free = 0;
  for (std::size_t i = 0; i < 600; ++i) {
    double& mine = asked[i % asked.size()];
    ReadSpan span;
    span.bytes = 20'000 + random() % 400'000;
    span.start = std::llround(mine * 1e9);
    free = std::max(free, mine) + static_cast<double>(span.bytes) * kPerByte;
    span.end = std::llround(free * 1e9);
    mine = free + 50e-6 * Noise(random);
    done.push_back(span);
  }
  return done;
}

TEST(ReadsTest, SeesALinkThatServesInOrder) {
  for (const int threads : {2, 4}) {
    const ReadCosts costs = FitReads(InOrder(threads));
    ASSERT_TRUE(costs.shared);
    EXPECT_NEAR(costs.device_per_byte, kPerByte, 0.02 * kPerByte);
  }
}

TEST(ReadsTest, TheRateOfEndsNeedsReadsThatWait) {
  EXPECT_EQ(MeasureRate({}).gaps, 0u);
  EXPECT_FALSE(MeasureRate(InOrder(1)).limited());
  EXPECT_TRUE(MeasureRate(InOrder(2)).limited());
  EXPECT_FALSE(MeasureRate(Reads(2, false)).limited());
  EXPECT_FALSE(MeasureRate(Reads(4, false)).limited());
  EXPECT_FALSE(MeasureRate(Reads(4, false, true)).limited());
}

TEST(ReadsTest, EqualSizesDoNotTellLatencyFromBandwidth) {
  EXPECT_FALSE(FitReads(Reads(1, false, true)).split);
}

TEST(ReadsTest, FewReadsTellTheMeanAlone) {
  EXPECT_EQ(FitReads({}).reads, 0u);
  std::vector<ReadSpan> few = Reads(1, false);
  few.resize(63);
  const ReadCosts costs = FitReads(few);
  EXPECT_FALSE(costs.split);
  EXPECT_GT(costs.mean, kLatency);
}

// A server that the program started reads slowly, at the same time as the workers.
TEST(ReadsTest, ReadsOfOtherProcessesDoNotCount) {
  testing::Synthetic run;
  traces::TraceData data = testing::MakeSynthetic(run);
  const ReadCosts alone = BuildRunModel(*traces::MakeTrace(data)).reads;
  traces::ProcessInfo server = data.processes[1];
  server.pid += 1000;
  server.role = wire::kRoleOther;
  data.processes.push_back(server);
  traces::ThreadInfo thread;
  thread.process = ProcessId{static_cast<std::uint32_t>(data.processes.size() - 1)};
  thread.tid = 4711;
  data.threads.push_back(thread);
  std::vector<traces::Span> reads;
  const TimeNs begin = data.spans[0].front().start;
  for (int i = 0; i < 500; ++i) {
    traces::Span read;
    read.stage = traces::StageId::kRead;
    read.start = begin + testing::Ms(30.0 * i);
    read.duration = testing::Ms(29);
    read.bytes = Bytes{100};
    reads.push_back(read);
  }
  data.spans.push_back(std::move(reads));
  const ReadCosts beside = BuildRunModel(*traces::MakeTrace(data)).reads;
  EXPECT_EQ(beside.reads, alone.reads);
  EXPECT_EQ(beside.mean, alone.mean);
}

// Before the loader exists, a dataset reads its labels from one file for each sample.
TEST(ReadsTest, ReadsBeforeTheFirstBatchDoNotReplaceThoseOfBatches) {
  testing::Synthetic run;
  traces::TraceData data = testing::MakeSynthetic(run);
  const ReadCosts alone = BuildRunModel(*traces::MakeTrace(data)).reads;
  constexpr int kLabels = 9000;
  const TimeNs begin = data.spans[0].front().start - testing::Ms(0.1 * kLabels);
  for (int i = 0; i < kLabels; ++i) {
    traces::Span read;
    read.stage = traces::StageId::kRead;
    read.start = begin + testing::Ms(0.1 * i);
    read.duration = testing::Ms(0.05);
    read.bytes = Bytes{100};
    data.spans[0].push_back(read);
  }
  const ReadCosts after = BuildRunModel(*traces::MakeTrace(data)).reads;
  EXPECT_EQ(after.reads, alone.reads);
  EXPECT_EQ(after.mean, alone.mean);
}

// ---- other programs on the cores

using testing::SampleCosts;
using testing::SyntheticThreads;
using testing::ThreadsTrace;

// One thread on two cores, with pictures of uneven sizes.
SyntheticThreads Squeezed(double cpu_share) {
  SyntheticThreads run;
  run.threads = 1;
  run.cores = 2;
  run.step = 0;
  run.cpu_share = cpu_share;
  run.costs = [](int sample) { return SampleCosts{0.1, 3 + 0.5 * (sample % 7), 0.5}; };
  return run;
}

TEST(CpuLoadTest, OtherProgramsAreCountedInThreads) {
  const Diagnosis diagnosis = Diagnose(*ThreadsTrace(Squeezed(0.4)));
  const CpuLoad& cpu = diagnosis.loader->cpu;
  EXPECT_TRUE(cpu.crowded);
  EXPECT_NEAR(cpu.decode_slowdown, 2.5, 0.01);
  EXPECT_NEAR(cpu.others, 4, 0.05);  // five threads on two cores
  EXPECT_NEAR(diagnosis.loader->replay.error(), 0, 0.03);
  // More threads get a larger share of the cores, but not in proportion.
  Setting setting;
  setting.workers = 3;
  setting.prefetch = diagnosis.loader->pipeline.prefetch;
  const Pipeline three = Apply(diagnosis.loader->pipeline, setting, diagnosis.loader->facts);
  const double gain = SimulateSteady(SteadyPart(three)).rate() /
                      SimulateSteady(SteadyPart(diagnosis.loader->pipeline)).rate();
  EXPECT_NEAR(gain, 3 * 5.0 / 7, 0.1);
}

// A decoder's sleep is not waiting for a core, however long it is.
TEST(CpuLoadTest, SleepIsNotContention) {
  for (const double sleep : {5.0, 40.0, 400.0}) {
    SyntheticThreads run = Squeezed(1);
    run.sleep = sleep;
    const CpuLoad cpu = Diagnose(*ThreadsTrace(run)).loader->cpu;
    EXPECT_FALSE(cpu.crowded) << sleep;
    EXPECT_EQ(cpu.others, 0) << sleep;
  }
}

}  // namespace
}  // namespace penstock::analyzer
