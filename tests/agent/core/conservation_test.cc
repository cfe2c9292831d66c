// SPDX-License-Identifier: Apache-2.0
//
// The agent is preloaded into a program that prints how many bytes it read from each file. The
// trace has the same numbers, whatever the program does with its descriptors and however it ends.

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "tests/paths.h"
#include "traces/trace.h"
#include "traces/validate.h"

namespace penstock::traces {
namespace {

namespace fs = std::filesystem;

class ConservationTest : public testing::Test {
 protected:
  void SetUp() override {
    directory_ = fs::temp_directory_path() / ("penstock_conserve_" + std::to_string(getpid()));
    fs::create_directories(directory_);
    trace_ = directory_ / "run.penstock";
  }
  void TearDown() override {
    std::error_code ignored;
    fs::remove_all(directory_, ignored);
  }

  void MakeFiles(std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) {
      files_.push_back(directory_ / ("sample" + std::to_string(i) + ".bin"));
      std::ofstream(files_.back(), std::ios::binary) << std::string(65536, 'a');
    }
  }

  pid_t Start(const std::string& how, const std::string& end) {
    const pid_t pid = fork();
    if (pid == 0) {
      setenv("LD_PRELOAD", paths::kAgent, 1);
      setenv("PENSTOCK_OUT", trace_.c_str(), 1);
      dup2(open((directory_ / "stdout").c_str(), O_WRONLY | O_CREAT | O_APPEND, 0644), 1);
      std::vector<const char*> args = {paths::kReadsVictim, how.c_str(), end.c_str()};
      for (const std::string& file : files_) args.push_back(file.c_str());
      args.push_back(nullptr);
      execv(args[0], const_cast<char* const*>(args.data()));
      _exit(126);
    }
    return pid;
  }

  // Runs the program and returns its wait status.
  int Run(const std::string& how, const std::string& end) {
    const pid_t pid = Start(how, end);
    int status = -1;
    waitpid(pid, &status, 0);
    return status;
  }

  // Returns the bytes of each file that the program printed: one line for each file.
  std::map<std::string, std::uint64_t> Said() {
    std::map<std::string, std::uint64_t> said;
    std::ifstream in(directory_ / "stdout");
    std::size_t i = 0;
    for (std::uint64_t bytes; in >> bytes; ++i) {
      if (bytes != 0) said[files_[i % files_.size()]] += bytes;
    }
    return said;
  }

  // Returns the bytes of each file in the spans of the trace.
  std::map<std::string, std::uint64_t> Recorded() {
    std::map<std::string, std::uint64_t> recorded;
    const auto trace = OpenTrace(trace_);
    if (!trace) return recorded;
    for (std::uint32_t i = 0; i < (*trace)->threads().size(); ++i) {
      for (const Span& s : (*trace)->Spans(ThreadId{i})) {
        if (s.stage == StageId::kRead && s.bytes.value != 0) {
          recorded[std::string((*trace)->String(s.object))] += s.bytes.value;
          ++spans_;
        }
      }
    }
    return recorded;
  }

  void ExpectBalanced() {
    const auto report = ValidateTrace(trace_);
    ASSERT_TRUE(report.has_value());
    EXPECT_TRUE(report->sound()) << ToJson(*report);
    EXPECT_EQ(report->balanced, report->processes);
    EXPECT_EQ(report->files.counted, report->files.in_spans);
    EXPECT_EQ(report->files.lost.value, 0u);
  }

  fs::path directory_;
  fs::path trace_;
  std::vector<std::string> files_;
  std::size_t spans_ = 0;
};

class WaysAndEndsTest : public ConservationTest,
                        public testing::WithParamInterface<std::tuple<const char*, const char*>> {};

TEST_P(WaysAndEndsTest, EveryByteIsInTheTraceUnderItsFile) {
  const auto [how, end] = GetParam();
  MakeFiles(std::string(how) == "many_at_once" ? 100 : 3);
  const int status = Run(how, end);
  ASSERT_TRUE(WIFSIGNALED(status) || WEXITSTATUS(status) == 0) << WEXITSTATUS(status);
  EXPECT_FALSE(Said().empty());
  EXPECT_EQ(Recorded(), Said());
  ExpectBalanced();
}

INSTANTIATE_TEST_SUITE_P(
    All, WaysAndEndsTest,
    testing::Combine(testing::Values("kept_open", "many_at_once", "shared", "closed_by_another",
                                     "copies", "children"),
                     testing::Values("return", "_exit", "kill", "abort", "segv", "exec",
                                     "exec_thread", "first_thread_gone")),
    [](const auto& param) {
      return std::string(std::get<0>(param.param)) + "_" + std::get<1>(param.param);
    });

TEST_F(ConservationTest, AProgramThatGoesOnAsAnotherIsOneProcessWithTheBytesOfBoth) {
  MakeFiles(1);
  Run("kept_open", "exec_self");
  EXPECT_EQ(Recorded()[files_[0]], 2u * 15000 * 4096);
  EXPECT_EQ(Recorded(), Said());
  ExpectBalanced();
}

TEST_F(ConservationTest, ReadsOfADescriptorThatStaysOpenAreFewSpans) {
  MakeFiles(1);
  Run("kept_open", "kill");
  Recorded();
  EXPECT_EQ(spans_, 1u);
}

class NamelessTest : public ConservationTest, public testing::WithParamInterface<const char*> {};

TEST_P(NamelessTest, TheNextOwnerOfANumberHasNotTheNameOfTheLast) {
  MakeFiles(3);
  ASSERT_EQ(Run(GetParam(), "return"), 0);
  auto recorded = Recorded();
  for (const auto& [file, bytes] : Said()) {
    EXPECT_EQ(recorded[file], bytes) << file;
    recorded.erase(file);
  }
  for (const auto& [file, bytes] : recorded) {
    EXPECT_EQ(std::count(files_.begin(), files_.end(), file), 0) << file << ": " << bytes;
    EXPECT_EQ(bytes, 0u) << file;
  }
  ExpectBalanced();
}

INSTANTIATE_TEST_SUITE_P(All, NamelessTest,
                         testing::Values("memfd", "mkstemp", "tmpfile", "raw", "passed"),
                         [](const auto& param) { return std::string(param.param); });

// When the program is killed, the trace has all bytes that its calls had returned. For each thread
// it may have one read more, which the agent had counted but the program had not yet noted.
TEST_F(ConservationTest, AKilledProgramLeavesWhatItsCallsHadReturned) {
  MakeFiles(2);
  const fs::path progress = directory_ / "progress";
  for (unsigned round = 0; round < 25; ++round) {
    std::ofstream(progress, std::ios::binary) << std::string(4096, '\0');
    fs::remove(trace_);
    const pid_t pid = Start("forever", progress);
    usleep(30000 + round * 7001);
    kill(pid, SIGKILL);
    int status = 0;
    waitpid(pid, &status, 0);
    ASSERT_TRUE(WIFSIGNALED(status));
    std::uint64_t said[512] = {};
    std::ifstream(progress, std::ios::binary).read(reinterpret_cast<char*>(said), sizeof said);
    std::uint64_t first = 0;
    std::uint64_t second = 0;
    for (int t = 0; t < 4; ++t) {
      first += said[t * 8];
      second += said[t * 8 + 1];
    }
    auto recorded = Recorded();
    EXPECT_GE(recorded[files_[0]], first);
    EXPECT_LE(recorded[files_[0]], first + 4);
    EXPECT_GE(recorded[files_[1]], second);
    EXPECT_LE(recorded[files_[1]], second + 2);
    const auto report = ValidateTrace(trace_);
    ASSERT_TRUE(report.has_value());
    EXPECT_TRUE(report->problems.empty()) << ToJson(*report);
    EXPECT_EQ(report->balanced, 1u);
    EXPECT_LE(report->files.open.value, 4u);
  }
}

}  // namespace
}  // namespace penstock::traces
