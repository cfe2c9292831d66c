// SPDX-License-Identifier: Apache-2.0
//
// Tunes a synthetic program, on which settings take effect as expected or do not.
#include "analyzer/main/tune.h"

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <csignal>
#include <functional>
#include <string>
#include <utility>

#include <gtest/gtest.h>
#include <simdjson.h>

#include "analyzer/main/spawn.h"
#include "tests/analyzer/synthetic.h"
#include "tests/analyzer/synthetic_threads.h"

namespace penstock::analyzer {
namespace {

using testing::Costs;
using testing::Synthetic;

// A program that can be run with other settings. `obeys`: they take effect as expected.
struct TrialProgram {
  Synthetic run;
  bool obeys = true;
  int runs = 0;
  std::function<std::vector<double>(int run, const TuneSetting&)> losses =
      [](int, const TuneSetting&) { return std::vector<double>{}; };

  TuneRunner Runner() {
    return [this](const TuneSetting& setting) -> Result<TuneRun> {
      ++runs;
      Synthetic now = run;
      if (setting.loader && obeys) {
        now.workers = setting.loader->workers;
        now.prefetch = setting.loader->prefetch;
        now.persistent = setting.loader->persistent;
      }
      return TuneRun{testing::SyntheticTrace(now), losses(runs, setting)};
    };
  }
};

TrialProgram DecodeBound() {
  TrialProgram program;
  program.run.workers = 1;
  program.run.costs = testing::Always(Costs{1, 20, 8, 1, 0.1, 0.2, 9.7, 0});
  return program;
}

TuneResult Tuned(TrialProgram& program, TuneOptions options = {}) {
  const auto result = Tune(program.Runner(), options);
  EXPECT_TRUE(result);
  return result.value_or(TuneResult{});
}

TEST(TuneTest, ConfirmsAGainInThreePairsAndSaysWhatToPaste) {
  TrialProgram program = DecodeBound();
  const TuneResult result = Tuned(program);
  EXPECT_EQ(result.verdict, TuneVerdict::kConfirmed);
  ASSERT_EQ(result.taken, 1u);
  const TuneArm& taken = result.arms[0];
  EXPECT_EQ(taken.candidate.setting.loader->workers, 3);
  EXPECT_EQ(taken.pairs, 3u);
  EXPECT_EQ(program.runs, 6);
  EXPECT_NEAR(taken.ratio.estimate, taken.candidate.predicted->speedup,
              0.05 * taken.ratio.estimate);
  EXPECT_GT(taken.ratio.low, 2.5);
  EXPECT_EQ(taken.candidate.paste,
            (std::vector<std::string>{
                "DataLoader(dataset, batch_size=4, num_workers=3, prefetch_factor=2)"}));
  EXPECT_NE(result.next.find("no other change"), std::string::npos) << result.next;
}

TEST(TuneTest, RunsTakeTurns) {
  TrialProgram program = DecodeBound();
  const TuneResult result = Tuned(program);
  std::vector<std::size_t> order;
  for (const TuneTrial& trial : result.trials) order.push_back(trial.arm);
  EXPECT_EQ(order, (std::vector<std::size_t>{0, 1, 1, 0, 0, 1}));
}

TEST(TuneTest, RefutesWhatDoesNotHelp) {
  TrialProgram program = DecodeBound();
  program.obeys = false;
  const TuneResult result = Tuned(program);
  EXPECT_EQ(result.verdict, TuneVerdict::kRefuted);
  EXPECT_EQ(result.taken, 0u);
  EXPECT_EQ(program.runs, 6);
  EXPECT_EQ(TuneText(result, false).find("DataLoader(dataset"), std::string::npos);
}

// The measured gain is so far below the promised gain that the promise is not confirmed.
TEST(TuneTest, DoesNotConfirmAGainThatStaysBelowThePromise) {
  TrialProgram program = DecodeBound();
  const TuneRunner as_it_is = program.Runner();
  const TuneRunner slower = [&](const TuneSetting& setting) {
    const auto before = program.run.costs;
    if (setting.loader) program.run.costs = testing::Always(Costs{1, 20, 24, 1, 0.1, 0.2, 9.7, 0});
    auto run = as_it_is(setting);
    program.run.costs = before;
    return run;
  };
  const auto result = Tune(slower, {});
  ASSERT_TRUE(result);
  EXPECT_EQ(result->verdict, TuneVerdict::kPartly);
  ASSERT_EQ(result->taken, 1u);
  const TuneArm& taken = result->arms[0];
  EXPECT_GT(taken.ratio.low, 1.3);
  EXPECT_LT(taken.ratio.high, 0.9 * taken.candidate.predicted->speedup);
}

TEST(TuneTest, ChangesTheLoaderThatIsAskedForAlone) {
  TrialProgram program = DecodeBound();
  TuneOptions options;
  options.loader = "train.py:88";  // the synthetic loader has no name
  const auto unknown = Tune(program.Runner(), options);
  ASSERT_FALSE(unknown);
  EXPECT_EQ(unknown.error().kind, ErrorKind::kUsage);
  EXPECT_EQ(program.runs, 1);
  EXPECT_EQ((TuneSetting{LoaderSetting{4, 2, true, "train.py:88"}, {"malloc=keep"}}.Override()),
            "workers=4,prefetch=2,persistent=1,at=train.py:88,malloc=keep");
}

TEST(TuneTest, TakesNoActionWhereTheStepIsTheLimit) {
  TrialProgram program;
  program.run.costs = testing::Always(Costs{1, 4, 2, 1, 0.1, 0.2, 40, 0});
  const TuneResult result = Tuned(program);
  EXPECT_EQ(result.verdict, TuneVerdict::kNoAction);
  EXPECT_EQ(result.bottleneck, Factor::kCompute);
  EXPECT_EQ(program.runs, 1);
}

TEST(TuneTest, RespectsTheMemoryBudget) {
  TrialProgram program = DecodeBound();
  program.run.sample_bytes = 50'000'000;  // 200 MB a batch
  TuneOptions options;
  options.budget_ram = 1.3e9;  // two workers with a depth of 2
  const TuneResult result = Tuned(program, options);
  ASSERT_GE(result.arms.size(), 1u);
  for (const TuneArm& arm : result.arms) {
    EXPECT_LE(arm.candidate.predicted->ram, 1'300'000'000u);
  }
  EXPECT_EQ(result.arms.back().candidate.setting.loader->workers, 3);  // and a depth of 1: 1.2 GB
  EXPECT_EQ(result.arms.back().candidate.setting.loader->prefetch, 1);
}

TEST(TuneTest, SaysWhatARecordingLacks) {
  TrialProgram program = DecodeBound();
  program.run.batches = 10;
  const TuneResult few = Tuned(program);
  EXPECT_EQ(few.verdict, TuneVerdict::kNotEnough);
  EXPECT_EQ(few.why.rfind("not enough: needs", 0), 0u) << few.why;
  const auto threads = [](const TuneSetting&) -> Result<TuneRun> {
    return TuneRun{testing::ThreadsTrace({}), {}};
  };
  const auto other = Tune(threads, {});
  ASSERT_TRUE(other);
  EXPECT_NE(other->why.find("torch.utils.data.DataLoader"), std::string::npos) << other->why;
}

TEST(TuneTest, PassesOnTheFailureOfTheFirstRun) {
  const auto fails = [](const TuneSetting&) -> Result<TuneRun> {
    return Fail(ErrorKind::kEnvironment, "train.py: exit status 7");
  };
  const auto result = Tune(fails, {});
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().message, "train.py: exit status 7");
}

TEST(TuneTest, ASettingThatFailsIsTriedNoMore) {
  TrialProgram program = DecodeBound();
  const TuneRunner inner = program.Runner();
  const TuneRunner fails = [&](const TuneSetting& setting) -> Result<TuneRun> {
    if (setting.loader) return Fail(ErrorKind::kEnvironment, "train.py: exit status 1");
    return inner(setting);
  };
  const auto result = Tune(fails, {});
  ASSERT_TRUE(result);
  EXPECT_EQ(result->taken, 0u);
  EXPECT_EQ(result->verdict, TuneVerdict::kUndecided);
  EXPECT_EQ(result->arms[0].failed, "train.py: exit status 1");
  EXPECT_EQ(result->trials.size(), 2u);
}

TEST(TuneTest, AnInterruptLeavesTheBestSoFar) {
  TrialProgram program = DecodeBound();
  const TuneRunner inner = program.Runner();
  bool stop = false;
  const TuneRunner run = [&](const TuneSetting& setting) -> Result<TuneRun> {
    stop = program.runs == 6;  // a seventh run never begins
    return inner(setting);
  };
  TuneOptions options;
  options.race.rounds = 6;
  options.race.least = 3;
  options.interrupted = [&] { return stop; };
  const auto whole = Tune(run, options);
  ASSERT_TRUE(whole);
  EXPECT_EQ(whole->taken, 1u);

  program.runs = 0;
  const TuneRunner early = [&](const TuneSetting& setting) -> Result<TuneRun> {
    if (program.runs == 3) {
      stop = true;
      return Fail(ErrorKind::kEnvironment, "interrupted");
    }
    return inner(setting);
  };
  stop = false;
  const auto part = Tune(early, options);
  ASSERT_TRUE(part);
  EXPECT_EQ(part->stopped, "interrupted");
  EXPECT_EQ(part->taken, 0u);
  EXPECT_EQ(part->verdict, TuneVerdict::kUndecided);
  EXPECT_EQ(part->arms[0].pairs, 1u);
  EXPECT_EQ(part->arms[0].failed, "");
}

TEST(TuneTest, EndsBeforeTheTimeIsUsedUp) {
  TrialProgram program = DecodeBound();
  double clock = 0;
  const TuneRunner inner = program.Runner();
  const TuneRunner run = [&](const TuneSetting& setting) {
    clock += 60;
    return inner(setting);
  };
  TuneOptions options;
  options.now = [&] { return clock; };
  options.budget_time = 250;
  const auto result = Tune(run, options);
  ASSERT_TRUE(result);
  EXPECT_EQ(program.runs, 4);
  EXPECT_LE(clock, options.budget_time);
  EXPECT_EQ(result->stopped, "the time is used up");
  EXPECT_EQ(result->verdict, TuneVerdict::kUndecided);
}

TEST(TuneTest, ComparesTheFirstLosses) {
  const auto parity = [](std::function<std::vector<double>(int, const TuneSetting&)> losses) {
    TrialProgram program = DecodeBound();
    program.losses = std::move(losses);
    return Tuned(program).parity;
  };
  const std::vector<double> first = {0.7, 0.6};
  EXPECT_EQ(parity([&](int, const TuneSetting&) { return first; }), LossParity::kSame);
  EXPECT_EQ(parity([](int, const TuneSetting&) { return std::vector<double>{}; }),
            LossParity::kNotPrinted);
  EXPECT_EQ(parity([&](int, const TuneSetting& setting) {
              return setting.loader ? std::vector<double>{0.7, 0.61} : first;
            }),
            LossParity::kDiffer);
  EXPECT_EQ(parity([](int run, const TuneSetting&) { return std::vector<double>{0.1 * run}; }),
            LossParity::kVary);
}

TEST(LossesTest, AreFoundInWhatProgramsPrint) {
  EXPECT_EQ(LossesIn("epoch 3 loss 0.123 acc 0.9"), std::vector<double>{0.123});
  EXPECT_EQ(LossesIn("train_loss=1e-3, val_loss: 0.5"), (std::vector<double>{1e-3, 0.5}));
  EXPECT_EQ(LossesIn("{'loss': 2.5, 'step': 4}"), std::vector<double>{2.5});
  EXPECT_EQ(LossesIn("Loss:\t-1.5"), std::vector<double>{-1.5});
  for (const char* none :
       {"", "loss", "loss ", "lossless 3", "a loss of 3", "loss0.3", "gloss 4", "loss = none"}) {
    EXPECT_TRUE(LossesIn(none).empty()) << none;
  }
}

TEST(TuneTest, WritesOverridesThatTheAgentReads) {
  EXPECT_EQ((TuneSetting{LoaderSetting{4, 8, true, ""}, {}}.Override()),
            "workers=4,prefetch=8,persistent=1");
  EXPECT_EQ((TuneSetting{LoaderSetting{0, 1, false, ""}, {"malloc=keep"}}.Override()),
            "workers=0,malloc=keep");
  EXPECT_EQ((TuneSetting{std::nullopt, {"threads=1", "cv2_threads=0"}}.Override()),
            "threads=1,cv2_threads=0");
  EXPECT_EQ(TuneSetting{}.Override(), "");
}

TEST(TuneTest, JsonIsOneObjectWithEveryRun) {
  TrialProgram program = DecodeBound();
  const std::string text = TuneJson(Tuned(program));
  simdjson::dom::parser parser;
  const auto json = parser.parse(text);
  ASSERT_EQ(json.error(), simdjson::SUCCESS) << text;
  EXPECT_NE(text.find("\"schema\": \"penstock.tune/1\""), std::string::npos) << text;
  EXPECT_NE(text.find("\"verdict\": \"confirmed\""), std::string::npos) << text;
  std::size_t runs = 0;
  for (auto at = text.find("\"seconds\""); at != std::string::npos;
       at = text.find("\"seconds\"", at + 1)) {
    ++runs;
  }
  EXPECT_EQ(runs, 6u);
  EXPECT_EQ(text.find("inf"), std::string::npos);
}

TEST(TuneJsonTest, ALossThatIsNoNumberIsNotNought) {
  TuneResult result;
  result.losses = {0.5, std::nan("")};
  simdjson::dom::parser parser;
  const std::string text = TuneJson(result);
  const simdjson::dom::array losses = parser.parse(text)["losses"].get_array();
  EXPECT_EQ(losses.at(0).get_double().value(), 0.5);
  EXPECT_EQ(losses.at(1).get_string().value(), "nan");
  EXPECT_TRUE(text.ends_with("\n}\n")) << text;
}

TEST(RunAndWaitTest, ReturnsTheStatus) {
  EXPECT_EQ(RunAndWait({"/bin/sh", "-c", "exit 7"}).value(), 7);
  EXPECT_EQ(RunAndWait({"/bin/sh", "-c", "kill -TERM $$"}).value(), 128 + 15);
  // An interrupt ends the child as usual, although this process ignores it and keeps waiting.
  EXPECT_EQ(RunAndWait({"/bin/sh", "-c", "kill -INT $$"}).value(), 128 + 2);
  EXPECT_EQ(RunAndWait({"/nonexistent/program"}).error().kind, ErrorKind::kEnvironment);
}

TEST(RunAndWatchTest, SeesTheLinesOfBothStreamsAndTheStatus) {
  std::vector<std::string> lines;
  const auto watched =
      RunAndWatch({"/bin/sh", "-c", "printf 'a\\nb\\rc' ; printf 'd\\n' >&2; exit 3"}, true,
                  [&](std::string_view line) { lines.emplace_back(line); });
  ASSERT_TRUE(watched);
  EXPECT_EQ(watched->status, 3);
  EXPECT_FALSE(watched->interrupted);
  std::sort(lines.begin(), lines.end());
  EXPECT_EQ(lines, (std::vector<std::string>{"a", "b", "c", "d"}));
}

TEST(RunAndWatchTest, DoesNotWaitForWhatTheProgramLeavesBehind) {
  pid_t left = 0;
  const auto watched =
      RunAndWatch({"/bin/sh", "-c", "sleep 20 & echo $!; exit 0"}, true,
                  [&](std::string_view line) { left = std::stoi(std::string(line)); });
  ASSERT_TRUE(watched);
  EXPECT_EQ(watched->status, 0);
  ASSERT_GT(left, 0);
  EXPECT_EQ(kill(left, SIGKILL), 0);  // it is still there
}

TEST(RunAndWatchTest, TheProgramGoesOnWhenNobodyReadsItsOutput) {
  const auto before = std::signal(SIGPIPE, SIG_DFL);  // Print() of another test may ignore it
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  const int output = dup(STDOUT_FILENO);
  dup2(ends[1], STDOUT_FILENO);
  close(ends[0]);
  close(ends[1]);
  std::vector<std::string> lines;
  const auto watched =
      RunAndWatch({"/bin/sh", "-c", "echo a; sleep 0.1; echo b; kill -PIPE $$; exit 3"}, false,
                  [&](std::string_view line) { lines.emplace_back(line); });
  dup2(output, STDOUT_FILENO);
  close(output);
  EXPECT_NE(std::signal(SIGPIPE, before), SIG_IGN);
  ASSERT_TRUE(watched);
  EXPECT_EQ(lines, (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(watched->status, 128 + SIGPIPE);  // the program does not inherit the ignored SIGPIPE
}

TEST(RunAndWatchTest, AnInterruptIsSeenAndPassedOn) {
  const std::string parent = std::to_string(getpid());
  const auto watched = RunAndWatch({"/bin/sh", "-c", "kill -INT " + parent + "; exec sleep 20"},
                                   true, [](std::string_view) {});
  ASSERT_TRUE(watched);
  EXPECT_TRUE(watched->interrupted);
  EXPECT_EQ(watched->status, 128 + SIGINT);
}

TEST(RunAndWatchTest, AnInterruptReachesAProgramThatNeverFallsSilent) {
  const std::string parent = std::to_string(getpid());
  const std::string talks = "trap 'exit 130' INT; kill -INT " + parent +
                            "; for i in $(seq 300); do echo; sleep 0.03; done";
  const auto watched = RunAndWatch({"/bin/sh", "-c", talks}, true, [](std::string_view) {});
  ASSERT_TRUE(watched);
  EXPECT_TRUE(watched->interrupted);
  EXPECT_EQ(watched->status, 128 + SIGINT);
}

TEST(RunAndWatchTest, AnInterruptReachesAProgramThatHasClosedItsStreams) {
  const std::string parent = std::to_string(getpid());
  const std::string silent = "exec >&- 2>&-; sleep 0.2; kill -TERM " + parent + "; exec sleep 20";
  const auto watched = RunAndWatch({"/bin/sh", "-c", silent}, true, [](std::string_view) {});
  ASSERT_TRUE(watched);
  EXPECT_TRUE(watched->interrupted);
  EXPECT_EQ(watched->status, 128 + SIGINT);
}

}  // namespace
}  // namespace penstock::analyzer
