// SPDX-License-Identifier: Apache-2.0
#include "gui/model/workers.h"

#include <gtest/gtest.h>

#include "tests/gui/panels_support.h"

namespace penstock::gui {
namespace {

using analyzer::testing::Synthetic;

WorkersModel Model(traces::TraceData data) {
  const Document document = testing::DocumentOf(traces::MakeTrace(std::move(data)));
  return BuildWorkers(*document.trace, *document.analysis);
}

TEST(WorkersModelTest, TellsTheTimeOfEveryWorkerAndItsStart) {
  Synthetic run;
  run.workers = 3;
  run.worker_start = 5;
  const WorkersModel model = Model(MakeSynthetic(run));
  ASSERT_EQ(model.workers.size(), 3U);
  for (std::size_t i = 0; i < 3; ++i) {
    const WorkerLine& line = model.workers[i];
    EXPECT_GT(line.batches, 60U);
    EXPECT_NEAR(line.batch, 0.0075, 1e-4);
    EXPECT_NEAR(line.startup, 0.005 * (line.worker_id + 1), 1e-4);
    EXPECT_LE(line.busy + line.idle, line.life + 1e-9);
  }
}

TEST(WorkersModelTest, TheStragglerIsTheOneThatIsSlow) {
  Synthetic run;
  run.workers = 4;
  run.costs = [](int, int index) {
    analyzer::testing::Costs costs;
    if (index % 4 == 2) costs.decode = 14;  // worker 2: 17.5 ms a batch, the others 7.5
    return costs;
  };
  const WorkersModel model = Model(MakeSynthetic(run));
  ASSERT_EQ(model.workers.size(), 4U);
  const WorkerLine& slow = model.workers[model.straggler];
  EXPECT_EQ(slow.worker_id, 2);
  EXPECT_TRUE(slow.straggles());
  EXPECT_NEAR(slow.slowdown, 17.5 / 7.5, 0.05);
  run.costs = analyzer::testing::Always({});
  const WorkersModel even = Model(MakeSynthetic(run));
  EXPECT_LT(even.slowest, 1.5);
}

TEST(WorkersModelTest, MemoryThatGrowsHasASlopeAndMemoryThatDoesNotHasNone) {
  traces::TraceData data = testing::MakeGpuRun({});
  // A process that has ended is said to have no memory.
  data.counters.push_back(data.counters.back());
  data.counters.back().name = data.Intern("uss_bytes");
  data.counters.back().process = ProcessId{1};
  data.counters.back().at = analyzer::testing::Ms(3100);
  data.counters.back().value = 0;
  const WorkersModel model = Model(std::move(data));
  EXPECT_EQ(model.best(), MemoryKind::kUss);
  ASSERT_EQ(model.workers.size(), 2U);
  EXPECT_TRUE(model.workers[0].growth_known);
  EXPECT_NEAR(model.workers[0].growth, 1e7, 1e4);  // 1 MB in 0.1 s
  EXPECT_NEAR(model.workers[0].memory, 1.2e8, 1);
  EXPECT_NEAR(model.workers[1].growth, 0, 1);
  EXPECT_EQ(model.Of(MemoryKind::kUss).size(), 2U);
  EXPECT_TRUE(model.Of(MemoryKind::kRss).empty());
}

TEST(WorkersModelTest, ARunWithoutWorkersHasNoLines) {
  Synthetic run;
  run.workers = 0;
  const WorkersModel model = Model(MakeSynthetic(run));
  for (const WorkerLine& line : model.workers) EXPECT_EQ(line.slowdown, 0);
  EXPECT_TRUE(Model({}).workers.empty());
}

}  // namespace
}  // namespace penstock::gui
