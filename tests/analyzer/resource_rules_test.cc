// SPDX-License-Identifier: Apache-2.0
//
// Rules about what workers share: cores, shards, locks, file descriptors. Each test has a near miss
// too.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "analyzer/whatif/grid.h"
#include "analyzer/words/rule_names.h"
#include "tests/analyzer/finds.h"
#include "tests/analyzer/synthetic_ranks.h"

namespace penstock::analyzer::testing {
namespace {

using traces::TraceData;

// A dataset has fewer shards than workers. The program asks for `asked` workers; two make batches.
TraceData FewShards(const std::string& kind, int asked) {
  Synthetic run;
  run.workers = 2;
  TraceData data = MakeSynthetic(run);
  data.processes[0].facts["loader.0.num_workers"] = std::to_string(asked);
  data.processes[0].facts["loader.0.dataset_kind"] = kind;
  return data;
}

// An action does not say what a prediction assumes if there is none. Ten batches are too few for
// one.
TEST(ResourceRulesTest, AnActionSpeaksOfAPredictionOnlyIfThereIsOne) {
  std::vector<Synthetic> runs(6);
  runs[0].costs = Always({20, 4, 3, 1, 0.1, 0.2, 4, 0});
  runs[1].costs = Always({20, 4, 3, 1, 0.1, 0.2, 4, 0});
  runs[1].file_bytes = 1'500'000;
  runs[2].costs = Always({1, 30, 5, 1, 0.1, 0.2, 4, 0});
  runs[2].decoder = "PIL.load";
  runs[2].decoded_bytes = 5 * runs[2].sample_bytes;
  runs[3].costs = Always({1, 4, 2, 40, 0.1, 0.2, 4, 0});
  runs[4].costs = Always({1, 4, 2, 0.5, 0.1, 6, 2, 0});
  runs[5].costs = [](int, int index) {
    return Costs{1, index % 4 == 0 ? 120.0 : 10.0, 5, 1, 0.1, 0.2, 4, 0};
  };
  std::size_t alone = 0;
  std::size_t with = 0;
  for (Synthetic& run : runs) {
    for (const int batches : {10, 200}) {
      run.batches = batches;
      const auto trace = SyntheticTrace(run);
      for (const Finding& finding : RunRules(*trace, Diagnose(*trace)).findings) {
        const std::string action = English(finding.action);
        const bool speaks = action.find("rediction") != std::string::npos;
        if (finding.predicted) {
          with += speaks ? 1 : 0;
          continue;
        }
        ++alone;
        EXPECT_FALSE(speaks) << finding.id << ": " << action;
        const std::string chinese = Render(finding.action, Language::kChinese);
        EXPECT_EQ(chinese.find("预测"), std::string::npos) << finding.id << ": " << chinese;
      }
    }
  }
  EXPECT_GT(alone, 0U);
  EXPECT_GT(with, 0U);
}

// The name says "saturated", and the run itself used less than half of the cores.
TEST(ResourceRulesTest, ACrowdedMachineHasFullCores) {
  Synthetic run = WithCosts({0.5, 20, 10, 1, 0.1, 0.2, 2, 0});
  run.cores = 2;
  run.cpu_share = 0.45;
  const auto found = FindingOf("cpu-saturated", MakeSynthetic(run));
  ASSERT_TRUE(found);
  EXPECT_NE(English(found->seen).find("the cores are full, but the run got only"),
            std::string::npos)
      << English(found->seen);
  EXPECT_EQ(Render(RuleName(found->id), Language::kChinese), "CPU 核心不足");
}

// Six workers begin together, so batches come in bursts: most come 2 ms after another, but one in
// six takes 1.1 s. The first one is as fast as the others.
TEST(ResourceRulesTest, ABurstIsNotHowLongABatchTakes) {
  Synthetic run = WithCosts({0, 1100, 0, 0, 0, 0, 1});
  run.workers = 6;
  run.batches = 60;
  EXPECT_FALSE(Finds("slow-first-batch", run));
}

TEST(ResourceRulesTest, WorkersWithoutAShardAreFound) {
  const auto finding = FindingOf("idle-workers", FewShards("iterable", 4));
  ASSERT_TRUE(finding);
  EXPECT_NE(English(finding->seen).find("at most 2 of 4"), std::string::npos)
      << English(finding->seen);
  EXPECT_NE(English(finding->action).find("num_workers=2"), std::string::npos)
      << English(finding->action);
  EXPECT_GT(finding->to, finding->from);
}

TEST(ResourceRulesTest, NoMoreWorkersAreSuggestedThanThereAreShards) {
  const auto trace = traces::MakeTrace(FewShards("iterable", 3));
  const Diagnosis diagnosis = Diagnose(*trace);
  EXPECT_EQ(diagnosis.loader->facts.most_workers, 2);
  EXPECT_LE(diagnosis.loader->suggestion.workers, 3);  // as recorded, or fewer
  GridRequest request;
  request.workers = {1, 2, 4, 8};
  const Predicted<Grid> grid = PredictGrid(diagnosis, request);
  ASSERT_TRUE(grid) << English(grid.error().why);
  EXPECT_EQ(grid->configurations.size(), 2u);
  ASSERT_EQ(grid->left_out.size(), 2u);
  EXPECT_EQ(English(grid->left_out.front().why),
            "the dataset gives only 2 workers anything to do: further ones would have no shard");
  // For a map-style dataset the number of workers has no such bound, even if the loop waits.
  const auto map_style = SyntheticTrace(WithCosts({1, 30, 5, 0.5, 0.1, 0.3, 4, 0}));
  EXPECT_GT(Diagnose(*map_style).loader->suggestion.workers, 2);
}

TEST(ResourceRulesTest, EveryWorkerWithAShardIsFine) {
  EXPECT_FALSE(FindingOf("idle-workers", FewShards("iterable", 2)));
}

TEST(ResourceRulesTest, MapDatasetsHaveNoShards) {
  EXPECT_FALSE(FindingOf("idle-workers", FewShards("map", 4)));
}

// Two workers, each of which reads for half of the time: in turns, as if a lock forced them, or at
// random times.
TraceData Reading(bool in_turns) {
  Synthetic run;
  run.workers = 2;
  run.batch_size = 1;
  run.worker_start = 5;
  Costs costs;
  costs.read = 4.9;
  costs.decode = 3;
  costs.augment = 2;
  costs.collate = 0.1;
  costs.step = 0.5;
  run.costs = [costs, in_turns](int, int index) {
    Costs one = costs;
    if (!in_turns) one.augment += 0.37 * (index * 7 % 11);
    return one;
  };
  return MakeSynthetic(run);
}

TEST(ResourceRulesTest, ReadsThatTakeTurnsAreFound) {
  const auto finding = FindingOf("serialised-reads", Reading(true));
  ASSERT_TRUE(finding);
  EXPECT_NE(English(finding->action).find("Open the file in each worker"), std::string::npos);
  EXPECT_GT(finding->to, finding->from);
  EXPECT_EQ(finding->pids.size(), 2u);
}

TEST(ResourceRulesTest, TurnsThatCannotBeSimulatedAreNotPredicted) {
  TraceData data = Reading(true);
  for (auto& spans : data.spans) {
    spans.erase(std::remove_if(spans.begin(), spans.end(),
                               [](const traces::Span& span) {
                                 return span.stage == traces::StageId::kSample;
                               }),
                spans.end());
  }
  const auto finding = FindingOf("serialised-reads", std::move(data));
  ASSERT_TRUE(finding);
  EXPECT_FALSE(finding->predicted);
  EXPECT_EQ(English(finding->action).find("prediction"), std::string::npos);
}

TEST(ResourceRulesTest, ReadsThatFallAsTheyMayAreFine) {
  EXPECT_FALSE(FindingOf("serialised-reads", Reading(false)));
}

TraceData Tensors(int tensors, const std::string& strategy) {
  TraceData data = MakeSynthetic(Synthetic{});
  auto& facts = data.processes[0].facts;
  facts["loader.0.batch_tensors"] = std::to_string(tensors);
  facts["limit.open_files"] = "1024";
  facts["torch.sharing_strategy"] = strategy;
  return data;
}

// Each of two workers has two batches in flight, and the loop holds one. So there are five batches
// of 110 tensors.
TEST(ResourceRulesTest, ManyTensorsExhaustDescriptors) {
  const auto finding = FindingOf("too-many-descriptors", Tensors(110, "file_descriptor"));
  ASSERT_TRUE(finding);
  EXPECT_EQ(finding->severity, Severity::kWarning);
  EXPECT_GT(finding->to, finding->from);
  EXPECT_EQ(finding->pids, std::vector<std::uint32_t>{100});
  const auto worse = FindingOf("too-many-descriptors", Tensors(210, "file_descriptor"));
  ASSERT_TRUE(worse);
  EXPECT_EQ(worse->severity, Severity::kCritical);
}

TEST(ResourceRulesTest, FewTensorsOrNamedOnesAreFine) {
  EXPECT_FALSE(FindingOf("too-many-descriptors", Tensors(100, "file_descriptor")));
  EXPECT_FALSE(FindingOf("too-many-descriptors", Tensors(500, "file_system")));
}

// A plan that keeps the loader as it is must not stand beside advice to change it.
TEST(RankImbalanceTest, AdvisesADeeperQueueOnlyWhereOneMayGain) {
  testing::Ranked run;
  run.ranks = 4;
  run.wait = [](int rank, int i) { return i % 4 == rank ? 6.0 : 1.0; };
  const auto trace = traces::MakeTrace(testing::TraceOfAll(run));
  Diagnosis diagnosis = Diagnose(*trace);
  ASSERT_TRUE(diagnosis.loader);
  const auto advised = [&] {
    for (const Finding& finding : RunRules(*trace, diagnosis).findings) {
      if (finding.id != "rank-imbalance") continue;
      return English(finding.action).find("prefetch_factor") != std::string::npos;
    }
    ADD_FAILURE() << "no finding";
    return false;
  };
  Suggestion& suggestion = diagnosis.loader->suggestion;
  suggestion.missing = {};
  suggestion.changes = false;
  EXPECT_FALSE(advised());
  suggestion.changes = true;
  suggestion.prefetch = diagnosis.run.loader().config.prefetch_factor + 2;
  EXPECT_TRUE(advised());
}

}  // namespace
}  // namespace penstock::analyzer::testing
