// SPDX-License-Identifier: Apache-2.0
//
// Tests the program penstock-sweep. Scripts that print known figures stand in for the programs that
// it runs. One test runs the real loader on a synthetic load with a known optimum.
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include <simdjson.h>

#include "benchmarks/sweep/process.h"
#include "tests/paths.h"

namespace penstock::sweep {
namespace {

namespace fs = std::filesystem;
using Words = std::vector<std::string>;

// Stands in for penstock-load. Each worker makes 100 samples a second, and the training loop takes
// at most 250. With nine workers the script fails; with seven it hangs.
constexpr const char* kLoad = R"(#!/bin/sh
workers=1
all="$*"
while [ $# -gt 0 ]; do
  if [ "$1" = --workers ]; then workers=$2; fi
  shift
done
echo "$all" >> "$(dirname "$0")/calls"
if [ "$workers" = 9 ]; then echo "penstock-load: nine is too many" >&2; exit 4; fi
if [ "$workers" = 7 ]; then exec sleep 30; fi
rate=$((workers * 100))
if [ $rate -gt 250 ]; then rate=250; fi
echo "{\"samples_per_s\": 1, \"steady_samples_per_s\": $rate, \"first_batch_s\": 0.5}"
)";

// Stands in for penstock-record. Writes the value of --override as the trace, and runs the command
// with this value in the variable OVERRIDE.
constexpr const char* kRecord = R"(#!/bin/sh
while [ "$1" != -- ]; do
  if [ "$1" = -o ]; then trace=$2; fi
  if [ "$1" = --override ]; then override=$2; fi
  shift
done
shift
echo "$override" > "$trace"
OVERRIDE="$override" exec "$@"
)";

// Stands in for penstock-report. Reports ten samples a second for each worker of the trace.
constexpr const char* kReport = R"(#!/bin/sh
workers=$(sed 's/.*workers=\([0-9]*\).*/\1/' "$2")
echo "{\"throughput\": {\"samples_per_s\": $((workers * 10))}, \"verdict\": {\"bottleneck\": \"decode\"}}"
)";

class SweepProgramTest : public testing::Test {
 protected:
  void SetUp() override {
    const auto* info = testing::UnitTest::GetInstance()->current_test_info();
    root_ = fs::temp_directory_path() /
            (std::string("penstock_sweep_") + info->name() + "_" + std::to_string(::getpid()));
    fs::create_directories(root_ / "bin");
    Script("penstock-load", kLoad);
    Script("penstock-record", kRecord);
    Script("penstock", kReport);
  }
  void TearDown() override { fs::remove_all(root_); }

  void Script(const std::string& name, const char* text) const {
    std::ofstream(root_ / "bin" / name) << text;
    ::chmod((root_ / "bin" / name).c_str(), 0755);
  }

  Finished Sweep(Words words) const {
    words.insert(words.begin(), {paths::kSweep, "--programs", (root_ / "bin").string()});
    auto finished = RunProcess(words, {}, {});
    if (!finished) ADD_FAILURE() << finished.error().message;
    return finished ? *finished : Finished{};
  }

  static int Status(const Finished& finished) {
    return WIFEXITED(finished.status) ? WEXITSTATUS(finished.status) : -1;
  }

  Words Calls() const {
    std::ifstream in(root_ / "bin" / "calls");
    Words lines;
    std::string line;
    while (std::getline(in, line)) lines.push_back(line);
    return lines;
  }

  std::string Contents(const std::string& name) const {
    std::ifstream in(root_ / name);
    return std::string(std::istreambuf_iterator<char>(in), {});
  }

  fs::path root_;
};

TEST_F(SweepProgramTest, FindsTheKnownOptimum) {
  const Finished done =
      Sweep({"DATA", "--workers", "1..4", "--prefetch", "2", "--set", "batches=5", "--json",
             (root_ / "s.json").string(), "--csv", (root_ / "s.csv").string()});
  EXPECT_EQ(Status(done), 0) << done.err;
  EXPECT_EQ(done.err, "");
  simdjson::dom::parser parser;
  const std::string text = Contents("s.json");
  const simdjson::dom::element json = parser.parse(text);
  EXPECT_EQ(json["suggested"].get_string().value(), "workers:3/prefetch:2");
  EXPECT_NE(Contents("s.csv").find("3,2,measured,250,"), std::string::npos) << Contents("s.csv");
  EXPECT_NE(done.out.find("workers 3, prefetch 2"), std::string::npos) << done.out;
}

TEST_F(SweepProgramTest, RunsEveryRepeatWithAllOptions) {
  Sweep({"DATA", "--workers", "1,2", "--set", "batches=5", "--repeats", "4", "--warmup", "2"});
  const Words calls = Calls();
  ASSERT_EQ(calls.size(), 10u);
  EXPECT_EQ(std::count(calls.begin(), calls.end(), "DATA --batches 5 --workers 1 --json"), 6);
  EXPECT_EQ(std::count(calls.begin(), calls.end(), "DATA --batches 5 --workers 2 --json"), 4);
}

TEST_F(SweepProgramTest, ConfigurationThatFailsIsShownAndTheRestMeasured) {
  const Finished done = Sweep({"DATA", "--workers", "1,9", "--json", "-"});
  EXPECT_EQ(Status(done), 0) << done.err;
  simdjson::dom::parser parser;
  const simdjson::dom::element json = parser.parse(done.out);
  EXPECT_EQ(json["cells"].at(1)["state"].get_string().value(), "failed");
  EXPECT_NE(done.err.find("nine is too many"), std::string::npos);
  EXPECT_EQ(Calls().size(), 1u + 3u + 1u);  // the warm-up, three repeats, one failure
}

TEST_F(SweepProgramTest, OneLineAndTheReasonsStatusWhenNothingCanBeMeasured) {
  Finished done = Sweep({"DATA", "--workers", "9"});
  EXPECT_EQ(Status(done), 4);  // the loader's own status: bad input
  EXPECT_EQ(std::count(done.err.begin(), done.err.end(), '\n'), 1) << done.err;
  fs::remove(root_ / "bin" / "penstock-load");
  done = Sweep({"DATA", "--workers", "1"});
  EXPECT_EQ(Status(done), 3);
  EXPECT_EQ(std::count(done.err.begin(), done.err.end(), '\n'), 1) << done.err;
}

TEST_F(SweepProgramTest, FlagsOfGoogleBenchmarkWork) {
  Finished done = Sweep({"DATA", "--workers", "1,2", "--benchmark_list_tests"});
  EXPECT_EQ(Status(done), 0);
  EXPECT_NE(done.out.find("workers:1/"), std::string::npos) << done.out;
  EXPECT_TRUE(Calls().empty());
  done = Sweep({"DATA", "--workers", "1,2", "--benchmark_filter=workers:2",
                "--benchmark_out=" + (root_ / "gb.json").string()});
  EXPECT_EQ(Status(done), 0);
  EXPECT_EQ(done.out.find("      1  "), std::string::npos) << done.out;
  EXPECT_NE(Contents("gb.json").find("samples_per_s"), std::string::npos);
  done = Sweep({"DATA", "--workers", "1", "--benchmark_unheard_of"});
  EXPECT_EQ(Status(done), 2);
}

TEST_F(SweepProgramTest, InterruptionKeepsWhatWasMeasured) {
  // The script hangs with seven workers, so this cell is still running when the sweep is
  // interrupted. The other cell may have been measured before or not.
  const std::string json = (root_ / "s.json").string();
  const Words words = {paths::kSweep, "--programs", (root_ / "bin").string(),
                       "DATA",        "--workers",  "1,7",
                       "--repeats",   "200",        "--json",
                       json};
  std::stop_source stop;
  std::jthread interrupt([&](const std::stop_token& done) {
    while (!done.stop_requested()) {
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
      const Words calls = Calls();
      if (calls.empty() || calls.back().find("--workers 7") == std::string::npos) continue;
      stop.request_stop();
      return;
    }
  });
  const auto finished = RunProcess(words, {}, stop.get_token());
  ASSERT_TRUE(finished);
  EXPECT_EQ(Status(*finished), 130) << finished->err;
  simdjson::dom::parser parser;
  const std::string text = Contents("s.json");
  const simdjson::dom::element parsed = parser.parse(text);
  EXPECT_TRUE(parsed["interrupted"].get_bool().value());
  EXPECT_EQ(parsed["cells"].at(1)["state"].get_string().value(), "pending");
  EXPECT_LT(finished->wall_s, 20);
}

TEST_F(SweepProgramTest, CommandIsMeasuredByItsTrace) {
  const Finished done =
      Sweep({"--workers", "2,3", "--batch", "8", "--set", "pin=1", "--json", "-", "--", "true"});
  EXPECT_EQ(Status(done), 0) << done.err;
  simdjson::dom::parser parser;
  const simdjson::dom::element json = parser.parse(done.out);
  EXPECT_EQ(json["mode"].get_string().value(), "command");
  EXPECT_EQ(json["best"].get_string().value(), "workers:3/batch:8");
  EXPECT_DOUBLE_EQ(json["cells"].at(0)["samples_per_s"]["median"].get_double().value(), 20);
  EXPECT_EQ(json["cells"].at(0)["bottleneck"].get_string().value(), "decode");
}

TEST_F(SweepProgramTest, CommandThatIgnoresOverridesIsTold) {
  const Words words = {"--workers", "2,3", "--repeats", "1", "--", "true"};
  EXPECT_EQ(Sweep(words).out.find("ignores overrides"), std::string::npos);
  Script("penstock", R"(#!/bin/sh
echo '{"throughput": {"samples_per_s": 5}, "loader": {"num_workers": 2}}'
)");
  const Finished done = Sweep(words);
  EXPECT_EQ(Status(done), 0) << done.err;
  EXPECT_NE(done.out.find("ran with 2 workers where 3 were asked for"), std::string::npos)
      << done.out;
}

TEST_F(SweepProgramTest, CommandIsMeasuredByItsOutput) {
  const std::string keep = (root_ / "traces").string();
  const Finished done = Sweep({"--workers", "2", "--set", "pin=1", "--pattern", "^rate ([0-9]+)$",
                               "--keep", keep, "--repeats", "1", "--json", "-", "--", "sh", "-c",
                               "echo rate 5; echo rate 77; echo $OVERRIDE >&2"});
  EXPECT_EQ(Status(done), 0) << done.err;
  simdjson::dom::parser parser;
  const simdjson::dom::element json = parser.parse(done.out);
  EXPECT_DOUBLE_EQ(json["cells"].at(0)["samples_per_s"]["median"].get_double().value(), 77);
  EXPECT_EQ(Contents("traces/run-0001.penstock"), "pin=1,workers=2\n");
  const std::filesystem::path trace(json["cells"].at(0)["traces"].at(0).get_string().value());
  EXPECT_TRUE(trace.is_absolute());
  EXPECT_TRUE(std::filesystem::exists(trace)) << trace;
}

TEST_F(SweepProgramTest, TrainingThatFailsIsAFailureOfItsConfiguration) {
  const Finished done = Sweep({"--workers", "2,3", "--json", "-", "--", "sh", "-c",
                               "case $OVERRIDE in *=3) echo broken pipe >&2; exit 5;; esac"});
  EXPECT_EQ(Status(done), 0) << done.err;
  EXPECT_NE(done.err.find("sh: status 5: broken pipe"), std::string::npos) << done.err;
}

TEST_F(SweepProgramTest, AblationShowsIncrementsAndNoFakedCopy) {
  const Finished done = Sweep({"--ablate", "DATA", "--repeats", "1", "--json", "-"});
  EXPECT_EQ(Status(done), 0) << done.err;
  EXPECT_NE(done.err.find("not available without a GPU"), std::string::npos) << done.err;
  EXPECT_NE(done.err.find("may be noise"), std::string::npos) << done.err;
  simdjson::dom::parser parser;
  const simdjson::dom::element json = parser.parse(done.out);
  EXPECT_EQ(json["mode"].get_string().value(), "ablation");
  EXPECT_DOUBLE_EQ(json["cells"].at(1)["seconds_per_sample"].get_double().value(), 0.01);
  EXPECT_DOUBLE_EQ(json["cells"].at(1)["increment_s"].get_double().value(), 0);
}

TEST_F(SweepProgramTest, ResultThatCannotBeWrittenIsToldBeforeMeasuring) {
  const Finished done = Sweep({"DATA", "--workers", "1", "--json", "/nonexistent/s.json"});
  EXPECT_EQ(Status(done), 3);
  EXPECT_TRUE(Calls().empty());
}

#ifdef PENSTOCK_LOAD
// Decoding a sample sleeps 24 ms, so 1, 2, 3 and 4 workers make 42, 83, 125 and 167 samples a
// second. The training loop takes 4 samples every 40 ms, so 100 a second. Three workers are the
// cheapest optimum. Two workers are 17 % too slow and three have 25 % to spare: a busy machine may
// lengthen sleeps by so much.
TEST_F(SweepProgramTest, FindsTheOptimumOfTheRealLoaderOnASyntheticLoad) {
  fs::remove(root_ / "bin" / "penstock-load");
  fs::create_symlink(paths::kLoad, root_ / "bin" / "penstock-load");
  const Finished done = Sweep({"synthetic:100000",
                               "--workers",
                               "1..4",
                               "--prefetch",
                               "4",
                               "--set",
                               "batch=4",
                               "--set",
                               "batches=10",
                               "--set",
                               "without=read,augment",
                               "--set",
                               "decode-cost=sleep:24ms",
                               "--set",
                               "step=40ms",
                               "--repeats",
                               "1",
                               "--warmup",
                               "0",
                               "--tie",
                               "0.08",
                               "--json",
                               "-"});
  EXPECT_EQ(Status(done), 0) << done.err;
  simdjson::dom::parser parser;
  const simdjson::dom::element json = parser.parse(done.out);
  const std::string suggested(json["suggested"].get_string().value());
  EXPECT_EQ(suggested.substr(0, 10), "workers:3/") << done.err;
}
#endif

}  // namespace
}  // namespace penstock::sweep
