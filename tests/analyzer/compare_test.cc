// SPDX-License-Identifier: Apache-2.0
//
// Compares two runs, and tells changes from noise.
#include "analyzer/report/compare.h"

#include <algorithm>
#include <random>
#include <string>
#include <string_view>
#include <utility>

#include <gtest/gtest.h>
#include <simdjson.h>

#include "analyzer/report/program_name.h"
#include "tests/analyzer/synthetic.h"
#include "tests/analyzer/synthetic_threads.h"

namespace penstock::analyzer {
namespace {

using testing::Costs;
using testing::Synthetic;

// A run whose bottleneck is decoding. Decode times vary by 30 %; `slower` multiplies them.
Diagnosis Noisy(std::uint64_t seed, double slower, int batches = 200) {
  std::mt19937_64 random(seed);
  std::lognormal_distribution<double> draw(3, 0.3);
  std::vector<double> decode(static_cast<std::size_t>(batches));
  for (double& value : decode) value = slower * draw(random);
  Synthetic run;
  run.workers = 2;
  run.cores = 4;
  run.batches = batches;
  run.costs = [&](int, int index) {
    return Costs{1, decode[static_cast<std::size_t>(index)], 3, 1, 0.1, 0.3, 4, 0};
  };
  return Diagnose(*testing::SyntheticTrace(run));
}

Comparison Compared(const Diagnosis& before, const Diagnosis& after) {
  const Predicted<Comparison> result = Compare(Baseline{before, "a"}, Candidate{after, "b"});
  EXPECT_TRUE(result);
  return result.value_or(Comparison{});
}

const Change& Stage(const Comparison& comparison, const std::string& name) {
  static const Change none;
  const auto found = std::find_if(comparison.stages.begin(), comparison.stages.end(),
                                  [&](const Change& change) { return change.name == name; });
  return found == comparison.stages.end() ? none : *found;
}

TEST(CompareTest, NamesTheStageThatGrew) {
  const Comparison comparison = Compared(Noisy(1, 1), Noisy(2, 1.3));
  EXPECT_TRUE(comparison.throughput.significant);
  EXPECT_LT(comparison.throughput.ratio.high, 1);
  EXPECT_TRUE(Stage(comparison, "decode").significant);
  EXPECT_NEAR(Stage(comparison, "decode").ratio.estimate, 1.3, 0.15);
  EXPECT_FALSE(Stage(comparison, "augment").significant);
  EXPECT_FALSE(Stage(comparison, "step").significant);
}

// The steady rate leaves pauses out, so the step of the comparison does too.
TEST(CompareTest, APauseIsNoStep) {
  Synthetic saves;
  saves.costs = [](int, int index) {
    Costs costs;
    if (index % 40 == 30) costs.step = 2000;
    return costs;
  };
  const Diagnosis after = Diagnose(*testing::SyntheticTrace(saves));
  ASSERT_EQ(after.loader->steady.pauses.size(), 5u);
  const Comparison comparison = Compared(Diagnose(*testing::SyntheticTrace(Synthetic{})), after);
  EXPECT_NEAR(Stage(comparison, "step").ratio.estimate, 1, 0.01);
  EXPECT_FALSE(Stage(comparison, "step").significant);
  EXPECT_NEAR(Stage(comparison, "step").after, 1e-3, 1e-5);  // per sample; a batch has four
}

TEST(CompareTest, CallsTwoRunsOfTheSameNoise) {
  int alarms = 0;
  for (std::uint64_t seed = 1; seed <= 6; ++seed) {
    const Comparison comparison = Compared(Noisy(2 * seed, 1), Noisy(2 * seed + 1, 1));
    alarms += comparison.throughput.significant;
  }
  EXPECT_EQ(alarms, 0);
  const std::string text = CompareText(Compared(Noisy(1, 1), Noisy(1, 1)), Colour::kOff);
  EXPECT_NE(text.find("No difference beyond noise"), std::string::npos) << text;
}

TEST(CompareTest, FewBatchesAreNeverSignificant) {
  const Comparison comparison = Compared(Noisy(1, 1, 15), Noisy(1, 3, 15));
  EXPECT_FALSE(comparison.enough);
  EXPECT_FALSE(comparison.throughput.significant);
  EXPECT_FALSE(Stage(comparison, "decode").significant);
  EXPECT_NE(CompareText(comparison, Colour::kOff).find("Too few"), std::string::npos);
}

// What cannot be told is neither beyond noise nor within it.
TEST(CompareTest, WithTooFewBatchesNothingIsSaidOfNoise) {
  const std::string few = CompareText(Compared(Noisy(1, 1, 15), Noisy(1, 3, 15)), Colour::kOff);
  for (const char* part : {"noise", "points", "interval", "more, less"}) {
    EXPECT_EQ(few.find(part), std::string::npos) << part << "\n" << few;
  }
  EXPECT_NE(few.find(" of the loop\n"), std::string::npos) << few;
  const std::string enough = CompareText(Compared(Noisy(1, 1), Noisy(2, 1.3)), Colour::kOff);
  for (const char* part : {" points, ", "95 % interval", "more, less"}) {
    EXPECT_NE(enough.find(part), std::string::npos) << part << "\n" << enough;
  }
}

TEST(CompareTest, ABottleneckThatStaysIsNamedOnce) {
  const std::string same = CompareText(Compared(Noisy(1, 1), Noisy(2, 1.3)), Colour::kOff);
  EXPECT_NE(same.find("bottleneck decode in both\n"), std::string::npos) << same;
}

TEST(CompareTest, ThePointsAreThoseOfTheSharesThatAreShown) {
  EXPECT_EQ(ShownPoints({"wait", 0.784, 0.955, {0.171, 0.15, 0.2}, true}), 18);  // 78 % -> 96 %
}

TEST(CompareTest, RefusesATraceWithoutALoader) {
  const Diagnosis empty = Diagnose(*traces::MakeTrace({}));
  const Diagnosis run = Noisy(1, 1);
  const Predicted<Comparison> result = Compare(Baseline{run, "a"}, Candidate{empty, "b.penstock"});
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().kind, ErrorKind::kInput);
  EXPECT_EQ(result.error().error().message.rfind("b.penstock: not enough", 0), 0u);
}

// One run has batches of four samples; the other does not tell its samples. The first run is not
// four times as fast: batches are counted in both.
TEST(CompareTest, CountsBatchesWhereOneRunDoesNotTellItsSamples) {
  Synthetic silent;
  silent.loader_facts = silent.sample_spans = false;
  const Comparison comparison = Compared(Diagnose(*testing::SyntheticTrace(Synthetic{})),
                                         Diagnose(*testing::SyntheticTrace(silent)));
  EXPECT_NEAR(comparison.throughput.ratio.estimate, 1, 0.05);
  EXPECT_NEAR(Stage(comparison, "collate").ratio.estimate, 1, 0.05);
  const std::string text = CompareText(comparison, Colour::kOff);
  EXPECT_NE(text.find("batches/s"), std::string::npos) << text;
  EXPECT_NE(text.find("  per batch "), std::string::npos) << text;
}

// Traces of other tools have no CPU time. The missing time must not count as a saving.
TEST(CompareTest, LeavesOutCpuTimeThatOneRunDoesNotHave) {
  traces::TraceData data = testing::MakeSynthetic({});
  for (auto& spans : data.spans) {
    for (traces::Span& span : spans) span.cpu = TimeNs{-1};
  }
  const Diagnosis timed = Diagnose(*testing::SyntheticTrace(Synthetic{}));
  EXPECT_GT(Stage(Compared(timed, timed), "decode CPU").before, 0);
  const Comparison comparison = Compared(timed, Diagnose(*traces::MakeTrace(std::move(data))));
  EXPECT_EQ(Stage(comparison, "decode CPU").name, "");
  EXPECT_GT(Stage(comparison, "decode").after, 0);
}

TEST(CompareTest, WritesJson) {
  const std::string text = CompareJson(Compared(Noisy(1, 1), Noisy(2, 1.3)));
  simdjson::dom::parser parser;
  simdjson::dom::element json;
  ASSERT_EQ(parser.parse(text).get(json), simdjson::SUCCESS);
  EXPECT_EQ(std::string_view(json["schema"]), "penstock.compare/1");
  EXPECT_TRUE(bool(json["throughput"]["significant"]));
  EXPECT_GT(double(json["before"]["samples_per_s"]), double(json["after"]["samples_per_s"]));
}

// A ratio of 0 would say that the stage is gone.
TEST(CompareTest, AStageThatOnlyTheSecondRunHasHasNoRatio) {
  Costs costs;
  costs.tokenize = 2;
  Synthetic tokens;
  tokens.costs = testing::Always(costs);
  const std::string text = CompareJson(Compared(Diagnose(*testing::SyntheticTrace(Synthetic{})),
                                                Diagnose(*testing::SyntheticTrace(tokens))));
  simdjson::dom::parser parser;
  simdjson::dom::element json;
  ASSERT_EQ(parser.parse(text).get(json), simdjson::SUCCESS);
  int found = 0;
  const simdjson::dom::array stages = json["stages"].get_array().value();
  for (const simdjson::dom::element stage : stages) {
    const std::string_view name = stage["name"].get_string().value();
    if (name == "decode") {
      EXPECT_EQ(stage["ratio"].error(), simdjson::SUCCESS) << text;
    }
    if (name != "tokenize") continue;
    ++found;
    EXPECT_GT(stage["after_s"].get_double().value(), 0) << text;
    EXPECT_EQ(stage["ratio"].error(), simdjson::NO_SUCH_FIELD) << text;
    EXPECT_EQ(stage["high"].error(), simdjson::NO_SUCH_FIELD) << text;
  }
  EXPECT_EQ(found, 1) << text;
}

TEST(CompareTest, SaysWhereTheNumberOfWorkersIsNotKnown) {
  Comparison comparison = Compared(Noisy(1, 1), Noisy(1, 1));
  comparison.after.config.workers_known = false;
  comparison.after.config.num_workers = 0;
  const std::string text = CompareText(comparison, Colour::kOff);
  EXPECT_NE(text.find("a: pytorch, 2 workers"), std::string::npos) << text;
  EXPECT_NE(text.find("b: pytorch, number of workers not known"), std::string::npos) << text;
}

TEST(CompareTest, TwoProgramsHaveNoFactorAndOneProgramWithOtherOptionsHasIt) {
  const Diagnosis before = Noisy(1, 1);
  const Diagnosis after = Noisy(2, 0.5);
  const auto text = [&](const char* other) {
    const auto result = Compare(Baseline{before, "a", "python /src/train.py --workers 2"},
                                Candidate{after, "b", other});
    EXPECT_TRUE(result);
    return CompareText(result.value_or(Comparison{}), Colour::kOff);
  };
  const std::string two = text("python bench.py");
  EXPECT_NE(two.find("Different programs (train.py, bench.py)"), std::string::npos) << two;
  EXPECT_EQ(two.find("x of A"), std::string::npos) << two;
  for (const char* same : {"python3 train.py --workers 4", ""}) {
    EXPECT_NE(text(same).find("B runs at "), std::string::npos) << text(same);
  }
}

// "B runs at 0.16x of A" was all that was said of 120 large pictures instead of 1200 small ones.
TEST(CompareTest, SaysThatTwoDataSetsAreNotTheSameWork) {
  Comparison comparison = Compared(Noisy(1, 1), Noisy(2, 1.3));
  const std::string warning =
      "another data set (120 samples instead of 1200): the runs may not do the same work";
  comparison.before.config.dataset_length = 1200;
  for (const std::int64_t same : {std::int64_t{-1}, std::int64_t{1200}}) {
    comparison.after.config.dataset_length = same;
    EXPECT_FALSE(comparison.of_two_datasets()) << same;
    EXPECT_EQ(CompareText(comparison, Colour::kOff).find("data set"), std::string::npos);
  }
  comparison.after.config.dataset_length = 120;
  EXPECT_NE(CompareText(comparison, Colour::kOff).find(warning), std::string::npos);
  EXPECT_NE(CompareJson(comparison).find("\"two_datasets\": true"), std::string::npos);
  // A dataset that makes batches: 63 of 32 are 32 of 64, with a short one at the end.
  comparison.before.config.batch_size = comparison.after.config.batch_size = 0;
  comparison.before.config.dataset_length = 63;
  comparison.after.config.dataset_length = 32;
  EXPECT_FALSE(comparison.of_two_datasets()) << "batches of unknown length";
  comparison.before.config.batch_length = 32;
  comparison.after.config.batch_length = 64;
  EXPECT_FALSE(comparison.of_two_datasets());
  comparison.after.config.batch_length = 32;
  EXPECT_TRUE(comparison.of_two_datasets());
  comparison.before.program = "train.py";
  comparison.after.program = "bench.py";
  EXPECT_FALSE(comparison.of_two_datasets());
}

TEST(CompareTest, TheNameOfAProgramIsThatOfItsScriptModuleOrBinary) {
  EXPECT_EQ(ProgramOf("torchrun --nproc 2 /src/train.py --data /d"), "train.py");
  EXPECT_EQ(ProgramOf("python -m timm.train --workers 2"), "timm.train");
  EXPECT_EQ(ProgramOf("python -m torch.distributed.run --nproc_per_node 2 train.py"), "train.py");
  EXPECT_EQ(ProgramOf("python -m accelerate.commands.launch -m timm.train"), "timm.train");
  EXPECT_EQ(ProgramOf("python -m coverage run /src/train.py"), "train.py");
  EXPECT_EQ(ProgramOf("numactl -m 0 ./trainer"), "numactl");
  EXPECT_EQ(ProgramOf("python -c pass"), "");
  EXPECT_EQ(ProgramOf(""), "");
}

// The loaders differ, but the stages are still compared, per sample.
TEST(CompareTest, ComparesLoadersOfTwoKinds) {
  testing::SyntheticThreads threads;
  const Diagnosis after = Diagnose(*testing::ThreadsTrace(threads));
  const Comparison comparison = Compared(Noisy(1, 1), after);
  EXPECT_NEAR(Stage(comparison, "decode").after, 4e-3, 1e-5);
  EXPECT_NE(CompareText(comparison, Colour::kOff).find("penstock, 4 threads"), std::string::npos);
}

}  // namespace
}  // namespace penstock::analyzer
