// SPDX-License-Identifier: Apache-2.0
//
// A native program under the agent: its own spans and the hooks' spans do not disturb each other,
// and the agent records the same as the program's own file.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "tests/paths.h"
#include "traces/trace.h"

namespace penstock::traces {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kFileSize = 10007;

// One line for each span, without times, sorted: "thread: parent / stage name sample batch bytes
// ...".
std::vector<std::string> SpansOf(const Trace& trace) {
  std::vector<std::string> lines;
  for (std::uint32_t i = 0; i < trace.threads().size(); ++i) {
    std::map<int, std::string> open;  // the last span of each depth
    for (const Span& s : trace.Spans(ThreadId{i})) {
      const std::string self = fmt::format("{} {}", StageName(s.stage), trace.String(s.name));
      open[s.depth] = self;
      lines.push_back(
          fmt::format("{}: {} / {} depth {} sample {} batch {}.{} bytes {} of '{}' cpu {}",
                      trace.threads()[i].name, s.depth > 0 ? open[s.depth - 1] : "", self, s.depth,
                      s.sample, s.batch.generation, s.batch.index, s.bytes.value,
                      trace.String(s.object), s.cpu.value >= 0));
    }
  }
  std::sort(lines.begin(), lines.end());
  return lines;
}

std::vector<std::string> EventsOf(const Trace& trace) {
  std::vector<std::string> lines;
  for (const Event& e : trace.events()) {
    lines.push_back(fmt::format("{}: {} {}.{} {}", trace.threads()[e.thread.value].name,
                                EventName(e.type), e.batch.generation, e.batch.index, e.value));
  }
  std::sort(lines.begin(), lines.end());
  return lines;
}

class AgreeTest : public testing::Test {
 protected:
  void SetUp() override {
    directory_ = fs::temp_directory_path() / fmt::format("penstock_agree_{}", getpid());
    fs::create_directories(directory_);
    data_ = directory_ / "image.bin";
    std::ofstream(data_, std::ios::binary) << std::string(kFileSize, 'x');
  }
  void TearDown() override {
    std::error_code ignored;
    fs::remove_all(directory_, ignored);
  }

  // Runs the victim, under the agent if `preload`. Returns its exit status.
  int Run(const std::string& way, bool preload) const {
    const pid_t pid = fork();
    if (pid == 0) {
      if (preload) {
        setenv("LD_PRELOAD", paths::kAgent, 1);
        setenv("PENSTOCK_OUT", AgentPath().c_str(), 1);
      }
      execl(paths::kVictim, paths::kVictim, way.c_str(), data_.c_str(), FilePath().c_str(),
            nullptr);
      _exit(126);
    }
    int status = -1;
    waitpid(pid, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }

  fs::path AgentPath() const { return directory_ / "agent.penstock"; }
  fs::path FilePath() const { return directory_ / "file.penstock"; }

  static std::unique_ptr<Trace> Open(const fs::path& path) {
    auto trace = OpenTrace(path);
    EXPECT_TRUE(trace.has_value()) << (trace.has_value() ? "" : trace.error().message);
    return trace.has_value() ? std::move(*trace) : MakeTrace({});
  }

  fs::path directory_;
  fs::path data_;
};

TEST_F(AgreeTest, AgentAndFileOfOneRunSayTheSame) {
  ASSERT_EQ(Run("both", true), 0);
  const auto agent = Open(AgentPath());
  const auto file = Open(FilePath());
  // Six spans for each of 12 samples: sample, read, read in flight, decode, two of augment. Three
  // waits.
  EXPECT_EQ(SpansOf(*file).size(), 12u * 6 + 3);
  EXPECT_EQ(SpansOf(*agent), SpansOf(*file));
  EXPECT_EQ(EventsOf(*file).size(), 2u * 2 + 3 + 2 + 3 * 2);
  EXPECT_EQ(EventsOf(*agent), EventsOf(*file));
  EXPECT_FALSE(file->losses().any());
}

TEST_F(AgreeTest, ARunUnderTheAgentSaysWhatARunWithoutItSays) {
  ASSERT_EQ(Run("file", false), 0);
  ASSERT_EQ(Run("agent", true), 0);
  const auto agent = Open(AgentPath());
  const auto file = Open(FilePath());
  EXPECT_EQ(SpansOf(*agent), SpansOf(*file));
  EXPECT_EQ(EventsOf(*agent), EventsOf(*file));
  ASSERT_EQ(agent->processes().size(), 1u);
  ASSERT_EQ(file->processes().size(), 1u);
  EXPECT_EQ(agent->processes()[0].facts, file->processes()[0].facts);
  EXPECT_EQ(agent->processes()[0].role, file->processes()[0].role);
}

TEST_F(AgreeTest, HooksCountBytesThatTheProgramSpeaksFor) {
  ASSERT_EQ(Run("agent", true), 0);
  const auto trace = Open(AgentPath());
  ASSERT_EQ(trace->processes().size(), 1u);
  const ProcessInfo& process = trace->processes()[0];
  EXPECT_EQ(process.bytes_dataset.value, 12u * 2 * kFileSize);
  EXPECT_NE(process.features & wire::kFeatureNative, 0u);
}

TEST_F(AgreeTest, HooksAreSilentInsideASpanOfTheSameStageOnly) {
  ASSERT_EQ(Run("bridge", true), 0);
  const auto trace = Open(AgentPath());
  std::map<std::string, int> counts;
  for (const std::string& line : SpansOf(*trace)) {
    const std::size_t from = line.find("/ ") + 2;
    ++counts[line.substr(from, line.find(" depth") - from)];
  }
  // The file is read three times: inside a span "own", outside of spans (the hook's span), and
  // after reads were claimed (no span). One of three images is decoded inside a span "own".
  const std::map<std::string, int> expected = {
      {"decode jpeg", 2}, {"decode own", 1}, {"read file", 1}, {"read own", 1}};
  EXPECT_EQ(counts, expected);
  EXPECT_EQ(trace->processes()[0].bytes_dataset.value, 3 * kFileSize);
}

TEST_F(AgreeTest, WithoutAnAgentNobodyListens) {
  EXPECT_EQ(Run("none", false), 0);
  EXPECT_FALSE(fs::exists(FilePath()));
}

#ifdef PENSTOCK_NVTX_TOOL
TEST_F(AgreeTest, AToolForNvtxSeesEverySpanAsARange) {
  const fs::path out = directory_ / "ranges";
  setenv("NVTX_INJECTION64_PATH", paths::kNvtxTool, 1);
  setenv("NVTX_TOOL_OUT", out.c_str(), 1);
  const int status = Run("nvtx", false);
  unsetenv("NVTX_INJECTION64_PATH");
  ASSERT_EQ(status, 0);
  std::map<std::string, int> counts;
  std::ifstream in(out);
  for (std::string line; std::getline(in, line);) ++counts[line];
  EXPECT_EQ(counts["penstock sample sample 7 0"], 1);
  EXPECT_EQ(counts["penstock decode jpeg 7 1"], 1);
  EXPECT_EQ(counts["penstock augment flip 7 2"], 1);
  EXPECT_EQ(counts["penstock wait  -1 0"], 3);
}
#endif

}  // namespace
}  // namespace penstock::traces
