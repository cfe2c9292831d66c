// SPDX-License-Identifier: Apache-2.0
//
// Plans for synthetic runs, whose costs are all known.
#include <sstream>

#include <gtest/gtest.h>
#include <simdjson.h>

#include "analyzer/diagnosis/base.h"
#include "analyzer/main/commands.h"
#include "analyzer/plan/experiments.h"
#include "analyzer/report/html_report.h"
#include "analyzer/report/plan_report.h"
#include "analyzer/report/report.h"
#include "analyzer/words/plan.h"
#include "tests/analyzer/plan_cases.h"
#include "tests/analyzer/synthetic.h"
#include "tests/analyzer/synthetic_threads.h"
#include "tests/analyzer/write_packed.h"
#include "tests/traces/support.h"

namespace penstock::analyzer {
namespace {

using testing::AddCounter;
using testing::Always;
using testing::BehindBest;
using testing::MakeSynthetic;
using testing::Planned;
using testing::Synthetic;
using testing::SyntheticTrace;

// Two workers decode with Pillow. They are much slower than the step, which takes 2 ms.
Synthetic Decoding(int cores) {
  Synthetic run;
  run.cores = cores;
  run.decoder = "PIL.load";
  run.costs = Always({.read = 1, .decode = 14, .augment = 2, .collate = 0.5, .step = 2});
  return run;
}

// Workers spend most of their CPU time on page faults, because the allocator gives memory back.
traces::TraceData Faulting() {
  Synthetic run = Decoding(2);
  run.decoder = "jpeg";
  run.costs = Always({.read = 0.1, .decode = 4, .augment = 1.5, .collate = 0.5, .step = 1});
  traces::TraceData data = MakeSynthetic(run);
  data.facts["host.fault_ns"] = "1000";
  const double end = 1000 + run.batches * 6.2 / run.workers;
  for (std::uint32_t p = 1; p <= 2; ++p) {
    for (double at = 1000; at < end; at += 20) {
      AddCounter(data, "minor_faults", p, at, 1000.0 * run.batch_size / 6.2 * (at - 1000));
    }
  }
  return data;
}

// The search ends within 2 % of the best combination. Then steps are left out of the plan whose
// gain is smaller than their interval, which is some 8 %.
constexpr double kBehind = 1.1;

void ExpectAscent(const Planned& planned) {
  double rate = planned.plan.now.estimate;
  double speedup = 1;
  for (const PlanStep& step : planned.plan.steps) {
    const Interval& predicted = step.predicted.rate;
    EXPECT_GE(predicted.estimate, 0.995 * rate) << step.id;
    EXPECT_GT(step.predicted.speedup, speedup) << step.id;
    EXPECT_LE(predicted.low, predicted.estimate) << step.id;
    EXPECT_GE(predicted.high, predicted.estimate) << step.id;
    EXPECT_LE(predicted.estimate, 1.001 * planned.plan.ceiling) << step.id;
    EXPECT_NEAR(step.gain * speedup, step.predicted.speedup, 1e-9) << step.id;
    rate = predicted.estimate;
    speedup = step.predicted.speedup;
  }
}

TEST(PlanTest, AHealthyRunGetsNoStepsAndIsToldThatTheStepIsTheLimit) {
  Synthetic run = Decoding(8);
  run.costs = Always({.read = 1, .decode = 4, .augment = 1, .step = 40});
  const Planned planned(SyntheticTrace(run));
  EXPECT_TRUE(planned.plan.missing.empty());
  EXPECT_TRUE(planned.plan.steps.empty()) << planned.Ids();
  EXPECT_TRUE(planned.plan.experiments.empty());
  EXPECT_TRUE(planned.plan.verdict.Is(words::kPlanAtLimit));
  EXPECT_NE(PlanText(planned.plan, Colour::kOff).find("the training step is the limit"),
            std::string::npos);
}

TEST(PlanTest, IdleCoresGetWorkersUpToTheStep) {
  const Planned planned(SyntheticTrace(Decoding(16)));
  EXPECT_EQ(planned.Ids().substr(0, 11), "num_workers") << planned.Ids();
  ExpectAscent(planned);
  EXPECT_LE(BehindBest(planned), kBehind);
  // The step takes 2 ms; taking a batch costs 0.3 ms more.
  EXPECT_GT(planned.plan.end(), 0.93 * 2 / 2.3 * planned.plan.ceiling);
  EXPECT_GT(planned.plan.steps.front().cost.ram, 0u);
  EXPECT_GT(planned.plan.steps.front().cost.ram_before, 0u);
  EXPECT_TRUE(planned.plan.steps.front().cost.other_workers);
}

TEST(PlanTest, FullCoresGetAFasterDecoderThatWidensTheInterval) {
  const Planned planned(SyntheticTrace(Decoding(2)));
  const PlanStep* decoder = planned.Step("decoder");
  ASSERT_NE(decoder, nullptr) << planned.Ids();
  EXPECT_FALSE(decoder->risk.empty());
  EXPECT_FALSE(decoder->cost.other_workers);
  EXPECT_FALSE(decoder->cost.other_ram);
  ExpectAscent(planned);
  EXPECT_LE(BehindBest(planned), kBehind);
  Changes changes;
  changes.decoder = "simplejpeg";
  const LoaderDiagnosis& loader = *planned.diagnosis.loader;
  const auto changed = ApplyChanges(loader.pipeline, loader.facts, loader.material, changes, {});
  ASSERT_TRUE(changed);
  const Prediction alone =
      OnBase(planned.diagnosis, Predict(loader.pipeline, changed->pipeline, loader.replay));
  if (planned.plan.steps.size() == 1) {
    EXPECT_DOUBLE_EQ(decoder->predicted.rate.estimate, alone.rate.estimate);
    EXPECT_LT(decoder->predicted.rate.low, alone.rate.low);
    EXPECT_GT(decoder->predicted.rate.high, alone.rate.high);
  }
}

TEST(PlanTest, TheVariablesOfMallocAreAStepWithItsFindingsGain) {
  const Planned planned(traces::MakeTrace(Faulting()));
  const PlanStep* malloc = planned.Step("malloc");
  ASSERT_NE(malloc, nullptr) << planned.Ids();
  EXPECT_EQ(malloc, planned.plan.steps.data());
  EXPECT_NE(English(malloc->change).find("MALLOC_TRIM_THRESHOLD_=268435456"), std::string::npos);
  EXPECT_EQ(malloc->cost.lines, 0);
  for (const Finding& finding : planned.findings) {
    if (finding.id != "allocator-page-faults") continue;
    EXPECT_DOUBLE_EQ(malloc->predicted.speedup,
                     OnBase(planned.diagnosis, *finding.predicted).speedup);
  }
  ExpectAscent(planned);
  EXPECT_LE(BehindBest(planned), kBehind);
}

// The handover of float32, decoding and reading are all expensive, so the plan has several changes.
TEST(PlanTest, SeveralChangesEndNearTheBestCombination) {
  std::size_t steps = 0;
  for (const int cores : {1, 2, 4}) {
    Synthetic run = Decoding(cores);
    run.costs =
        Always({.read = 6, .decode = 9, .augment = 3, .collate = 2, .put = 2, .get = 3, .step = 2});
    run.file_bytes = 100'000;
    traces::TraceData data = MakeSynthetic(run);
    data.processes[0].facts["loader.0.batch_types"] = "float32:602112";
    data.facts["dataset.bytes"] = "80000000";
    const Planned planned(traces::MakeTrace(std::move(data)));
    steps += planned.plan.steps.size();
    ExpectAscent(planned);
    EXPECT_LE(BehindBest(planned), kBehind) << cores << ": " << planned.Ids();
  }
  EXPECT_GE(steps, 2U);
}

TEST(PlanTest, AStepThatGainsLessThanItsIntervalIsLeftOut) {
  for (const int cores : {1, 2, 3, 4, 8}) {
    const Planned planned(SyntheticTrace(Decoding(cores)));
    for (const PlanStep& step : planned.plan.steps) {
      const Interval& rate = step.predicted.rate;
      EXPECT_TRUE(step.with_next || step.gain * rate.low / rate.estimate > 1)
          << cores << ' ' << step.id << ' ' << step.gain;
    }
  }
}

TEST(PlanTest, MemoryIsABudget) {
  Synthetic run = Decoding(2);
  run.costs = Always({.read = 14, .decode = 2, .augment = 1, .step = 2});
  run.cpu_share = 0.2;
  traces::TraceData data = MakeSynthetic(run);
  data.facts["dataset.bytes"] = "80000000";
  traces::TraceData same = data;
  const Planned planned(traces::MakeTrace(std::move(data)), {.budget_ram = 4e9});
  ASSERT_NE(planned.Step("ram_cache"), nullptr) << planned.Ids();
  EXPECT_GE(planned.Step("ram_cache")->cost.ram, 80'000'000u);
  EXPECT_LE(BehindBest(planned, 4e9), kBehind) << planned.Ids();
  const Planned small(traces::MakeTrace(std::move(same)), {.budget_ram = 60e6});
  EXPECT_EQ(small.Step("ram_cache"), nullptr) << small.Ids();
  for (const PlanStep& step : small.plan.steps) EXPECT_LE(step.cost.ram, 60'000'000u) << step.id;
  EXPECT_LE(BehindBest(small, 60e6), kBehind) << small.Ids();
}

// The search simulates only a few of these large batches, and all of them fit into the ring.
TEST(PlanTest, LargeBatchesOfThreadsAreSearchedToo) {
  testing::SyntheticThreads run;
  run.threads = 1;
  run.prefetch = 8;
  run.batch_size = 256;
  run.batches = 40;
  const Planned planned(testing::ThreadsTrace(run));
  ASSERT_TRUE(planned.plan.missing.empty());
  EXPECT_NE(planned.Step("num_workers"), nullptr) << planned.Ids();
}

TEST(PlanTest, WorkersThatStayAreAStepWhereEpochsStartAnew) {
  Synthetic run = Decoding(4);
  run.epochs = 6;
  run.batches = 40;
  run.worker_start = 120;
  run.worker_stop = 20;
  const Planned planned(SyntheticTrace(run));
  EXPECT_NE(planned.Step("persistent_workers"), nullptr) << planned.Ids();
  ExpectAscent(planned);
  EXPECT_LE(BehindBest(planned), kBehind);
}

TEST(PlanTest, WhatTheTraceCannotTellIsAnExperiment) {
  Synthetic run = Decoding(4);
  run.costs = Always({.read = 14, .decode = 2, .augment = 1, .step = 2});
  run.file_bytes = 0;
  const Planned planned(SyntheticTrace(run));
  bool found = false;
  for (const PlanExperiment& one : planned.plan.experiments) {
    if (one.id != "ram_cache") continue;
    found = true;
    EXPECT_EQ(one.command, "penstock whatif T --ram-cache");
  }
  EXPECT_TRUE(found);
}

TEST(PlanTest, ForkIsAnExperimentWhereWorkersStartAnew) {
  const auto command = [](const char* method, double start_ms) {
    Synthetic run = Decoding(4);
    run.worker_start = start_ms;
    traces::TraceData data = MakeSynthetic(run);
    data.processes[0].facts["loader.0.start_method"] = method;
    const Planned planned(traces::MakeTrace(std::move(data)));
    for (const PlanExperiment& one : planned.plan.experiments) {
      if (one.id == "start_method") return one.command;
    }
    return std::string();
  };
  const std::string expected =
      "penstock record --override start_method=fork -o fork.penstock -- COMMAND";
  EXPECT_EQ(command("forkserver", 2000), expected);
  EXPECT_EQ(command("spawn", 2000), expected);
  EXPECT_EQ(command("spawn", 2), "");
  EXPECT_EQ(command("fork", 2000), "");
}

TEST(PlanTest, TheReferenceLoaderIsAnExperimentWhereItHasTheOperations) {
  const auto operations = [](const char* transform, const char* types) {
    Synthetic run = Decoding(4);
    run.transform = transform;
    traces::TraceData data = MakeSynthetic(run);
    data.processes[0].facts["loader.0.batch_types"] = types;
    data.facts["dataset.root"] = "/data/my pictures";
    const Planned planned(traces::MakeTrace(std::move(data)));
    for (const PlanExperiment& one : planned.plan.experiments) {
      if (one.id == "reference_loader") return one.command;
    }
    return std::string();
  };
  EXPECT_EQ(operations("RandomResizedCrop", "float32:2408448"),
            "penstock load '/data/my pictures' --workers 4 --batch 4 --ops "
            "random_resized_crop=224 --epochs 1");
  EXPECT_EQ(operations("RandAugment", "float32:2408448"), "");
  EXPECT_EQ(operations("RandomResizedCrop", "float32:1000"), "");
}

TEST(PlanTest, ARefusalSaysWhy) {
  Synthetic run = Decoding(4);
  run.batches = 9;
  const Planned planned(SyntheticTrace(run));
  EXPECT_FALSE(planned.plan.missing.empty());
  EXPECT_TRUE(planned.plan.steps.empty());
  EXPECT_EQ(planned.plan.ceiling, 0);
  EXPECT_NE(PlanText(planned.plan, Colour::kOff).find("no plan. Not enough: "), std::string::npos);
}

TEST(PlanTest, TheTextHasEightyColumns) {
  const Planned planned(SyntheticTrace(Decoding(2)));
  std::istringstream lines(PlanText(planned.plan, Colour::kOff));
  for (std::string line; std::getline(lines, line);) {
    EXPECT_LE(line.size(), 80u) << line;
  }
}

TEST(PlanTest, ReportCommandAndPageSayTheSame) {
  const auto trace = SyntheticTrace(Decoding(4));
  const Report report = BuildReport(*trace, "T");
  ASSERT_FALSE(report.plan.steps.empty());
  simdjson::dom::parser parsers[2];
  const auto whole = parsers[0].parse(ReportJson(report)).at_key("plan").value();
  const auto plan = parsers[1].parse(PlanJson(report.plan)).value();
  EXPECT_EQ(simdjson::minify(whole), simdjson::minify(plan));
  EXPECT_EQ(plan["steps"].at(0)["id"].get_string().value(), report.plan.steps[0].id);
  EXPECT_NEAR(plan["ceiling_samples_per_s"].get_double().value(), report.plan.ceiling, 1e-6);
  const std::string text = ReportText(report, Colour::kOff);
  EXPECT_NE(text.find(PlanText(report.plan, Colour::kOff, PlanDetail::kSteps)), std::string::npos);
  EXPECT_LT(text.find("\nPlan\n"), text.find("throughput"));
  for (const Language language : {Language::kEnglish, Language::kChinese}) {
    const std::string page = ReportHtml(report, BuildPlots(*trace, report), language);
    for (std::size_t i = 0; i < report.plan.steps.size(); ++i) {
      const PlanStep& step = report.plan.steps[i];
      EXPECT_NE(page.find(Render(step.change, language)), std::string::npos) << step.id;
      const std::string number = std::to_string(i + 1);
      const std::string name =
          language == Language::kEnglish ? number + ". " + step.id : "第 " + number + " 步";
      EXPECT_NE(page.find(name), std::string::npos) << name;
    }
    EXPECT_LT(page.find("<h2 id=\"plan\">"), page.find("<h2 id=\"seen\">"));
  }
}

// If the suggested arguments of the loader are as good as others, the plan takes them.
TEST(PlanTest, TheFirstArgumentsAreTheSuggestedOnes) {
  const Planned planned(SyntheticTrace(Decoding(16)));
  const Suggestion& suggestion = planned.diagnosis.loader->suggestion;
  const PlanStep* workers = planned.Step("num_workers");
  ASSERT_NE(workers, nullptr);
  EXPECT_EQ(workers->value, std::to_string(suggestion.workers));
}

TEST(PlanTest, TheSearchIsBounded) {
  Synthetic run = Decoding(64);
  run.costs =
      Always({.read = 6, .decode = 90, .augment = 3, .collate = 2, .put = 2, .get = 3, .step = 2});
  traces::TraceData data = MakeSynthetic(run);
  data.processes[0].facts["loader.0.batch_types"] = "float32:602112";
  data.facts["dataset.bytes"] = "80000000";
  data.facts["gpu.model"] = "NVIDIA H100";
  const Planned planned(traces::MakeTrace(std::move(data)));
  EXPECT_GT(planned.plan.simulations, 10);
  // Ordering the steps and judging their gains takes a few more simulations for each pair of steps.
  EXPECT_LE(planned.plan.simulations, kMostSimulations + 200);
  ExpectAscent(planned);
}

TEST(PlanTest, TellsGainsBeyondTwentyAsMoreThanTwenty) {
  Plan plan;
  plan.now = {10, 9, 11};
  PlanStep step;
  step.id = "num_workers";
  step.predicted.rate = {487.8, 450, 520};
  step.predicted.speedup = 48.78;
  plan.steps = {step};
  const std::string text = PlanText(plan, Colour::kOff);
  EXPECT_NE(text.find(", >20x"), std::string::npos) << text;
  const std::string page = PlanHtml(plan, Language::kChinese);
  EXPECT_NE(page.find("，&gt;20x"), std::string::npos) << page;
  for (const std::string& told : {text, page}) EXPECT_EQ(told.find("48.78"), std::string::npos);
}

TEST(PlanTest, HasNoPowersOfTenOnItsAxis) {
  Plan plan;
  plan.now = {20'000, 19'000, 21'000};
  plan.no_ceiling = true;
  PlanStep step;
  step.id = "num_workers";
  step.predicted.rate = {40'000, 39'000, 41'000};
  step.predicted.speedup = 2;
  plan.steps = {step};
  const std::string page = PlanHtml(plan, Language::kEnglish);
  EXPECT_NE(page.find(">40000</text>"), std::string::npos) << page;
  EXPECT_EQ(page.find("e+04"), std::string::npos);
}

TEST(PlanTest, GivesALongCommandToItsEnd) {
  Plan plan;
  PlanExperiment experiment;
  experiment.command = "python train.py --name " + std::string(600, 'x') + " --epochs 90";
  plan.experiments = {experiment};
  EXPECT_NE(PlanText(plan, Colour::kOff).find(experiment.command), std::string::npos);
  EXPECT_NE(PlanHtml(plan, Language::kEnglish).find(experiment.command), std::string::npos);
}

TEST(PlanCommandTest, ExitsWithFourWhereNothingCanBePredicted) {
  const traces::testing::TempFolder folder;
  const auto path = folder / "short.penstock";
  Synthetic run = Decoding(4);
  for (const int batches : {9, 200}) {
    run.batches = batches;
    testing::WritePacked(path, MakeSynthetic(run));
    EXPECT_EQ(PlanCommand({path.string(), "--json"}), batches == 9 ? 4 : 0);
  }
  EXPECT_EQ(PlanCommand({path.string(), "--budget-ram", "much"}), 2);
}

}  // namespace
}  // namespace penstock::analyzer
