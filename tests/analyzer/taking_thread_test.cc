// SPDX-License-Identifier: Apache-2.0
//
// A thread of the program that takes the batches and hands them on, so that the training step is
// not seen. The report then makes no claim about that step.
#include "analyzer/model/taking_thread.h"

#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "analyzer/report/phrases.h"
#include "analyzer/report/report.h"
#include "analyzer/words/needs.h"
#include "analyzer/words/verdict.h"
#include "tests/analyzer/synthetic.h"
#include "tests/traces/call_tree_maker.h"

namespace penstock::analyzer {
namespace {

using testing::MakeSynthetic;
using testing::Ms;
using testing::Synthetic;
using traces::testing::DataOf;
using traces::testing::FollowedUnit;

// A loop that waits for slow workers. Its thread is not the first one of its process.
traces::TraceData TakenByThread() {
  Synthetic run;
  run.workers = 1;
  run.costs = testing::Always({1, 40, 8, 1, 0.1, 0.2, 1, 0});
  traces::TraceData data = MakeSynthetic(run);
  data.threads[0].tid = data.processes[0].pid + 1;
  return data;
}

// A step whose calls were followed: a function of `file` takes all of its time.
void AddStep(const char* file, traces::TraceData& data) {
  traces::UnitRow row;
  row.at = Ms(1100);
  row.duration = Ms(1);
  row.stage = traces::StageId::kStep;
  FollowedUnit unit(row);
  unit.Function("work", file, 5, {Ms(1), Ms(1)});
  unit.AddTo(DataOf{data});
}

bool HandsOn(traces::TraceData data) {
  const auto trace = traces::MakeTrace(std::move(data));
  return HandsBatchesOn(*trace, BuildRunModel(*trace).loader());
}

TEST(TakingThreadTest, TheFirstThreadOfAProcessTrains) {
  EXPECT_FALSE(HandsOn(MakeSynthetic({})));
}

TEST(TakingThreadTest, AnotherThreadHandsBatchesOn) {
  traces::TraceData data = TakenByThread();
  EXPECT_TRUE(HandsOn(data));
  AddStep("/home/a/prefetcher.py", data);
  EXPECT_TRUE(HandsOn(std::move(data)));
}

TEST(TakingThreadTest, AThreadThatCallsAnOptimizerTrains) {
  traces::TraceData data = TakenByThread();
  AddStep("/usr/lib/python3/dist-packages/torch/optim/sgd.py", data);
  EXPECT_FALSE(HandsOn(std::move(data)));
}

TEST(TakingThreadTest, AThreadThatLaunchesKernelsTrains) {
  const auto with_call = [](const char* name) {
    traces::TraceData data = TakenByThread();
    traces::Span call;
    call.stage = traces::StageId::kCall;
    call.name = data.Intern(name);
    call.start = data.spans[0].back().start;
    call.duration = TimeNs{1000};
    data.spans[0].push_back(call);
    return HandsOn(std::move(data));
  };
  EXPECT_FALSE(with_call("cudaLaunchKernel"));
  EXPECT_TRUE(with_call("cudaMemcpyAsync: H2D pageable"));
}

TEST(TakingThreadTest, ThreadsOfImportedTracesTellNothing) {
  traces::TraceData data = TakenByThread();
  data.processes[0].features = 0;
  EXPECT_FALSE(HandsOn(std::move(data)));
}

TEST(TakingThreadTest, NothingIsClaimedOfTheStep) {
  const auto trace = traces::MakeTrace(TakenByThread());
  const Report report = BuildReport(*trace, "run.penstock");
  const Diagnosis& diagnosis = report.diagnosis;
  EXPECT_TRUE(diagnosis.needs.Is(words::kNeedsStep));
  EXPECT_TRUE(diagnosis.summary.Is(words::kHandedOn));
  EXPECT_NE(English(diagnosis.summary).find("nothing shows that it trains; if it hands them on"),
            std::string::npos)
      << English(diagnosis.summary);
  EXPECT_NE(English(diagnosis.summary).find("As a hint: Decode takes most"), std::string::npos)
      << English(diagnosis.summary);
  EXPECT_EQ(diagnosis.ceiling, 0);
  EXPECT_TRUE(diagnosis.gains.empty());
  EXPECT_LT(diagnosis.confidence, 0.25);
  EXPECT_TRUE(report.plan.missing.Is(words::kNeedsStep));
  for (const Finding& finding : report.findings) EXPECT_FALSE(finding.predicted) << finding.id;
  EXPECT_FALSE(IsReplayed(diagnosis));
}

// The time between two batches seems to be a step of 90 ms, of which the part that holds the
// batches back would be the step itself.
TEST(TakingThreadTest, TheHintIsTheStageThatTakesMostOfTheThreadsTime) {
  Synthetic run;
  run.workers = 1;
  run.costs = testing::Always({1, 40, 8, 1, 0.1, 0.2, 90, 0});
  traces::TraceData data = MakeSynthetic(run);
  data.threads[0].tid = data.processes[0].pid + 1;
  const Diagnosis diagnosis = Diagnose(*traces::MakeTrace(std::move(data)));
  EXPECT_TRUE(diagnosis.summary.Is(words::kHandedOn));
  EXPECT_EQ(diagnosis.bottleneck, Factor::kDecode);
  EXPECT_EQ(diagnosis.loader->attribution.bottleneck, Factor::kDecode);
}

// That the making of most batches was not seen is asked first.
TEST(TakingThreadTest, NothingIsClaimedIfTheMakingOfBatchesWasNotSeenEither) {
  traces::TraceData data = TakenByThread();
  for (std::vector<traces::Span>& spans : data.spans) {
    std::erase_if(spans, [](const traces::Span& span) {
      return span.stage == traces::StageId::kFetch || span.stage == traces::StageId::kSample;
    });
  }
  const Diagnosis diagnosis = Diagnose(*traces::MakeTrace(std::move(data)));
  EXPECT_TRUE(diagnosis.needs.Is(words::kNeedsSight)) << English(diagnosis.needs);
  EXPECT_TRUE(diagnosis.summary.Is(words::kHandedOn)) << English(diagnosis.summary);
}

}  // namespace
}  // namespace penstock::analyzer
