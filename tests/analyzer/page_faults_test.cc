// SPDX-License-Identifier: Apache-2.0
//
// Memory that workers fault in for each sample.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <variant>

#include "analyzer/words/rule_needs.h"
#include "tests/analyzer/finds.h"

namespace penstock::analyzer::testing {
namespace {

using traces::TraceData;

struct Faults {
  double per_sample = 1000;
  double cost_ns = 1000;
  std::string allocator = {};
  std::string decoder = "jpeg";
  int batches = 200;
};

// Two workers that decode all the time: 6 ms of CPU time for a batch of 4 samples, 0.6 s in all.
TraceData Faulting(const Faults& faults) {
  Synthetic run;
  run.costs = Always({.read = 0.1, .decode = 4, .augment = 1.5, .collate = 0.5, .step = 1});
  run.decoder = faults.decoder;
  run.batches = faults.batches;
  TraceData data = MakeSynthetic(run);
  data.facts["host.fault_ns"] = std::to_string(static_cast<int>(faults.cost_ns));
  const double end = 1000 + static_cast<double>(run.batches) * 6.2 / run.workers;
  for (std::uint32_t p = 1; p <= 2; ++p) {
    if (!faults.allocator.empty()) data.processes[p].facts["allocator"] = faults.allocator;
    const double rate = faults.per_sample * run.batch_size / 6.2;  // faults a millisecond
    // A worker's first sample imports libraries; after that only samples cause faults.
    for (double at = 1000; at < end; at += 20) {
      const double imported = at > 1000 ? 50'000 : 0;
      AddCounter(data, "minor_faults", p, at, imported + rate * (at - 1000));
    }
    AddCounter(data, "minor_faults", p, end, 50'000 + rate * (end - 1000));
    // After the loop's last batch the worker makes samples that nobody takes.
    AddCounter(data, "minor_faults", p, end + 100, 50'000 + 5 * rate * (end - 1000));
  }
  return data;
}

double Number(const Finding& finding, std::string_view key) {
  for (const auto& [name, value] : finding.evidence) {
    if (name == key) return std::get<double>(value);
  }
  ADD_FAILURE() << "no " << key;
  return 0;
}

TEST(PageFaultsTest, MemoryThatIsGivenBackForEachSampleIsFound) {
  const auto finding = FindingOf("allocator-page-faults", Faulting({}));
  ASSERT_TRUE(finding);
  EXPECT_NEAR(Number(*finding, "faults_per_sample"), 1000, 30);
  // A sample's 150,528 bytes in the batch are 36.75 pages. Twenty more are assumed to be needed.
  EXPECT_NEAR(Number(*finding, "needed_per_sample"), 36.75 + 20, 0.1);
  // A sample takes 943 avoidable faults of 1 us each, in 1.5 ms of CPU time.
  EXPECT_NEAR(Number(*finding, "cpu_share"), 0.63, 0.03);
  EXPECT_GT(finding->predicted->speedup, 2);
  EXPECT_NE(English(finding->action).find("MALLOC_TRIM_THRESHOLD_=268435456"), std::string::npos);
  EXPECT_EQ(English(finding->action).find("32 MB"), std::string::npos);
  EXPECT_EQ(finding->pids.size(), 2u);
  EXPECT_GT(finding->to, finding->from);
}

TEST(PageFaultsTest, FaultsThatCostLittleOrAreNeededAreFine) {
  EXPECT_TRUE(FindingOf("allocator-page-faults", Faulting({.per_sample = 160})));
  EXPECT_FALSE(FindingOf("allocator-page-faults", Faulting({.per_sample = 160, .cost_ns = 200})));
  EXPECT_FALSE(FindingOf("allocator-page-faults", Faulting({.per_sample = 100, .cost_ns = 9000})));
}

// What the recording lacks for the rule, if the report lists the rule as not checked; else empty.
Statement Needs(TraceData data) {
  const auto trace = traces::MakeTrace(std::move(data));
  const Advice advice = RunRules(*trace, Diagnose(*trace));
  for (const NotChecked& one : advice.not_checked) {
    if (std::count(one.ids.begin(), one.ids.end(), "allocator-page-faults") > 0) return one.needs;
  }
  return {};
}

TEST(PageFaultsTest, WithoutTheCostOfAFaultItIsNotChecked) {
  EXPECT_TRUE(Needs(Faulting({})).empty());
  TraceData data = Faulting({});
  data.facts.erase("host.fault_ns");
  EXPECT_TRUE(Needs(data).Is(words::kRuleNeedsFaults));
  EXPECT_FALSE(FindingOf("allocator-page-faults", std::move(data)));
}

TEST(PageFaultsTest, FilesThatAreMappedFaultInAsWell) {
  TraceData data = Faulting({});
  for (auto& process : data.processes) process.features |= wire::kFeatureMapped;
  EXPECT_TRUE(Needs(data).Is(words::kRuleNeedsUnmapped));
  EXPECT_FALSE(FindingOf("allocator-page-faults", std::move(data)));
}

TEST(PageFaultsTest, AFewBatchesSayNothing) {
  TraceData data = Faulting({.batches = 14});
  EXPECT_TRUE(Needs(data).Is(words::kRuleNeedsBatches));
  EXPECT_FALSE(FindingOf("allocator-page-faults", std::move(data)));
}

TEST(PageFaultsTest, LargerPagesAreNeededLessOften) {
  TraceData data = Faulting({.per_sample = 100, .cost_ns = 9000});
  data.facts["host.page_bytes"] = "65536";
  const auto finding = FindingOf("allocator-page-faults", std::move(data));
  ASSERT_TRUE(finding);
  EXPECT_NEAR(Number(*finding, "needed_per_sample"), 150'528 / 65'536.0 + 20, 0.1);
}

TEST(PageFaultsTest, AWayOutIsNamedForEachAllocator) {
  const auto pillow = FindingOf("allocator-page-faults",
                                Faulting({.allocator = "jemalloc", .decoder = "PIL jpeg"}));
  ASSERT_TRUE(pillow);
  EXPECT_NE(English(pillow->action).find("PILLOW_BLOCKS_MAX=16"), std::string::npos)
      << English(pillow->action);
  const auto other = FindingOf("allocator-page-faults", Faulting({.allocator = "mimalloc"}));
  ASSERT_TRUE(other);
  EXPECT_NE(English(other->action).find("mimalloc is loaded"), std::string::npos)
      << English(other->action);
}

}  // namespace
}  // namespace penstock::analyzer::testing
