// SPDX-License-Identifier: Apache-2.0
//
// Plans for real recordings: those of the validation, and the sample file of the trace format.
#include <filesystem>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "tests/analyzer/plan_cases.h"
#include "tests/paths.h"

namespace penstock::analyzer {
namespace {

using testing::BehindBest;
using testing::Planned;

std::vector<std::filesystem::path> Recordings() {
  std::vector<std::filesystem::path> all;
  for (const char* folder : {paths::kRecordings, paths::kSamples}) {
    for (const auto& entry : std::filesystem::directory_iterator(folder)) {
      if (entry.path().extension() == ".penstock") all.push_back(entry.path());
    }
  }
  std::sort(all.begin(), all.end());
  return all;
}

TEST(PlanRecordingsTest, EveryPlanAscendsToTheBestCombinationAndNotBeyondItsCeiling) {
  const auto recordings = Recordings();
  ASSERT_GT(recordings.size(), 100u);
  int plans = 0;
  for (const auto& path : recordings) {
    auto trace = traces::OpenTrace(path);
    ASSERT_TRUE(trace) << path;
    const Planned planned(std::move(*trace));
    const Plan& plan = planned.plan;
    const std::string name = path.filename().string() + ": " + planned.Ids();
    if (!plan.missing.empty()) {
      EXPECT_TRUE(plan.steps.empty()) << name;
      continue;
    }
    EXPECT_FALSE(plan.verdict.empty()) << name;
    double rate = plan.now.estimate;
    double speedup = 1;
    double doubt = 1;  // for the last step: the predicted rate over the low end of its interval
    for (const PlanStep& step : plan.steps) {
      const Interval& predicted = step.predicted.rate;
      EXPECT_GE(predicted.estimate, 0.98 * rate) << name;
      EXPECT_GE(step.predicted.speedup, 0.98 * speedup) << name;
      EXPECT_LE(predicted.estimate, 1.001 * plan.ceiling) << name;
      rate = predicted.estimate;
      speedup = step.predicted.speedup;
      doubt = predicted.estimate / predicted.low;
      ++plans;
    }
    const double behind = BehindBest(planned);
    if (std::getenv("PENSTOCK_SHOW_PLANS") != nullptr) {
      std::printf("%s | now %.1f ceiling %.1f end %.1f x%.2f behind %.3f doubt %.3f sims %d\n",
                  name.c_str(), plan.now.estimate, plan.ceiling, plan.end(), speedup, behind, doubt,
                  plan.simulations);
    }
  }
  EXPECT_GT(plans, 20);
}

}  // namespace
}  // namespace penstock::analyzer
