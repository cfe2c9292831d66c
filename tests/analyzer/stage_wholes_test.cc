// SPDX-License-Identifier: Apache-2.0
#include "analyzer/report/stage_wholes.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "analyzer/model/loop_use.h"
#include "analyzer/report/report.h"
#include "traces/trace.h"

namespace penstock::analyzer {
namespace {

using traces::StageId;

constexpr std::int64_t kOneMs = 1'000'000;

// A batch that the loop gets at `delivered`, after a wait of `wait` ms.
Batch DeliveredAt(std::uint32_t index, std::uint16_t generation, std::int64_t delivered,
                  std::int64_t wait, std::int64_t step_end) {
  Batch batch;
  batch.key = {index, generation};
  batch.wait_start = (delivered - wait) * kOneMs;
  batch.delivered = delivered * kOneMs;
  batch.step_end = step_end == kNever ? kNever : step_end * kOneMs;
  return batch;
}

double ShareOfStage(const RunModel& run, StageId stage) {
  const auto rows = BuildStageRows(*traces::MakeTrace({}), run);
  const auto row = std::find_if(rows.begin(), rows.end(),
                                [stage](const StageRow& one) { return one.stage == stage; });
  return row == rows.end() ? -1 : row->share;
}

// In each 10 ms the loop waits 2 ms for the first loader, then 6 ms for the second, then steps.
TEST(StageWholesTest, AStepContainsNoWaitForALoaderThatIsUsedTogether) {
  RunModel run;
  run.loaders.resize(2);
  for (std::uint32_t i = 0; i < 20; ++i) {
    const std::int64_t at = 100 + 10 * static_cast<std::int64_t>(i);
    run.loaders[0].batches.push_back(DeliveredAt(i, 1, at + 2, 2, at + 2));
    run.loaders[1].batches.push_back(DeliveredAt(i, 2, at + 8, 6, at + 10));
  }
  for (LoaderRun& loader : run.loaders) {
    loader.epochs.emplace_back();
    loader.epochs.back().count = loader.batches.size();
  }
  FindLoopUse(run.loaders);
  ASSERT_EQ(run.loaders[0].use, LoopUse::kInterleaved);
  // As recorded, the steps of one loader contain the waits for the other.
  run.stages[StageId::kStep].Add(8 * kOneMs, -1, 0);
  EXPECT_NEAR(WholesOf(run, run.stages).loop, 0.2, 1e-9);
  EXPECT_NEAR(ShareOfStage(run, StageId::kStep), 0.2, 1e-9);
  const std::vector<LoopStep> steps = StepsOf(run);
  ASSERT_EQ(steps.size(), 20U);
  for (const LoopStep& step : steps) EXPECT_NEAR(step.seconds, 0.002, 1e-9);
}

// As in a trace of a profiler, nothing tells when the last step ends.
TEST(StageWholesTest, KernelsOfAStepThatDoesNotEndAreSharesOfItsTimeToo) {
  RunModel run;
  run.loaders.resize(1);
  traces::Span kernel;
  kernel.stage = StageId::kKernel;
  kernel.duration = TimeNs{9 * kOneMs};
  for (std::uint32_t i = 0; i < 6; ++i) {
    const std::int64_t at = 100 + 10 * static_cast<std::int64_t>(i);
    run.loaders[0].batches.push_back(DeliveredAt(i, 1, at + 1, 1, i == 5 ? kNever : at + 10));
    kernel.start = TimeNs{(at + 1) * kOneMs};
    traces::Counted counted;
    counted.span = &kernel;
    counted.stage = StageId::kKernel;
    counted.wall = kernel.duration.value;
    run.stages.Add(counted);
  }
  EXPECT_NEAR(WholesOf(run, run.stages).loop, 0.051, 1e-9);
  EXPECT_NEAR(ShareOfStage(run, StageId::kKernel), 0.9, 1e-9);
  EXPECT_TRUE(WholesOf(run, run.stages).HasUnended(StageId::kKernel));
  EXPECT_FALSE(WholesOf(run, run.stages).HasUnended(StageId::kStep));
  run.loaders[0].batches.back().step_end = 160 * kOneMs;
  EXPECT_FALSE(WholesOf(run, run.stages).HasUnended(StageId::kKernel));
}

TEST(StageWholesTest, TheRowsBelowAugmentAddUpToIt) {
  traces::TraceData data;
  const StringId resize = data.Intern("PIL.resize");
  RunModel run;
  run.stages[StageId::kAugment].Add(10 * kOneMs, -1, 0);
  run.stages[StageId::kAugment].children[resize].Add(4 * kOneMs, -1, 0);
  const auto rows = BuildStageRows(*traces::MakeTrace(std::move(data)), run);
  ASSERT_EQ(rows.size(), 1U);
  ASSERT_EQ(rows[0].children.size(), 2U);
  EXPECT_TRUE(rows[0].children[0].rest);
  EXPECT_NEAR(rows[0].children[0].wall + rows[0].children[1].wall, rows[0].wall, 1e-9);
  EXPECT_EQ(StageText(rows[0].children[0], Language::kEnglish), "rest of samples");
  EXPECT_EQ(StageText(rows[0].children[0], Language::kChinese), "样本的其他代码");
}

}  // namespace
}  // namespace penstock::analyzer
