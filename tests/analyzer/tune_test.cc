// SPDX-License-Identifier: Apache-2.0
//
// Tuning a synthetic program that obeys its settings, or does not.
#include "analyzer/main/tune.h"

#include <functional>
#include <utility>

#include <gtest/gtest.h>

#include "analyzer/main/spawn.h"
#include "tests/analyzer/synthetic.h"
#include "tests/analyzer/synthetic_threads.h"

namespace penstock::analyzer {
namespace {

using testing::Costs;
using testing::Synthetic;

// A program that can be run with other settings. `obeys`: they take effect as expected.
struct Program {
  Synthetic run;
  bool obeys = true;
  int runs = 0;

  TuneRunner Runner() {
    return
        [this](
            const std::optional<TuneSetting>& setting) -> Result<std::unique_ptr<traces::Trace>> {
          ++runs;
          Synthetic now = run;
          if (setting && obeys) {
            now.workers = setting->workers;
            now.prefetch = setting->prefetch;
            now.persistent = setting->persistent;
          }
          return testing::SyntheticTrace(now);
        };
  }
};

Program DecodeBound() {
  Program program;
  program.run.workers = 1;
  program.run.costs = testing::Always(Costs{1, 20, 8, 1, 0.1, 0.2, 9.7, 0});
  return program;
}

TuneResult Tuned(Program& program, TuneOptions options = {}) {
  const auto result = Tune(program.Runner(), options);
  EXPECT_TRUE(result);
  return result.value_or(TuneResult{});
}

TEST(TuneTest, ConfirmsAGainAndSaysWhatToPaste) {
  Program program = DecodeBound();
  const TuneResult result = Tuned(program);
  EXPECT_EQ(result.verdict, TuneVerdict::kConfirmed);
  ASSERT_EQ(result.trials.size(), 2u);
  EXPECT_EQ(result.trials[1].setting->workers, 3);
  EXPECT_NEAR(result.trials[1].measured.estimate, result.trials[1].predicted->rate.estimate,
              0.05 * result.trials[1].measured.estimate);
  EXPECT_GT(result.trials[1].speedup, 2.5);
  EXPECT_EQ(result.code, "DataLoader(dataset, batch_size=4, num_workers=3, prefetch_factor=2)");
}

TEST(TuneTest, RefutesWhatDoesNotHelp) {
  Program program = DecodeBound();
  program.obeys = false;
  const TuneResult result = Tuned(program);
  EXPECT_EQ(result.verdict, TuneVerdict::kRefuted);
  EXPECT_EQ(program.runs, 2);
  EXPECT_TRUE(result.code.empty());
}

// Promised 964, measured 796: that is not "as fast as predicted".
TEST(TuneTest, DoesNotConfirmAGainThatStaysBelowThePromise) {
  Program program = DecodeBound();
  const TuneRunner as_it_is = program.Runner();
  const TuneRunner slower = [&](const std::optional<TuneSetting>& setting) {
    const auto before = program.run.costs;
    if (setting) program.run.costs = testing::Always(Costs{1, 20, 24, 1, 0.1, 0.2, 9.7, 0});
    auto trace = as_it_is(setting);
    program.run.costs = before;
    return trace;
  };
  TuneOptions options;
  options.trials = 1;
  const auto result = Tune(slower, options);
  ASSERT_TRUE(result);
  EXPECT_EQ(result->verdict, TuneVerdict::kPartly);
  EXPECT_GT(result->trials[1].speedup, 1.3);
  EXPECT_LT(result->trials[1].measured.estimate, 0.9 * result->trials[1].predicted->rate.low);
}

TEST(TuneTest, ChangesTheLoaderThatIsAskedForAlone) {
  Program program = DecodeBound();
  TuneOptions options;
  options.loader = "train.py:88";  // the synthetic loader has no name
  const auto unknown = Tune(program.Runner(), options);
  ASSERT_FALSE(unknown);
  EXPECT_EQ(unknown.error().kind, ErrorKind::kUsage);
  EXPECT_EQ(program.runs, 1);
  EXPECT_EQ((TuneSetting{4, 2, true, "train.py:88"}.Override()),
            "workers=4,prefetch=2,persistent=1,at=train.py:88");
}

TEST(TuneTest, TakesNoActionWhereTheStepIsTheLimit) {
  Program program;
  program.run.costs = testing::Always(Costs{1, 4, 2, 1, 0.1, 0.2, 40, 0});
  const TuneResult result = Tuned(program);
  EXPECT_EQ(result.verdict, TuneVerdict::kNoAction);
  EXPECT_EQ(result.bottleneck, Factor::kCompute);
  EXPECT_EQ(program.runs, 1);
}

TEST(TuneTest, RespectsTheMemoryBudget) {
  Program program = DecodeBound();
  program.run.sample_bytes = 50'000'000;  // 200 MB a batch
  TuneOptions options;
  options.budget_ram = 1.3e9;  // two workers with a depth of 2
  const TuneResult result = Tuned(program, options);
  ASSERT_EQ(result.trials.size(), 2u);
  EXPECT_LE(result.trials[1].predicted->ram, 1'300'000'000u);
  EXPECT_EQ(result.trials[1].setting->workers, 3);  // and a depth of 1: 1.2 GB
  EXPECT_EQ(result.trials[1].setting->prefetch, 1);
}

TEST(TuneTest, SaysWhatARecordingLacks) {
  Program program = DecodeBound();
  program.run.batches = 10;
  const TuneResult few = Tuned(program);
  EXPECT_EQ(few.verdict, TuneVerdict::kNotEnough);
  EXPECT_EQ(few.why.rfind("not enough: needs", 0), 0u) << few.why;
  const auto threads =
      [](const std::optional<TuneSetting>&) -> Result<std::unique_ptr<traces::Trace>> {
    return testing::ThreadsTrace({});
  };
  const auto other = Tune(threads, {});
  ASSERT_TRUE(other);
  EXPECT_NE(other->why.find("torch.utils.data.DataLoader"), std::string::npos) << other->why;
}

TEST(TuneTest, PassesOnTheFailureOfARun) {
  const auto fails =
      [](const std::optional<TuneSetting>&) -> Result<std::unique_ptr<traces::Trace>> {
    return Fail(ErrorKind::kEnvironment, "train.py: exit status 7");
  };
  const auto result = Tune(fails, {});
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().message, "train.py: exit status 7");
}

// A first suggestion that gains less than predicted, so that there is a second.
TuneRunner GainsHalf(Program& program, std::function<void(Synthetic&)> later, bool fails = false) {
  return [&program, later = std::move(later), fails](
             const std::optional<TuneSetting>& setting) -> Result<std::unique_ptr<traces::Trace>> {
    ++program.runs;
    Synthetic now = program.run;
    if (program.runs == 2) {
      now.workers = setting->workers;
      now.prefetch = setting->prefetch;
      now.costs = testing::Always(Costs{1, 40, 8, 1, 0.1, 0.2, 9.5, 0});
    }
    if (program.runs == 3) {
      if (fails) return Fail(ErrorKind::kEnvironment, "train.py: exit status 1");
      later(now);
    }
    return testing::SyntheticTrace(now);
  };
}

TEST(TuneTest, KeepsAGainWhenALaterRunComesToNothing) {
  for (const bool fails : {true, false}) {
    Program program = DecodeBound();
    const auto result = Tune(GainsHalf(
                                 program, [](Synthetic& run) { run.batches = 5; }, fails),
                             TuneOptions{});
    ASSERT_TRUE(result);
    ASSERT_EQ(program.runs, 3);
    EXPECT_EQ(result->verdict, TuneVerdict::kPartly);
    EXPECT_NE(result->code.find("num_workers="), std::string::npos) << result->code;
    EXPECT_NE(result->why.find(fails ? "exit status 1" : "not enough"), std::string::npos)
        << result->why;
  }
}

TEST(TuneTest, WritesOverridesThatTheAgentReads) {
  EXPECT_EQ((TuneSetting{4, 8, true, ""}.Override()), "workers=4,prefetch=8,persistent=1");
  EXPECT_EQ((TuneSetting{0, 1, false, ""}.Override()), "workers=0");
}

TEST(RunAndWaitTest, ReturnsTheStatus) {
  EXPECT_EQ(RunAndWait({"/bin/sh", "-c", "exit 7"}).value(), 7);
  EXPECT_EQ(RunAndWait({"/bin/sh", "-c", "kill -TERM $$"}).value(), 128 + 15);
  // The child takes interrupts as ever, though this process waits on.
  EXPECT_EQ(RunAndWait({"/bin/sh", "-c", "kill -INT $$"}).value(), 128 + 2);
  EXPECT_EQ(RunAndWait({"/nonexistent/program"}).error().kind, ErrorKind::kEnvironment);
}

}  // namespace
}  // namespace penstock::analyzer
