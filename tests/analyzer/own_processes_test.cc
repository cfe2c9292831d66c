// SPDX-License-Identifier: Apache-2.0
//
// A loop without workers takes its samples from processes that the program starts itself. Nothing
// is predicted for workers then.
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "analyzer/diagnosis/diagnosis.h"
#include "analyzer/whatif/grid.h"
#include "analyzer/words/needs.h"
#include "tests/analyzer/synthetic.h"

namespace penstock::analyzer {
namespace {

using testing::Synthetic;
using traces::StageId;

const std::vector<std::string> kTraining = {"python3", "train.py"};

// The other process, which the training process (pid 100) has started.
struct Other {
  std::vector<std::string> command = kTraining;
  double works = 1;    // the share of each fetch in which it decodes; 0: it has no spans
  double lives = 1;    // the share of the run in which it works
  double waits = 0.9;  // the share of its time that the fetch waits, without `reads`
  double reads = 0;    // milliseconds that each fetch waits for its own read
  double cores = 0;    // that the process keeps busy
};

Diagnosis Beside(const Other& other, int workers = 0) {
  Synthetic run;
  run.workers = workers;
  run.cores = 2;
  run.cpu_share = 1 - other.waits;
  run.costs = testing::Always({other.reads, 0, 20, 1, 0, 0, 10, 0});
  traces::TraceData data = testing::MakeSynthetic(run);
  data.processes[0].command = kTraining;
  traces::ProcessInfo process;
  process.pid = 300;
  process.parent = data.processes[0].pid;
  process.command = other.command;
  data.processes.push_back(process);
  const ProcessId id{static_cast<std::uint32_t>(data.processes.size() - 1)};
  traces::ThreadInfo info;
  info.process = id;
  info.tid = 300;
  std::vector<traces::Span> spans;
  std::vector<traces::Span> fetches;
  for (const auto& of_thread : data.spans) {
    for (const traces::Span& span : of_thread) {
      if (span.stage == StageId::kFetch) fetches.push_back(span);
    }
    if (!fetches.empty()) break;
  }
  const auto last = static_cast<std::size_t>(other.lives * static_cast<double>(fetches.size()));
  for (std::size_t i = 0; other.works > 0 && i < last; ++i) {
    traces::Span span;
    span.stage = StageId::kDecode;
    span.start = fetches[i].start;
    const double length = other.works * static_cast<double>(fetches[i].duration.value);
    span.duration.value = static_cast<std::int64_t>(length);
    spans.push_back(span);
  }
  const double end = other.lives * static_cast<double>(fetches.back().end().value) * 1e-6;
  for (const double at : {0.0, end}) {
    testing::AddCounter(data, "cpu_ns", id.value, at, 1 + other.cores * at * 1e6);
  }
  data.threads.push_back(info);
  data.spans.push_back(std::move(spans));
  return Diagnose(*traces::MakeTrace(std::move(data)));
}

bool IsRefused(const Diagnosis& diagnosis) {
  GridRequest request;
  request.workers = {1 + diagnosis.run.loader().config.num_workers};
  const auto grid = PredictGrid(diagnosis, request);
  const bool refused = diagnosis.loader->suggestion.missing.Is(words::kNeedsOwnProcesses);
  EXPECT_EQ(refused,
            !grid && English(grid.error().why).find("multiprocessing") != std::string::npos);
  return refused;
}

TEST(OwnProcessesTest, ACopyOfTheTrainingProcessThatDecodesLeavesNothingToPredict) {
  const Diagnosis diagnosis = Beside({});
  EXPECT_EQ(1, diagnosis.run.own_processes.processes.size());
  EXPECT_GT(diagnosis.run.own_processes.stages, 1);
  EXPECT_TRUE(IsRefused(diagnosis));
  EXPECT_TRUE(NotEnough(diagnosis).empty()) << English(NotEnough(diagnosis));
  EXPECT_EQ(Factor::kAugment, diagnosis.bottleneck);
  EXPECT_FALSE(diagnosis.loader->suggestion.changes);
}

TEST(OwnProcessesTest, SoDoesAProcessOfMultiprocessingsOtherStartMethods) {
  Other other;
  other.command = {"python3", "-c", "from multiprocessing.spawn import spawn_main; spawn_main()"};
  EXPECT_TRUE(IsRefused(Beside(other)));
}

TEST(OwnProcessesTest, AProgramOfItsOwnIsAServerOrACall) {
  Other other;
  other.command = {"serve", "--port", "80"};
  EXPECT_FALSE(IsRefused(Beside(other)));
}

TEST(OwnProcessesTest, AnIdleProcessMakesNoSamples) {
  Other other;
  other.works = 0.01;
  const Diagnosis diagnosis = Beside(other);
  EXPECT_EQ(1, diagnosis.run.own_processes.processes.size());
  EXPECT_FALSE(IsRefused(diagnosis));
}

TEST(OwnProcessesTest, AProcessThatComputesWithoutSpansMakesThem) {
  Other other;
  other.works = 0.01;
  other.cores = 0.8;
  EXPECT_TRUE(IsRefused(Beside(other)));
}

TEST(OwnProcessesTest, AFetchThatWaitsForItsOwnReadsWaitsForNoOthers) {
  Other other;
  other.reads = 60;
  EXPECT_FALSE(IsRefused(Beside(other)));
}

TEST(OwnProcessesTest, AProcessThatEndsEarlyMakesNoSamples) {
  Other other;
  other.lives = 0.3;
  EXPECT_FALSE(IsRefused(Beside(other)));
}

TEST(OwnProcessesTest, AFetchThatComputesDoesNotWaitForOthers) {
  Other other;
  other.waits = 0.2;
  const Diagnosis diagnosis = Beside(other);
  EXPECT_EQ(1, diagnosis.run.own_processes.processes.size());
  EXPECT_FALSE(IsRefused(diagnosis));
}

TEST(OwnProcessesTest, WorkersWithProcessesOfTheirOwnDoRun) {
  const Diagnosis diagnosis = Beside({}, 2);
  EXPECT_EQ(1, diagnosis.run.own_processes.processes.size());
  EXPECT_FALSE(IsRefused(diagnosis));
}

}  // namespace
}  // namespace penstock::analyzer
