// SPDX-License-Identifier: Apache-2.0
//
// A loop that uses loaders one after the other: verdict and plan say which part of the program they
// are about.
#include <memory>
#include <string>
#include <utility>

#include <fmt/core.h>
#include <gtest/gtest.h>

#include "analyzer/advice/finding.h"
#include "analyzer/diagnosis/diagnosis.h"
#include "analyzer/diagnosis/summary.h"
#include "analyzer/model/loop_use.h"
#include "analyzer/plan/plan.h"
#include "tests/analyzer/synthetic.h"

namespace penstock::analyzer {
namespace {

using testing::Synthetic;

// A run whose main loader, eval.py:42, gains by workers. `other`: seconds that the loop takes with
// another loader of its process.
struct TwoInTurn {
  explicit TwoInTurn(double other, LoopUse use = LoopUse::kInTurn) {
    Synthetic run;
    run.workers = 0;
    run.costs = testing::Always({.decode = 20, .step = 10});
    trace = testing::SyntheticTrace(run);
    diagnosis = Diagnose(*trace);
    LoaderRun& main = diagnosis.run.loaders.front();
    main.use = use;
    main.name = "eval.py:42";
    LoaderRun second;
    second.config.consumer = main.config.consumer;
    second.lasted = other * main.lasted;
    diagnosis.run.loaders.push_back(std::move(second));
    diagnosis.summary = Summarise(diagnosis);
    plan = BuildPlan(*trace, diagnosis, {}, {});
  }

  std::unique_ptr<traces::Trace> trace;
  Diagnosis diagnosis;
  Plan plan;
};

bool Has(const Statement& statement, const std::string& text) {
  return English(statement).find(text) != std::string::npos;
}

TEST(OneLoaderTest, VerdictAndPlanSayThePartOfTheProgram) {
  const TwoInTurn run(1);
  EXPECT_NEAR(0.5, PartOfLoop(run.diagnosis.run), 1e-9);
  EXPECT_TRUE(Has(run.diagnosis.summary, "the loop over eval.py:42, which takes 50 %"))
      << English(run.diagnosis.summary);
  ASSERT_FALSE(run.plan.steps.empty());
  const double gain = run.plan.steps.back().predicted.speedup;
  ASSERT_GT(gain, 1.5);
  const std::string whole = fmt::format("{:.2f} times as fast", 1 / (0.5 + 0.5 / gain));
  EXPECT_TRUE(Has(run.plan.verdict, "together these loops become " + whole))
      << English(run.plan.verdict);
}

TEST(OneLoaderTest, AShortValidationIsNotMentioned) {
  const TwoInTurn run(0.05);
  EXPECT_FALSE(Has(run.diagnosis.summary, "the loop over"));
  EXPECT_FALSE(Has(run.plan.verdict, "whole program"));
}

TEST(OneLoaderTest, LoadersOfOneLoopHaveOneRate) {
  const TwoInTurn run(1, LoopUse::kInterleaved);
  EXPECT_EQ(1, PartOfLoop(run.diagnosis.run));
  EXPECT_FALSE(Has(run.diagnosis.summary, "the loop over"));
}

}  // namespace
}  // namespace penstock::analyzer
