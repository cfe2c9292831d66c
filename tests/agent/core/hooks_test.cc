// SPDX-License-Identifier: Apache-2.0
//
// Each test runs a victim program with the agent preloaded and without a collector, and reads the
// trace.

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "tests/paths.h"
#include "traces/recording/join_segment.h"
#include "traces/trace.h"

namespace penstock::traces {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kFileSize = 300007;  // prime: no buffer size divides it

class HooksTest : public testing::Test {
 protected:
  void SetUp() override {
    directory_ = fs::temp_directory_path() / ("penstock_hooks_" + std::to_string(getpid()));
    fs::create_directories(directory_);
    file_ = directory_ / "sample.txt";
    std::ofstream out(file_, std::ios::binary);
    for (std::size_t i = 0; i < kFileSize; ++i) {
      out.put(i % 61 == 60 ? '\n' : static_cast<char>('a' + i % 23));
    }
    trace_ = directory_ / "run.penstock";
  }
  void TearDown() override {
    std::error_code ignored;
    fs::remove_all(directory_, ignored);
  }

  // Runs the victim under the agent; returns its wait status.
  int Victim(const std::string& how, bool with_agent = true) {
    const pid_t pid = Start(how, with_agent);
    int status = -1;
    waitpid(pid, &status, 0);
    return status;
  }

  pid_t Start(const std::string& how, bool with_agent = true) {
    const pid_t pid = fork();
    if (pid == 0) {
      if (with_agent) {
        setenv("LD_PRELOAD", paths::kAgent, 1);
        setenv("PENSTOCK_OUT", trace_.c_str(), 1);
      }
      const int out = open((directory_ / "stdout").c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0644);
      dup2(out, 1);
      execl(paths::kVictim, paths::kVictim, how.c_str(), file_.c_str(), nullptr);
      _exit(126);
    }
    return pid;
  }

  std::string Printed() {
    std::ifstream in(directory_ / "stdout");
    return {std::istreambuf_iterator<char>(in), {}};
  }

  std::unique_ptr<Trace> Open() {
    auto trace = OpenTrace(trace_);
    EXPECT_TRUE(trace.has_value()) << (trace.has_value() ? "" : trace.error().message);
    return trace.has_value() ? std::move(*trace) : nullptr;
  }

  struct Reads {
    std::uint64_t bytes = 0;
    std::uint64_t spans = 0;
    std::set<std::uint32_t> pids;
  };

  // Returns the read spans of the data file: how many, and their bytes.
  Reads FileReads(const Trace& trace) {
    Reads reads;
    for (std::uint32_t i = 0; i < trace.threads().size(); ++i) {
      for (const Span& s : trace.Spans(ThreadId{i})) {
        if (s.stage == StageId::kRead && trace.String(s.object) == file_.string() &&
            (s.flags & wire::kFlagUnfinished) == 0) {
          reads.bytes += s.bytes.value;
          ++reads.spans;
          reads.pids.insert(trace.processes()[trace.threads()[i].process.value].pid);
        }
      }
    }
    return reads;
  }

  fs::path directory_;
  fs::path file_;
  fs::path trace_;
};

class ReadAliasTest : public HooksTest, public testing::WithParamInterface<const char*> {};

TEST_P(ReadAliasTest, EveryByteIsSeenOnceAndTheProgramSeesTheSame) {
  ASSERT_EQ(Victim(GetParam()), 0);
  EXPECT_EQ(Printed(), std::to_string(kFileSize) + "\n");
  const auto trace = Open();
  ASSERT_NE(trace, nullptr);
  const Reads reads = FileReads(*trace);
  EXPECT_EQ(reads.bytes, kFileSize);
  EXPECT_EQ(reads.spans, 1u);
  EXPECT_EQ(trace->losses().dropped_events, 0u);
}

INSTANTIATE_TEST_SUITE_P(Aliases, ReadAliasTest,
                         testing::Values("read", "read_chk", "pread", "pread_chk", "readv",
                                         "preadv2", "fread", "fread_unlocked", "fread_chk", "fgets",
                                         "getline", "fdopen", "dup_fdopen", "dup2", "ifstream",
                                         "mmap", "high_fd"),
                         [](const auto& param) { return std::string(param.param); });

class CopyTest : public HooksTest, public testing::WithParamInterface<const char*> {};

// The victim lets the kernel copy the file, then reads the file. The kernel counts the bytes of
// both as read. The hooks count both too, but only the reads become spans.
TEST_P(CopyTest, ACopyIsNoGapAndNoRead) {
  ASSERT_EQ(Victim(GetParam()), 0);
  EXPECT_EQ(Printed(), std::to_string(kFileSize) + "\n");
  const auto trace = Open();
  ASSERT_NE(trace, nullptr);
  EXPECT_EQ(FileReads(*trace).bytes, kFileSize);
  ASSERT_EQ(trace->processes().size(), 1u);
  EXPECT_GE(trace->processes()[0].bytes_hooked.value, 2 * kFileSize);
  EXPECT_LT(trace->processes()[0].bytes_hooked.value, 3 * kFileSize);
}

INSTANTIATE_TEST_SUITE_P(InTheKernel, CopyTest, testing::Values("sendfile", "copy_file_range"),
                         [](const auto& param) { return std::string(param.param); });

TEST_F(HooksTest, BytesThatStayInTheSocketCountOnce) {
  ASSERT_EQ(Victim("peek"), 0);
  const auto trace = Open();
  ASSERT_NE(trace, nullptr);
  ASSERT_EQ(trace->processes().size(), 1u);
  EXPECT_EQ(trace->processes()[0].bytes_network.value, 1000u);
}

TEST_F(HooksTest, ForkedChildrenRecordUnderTheirOwnPids) {
  ASSERT_EQ(Victim("fork"), 0);
  const auto trace = Open();
  ASSERT_NE(trace, nullptr);
  const Reads reads = FileReads(*trace);
  EXPECT_EQ(reads.pids.size(), 4u);
  EXPECT_EQ(reads.bytes, 5 * kFileSize);
}

TEST_F(HooksTest, RawCloneIsRecognisedAsAFork) {
  ASSERT_EQ(Victim("clone"), 0);
  const auto trace = Open();
  ASSERT_NE(trace, nullptr);
  const Reads reads = FileReads(*trace);
  EXPECT_EQ(reads.pids.size(), 2u);
  EXPECT_EQ(reads.bytes, 3 * kFileSize);
}

TEST_F(HooksTest, VforkChildLeavesTheParentsRecordingIntact) {
  ASSERT_EQ(Victim("vfork"), 0);
  const auto trace = Open();
  ASSERT_NE(trace, nullptr);
  EXPECT_EQ(FileReads(*trace).bytes, kFileSize);
}

class RebuiltEnvironmentTest : public HooksTest, public testing::WithParamInterface<const char*> {};

TEST_P(RebuiltEnvironmentTest, ChildIsStillTraced) {
  ASSERT_EQ(Victim(GetParam()), 0);
  EXPECT_EQ(Printed(), std::to_string(kFileSize) + "\n");
  const auto trace = Open();
  ASSERT_NE(trace, nullptr);
  EXPECT_EQ(FileReads(*trace).bytes, kFileSize);
}

INSTANTIATE_TEST_SUITE_P(Exec, RebuiltEnvironmentTest,
                         testing::Values("execve", "execv_cleared", "posix_spawn", "fexecve",
                                         "execveat_empty_path"),
                         [](const auto& param) { return std::string(param.param); });

TEST_F(HooksTest, ThreadsAreToldApart) {
  ASSERT_EQ(Victim("threads"), 0);
  const auto trace = Open();
  ASSERT_NE(trace, nullptr);
  EXPECT_EQ(FileReads(*trace).bytes, 200 * kFileSize);
  std::size_t with_spans = 0;
  for (const ThreadInfo& t : trace->threads()) {
    with_spans += t.spans > 0 ? 1 : 0;
  }
  EXPECT_EQ(with_spans, 4u);
}

TEST_F(HooksTest, SignalHandlersThatReadDoNoHarm) {
  ASSERT_EQ(Victim("signals"), 0);
  const auto trace = Open();
  ASSERT_NE(trace, nullptr);
  const Reads reads = FileReads(*trace);
  EXPECT_GE(reads.bytes + trace->losses().dropped_events * kFileSize, 3000 * kFileSize);
}

TEST_F(HooksTest, ErrnoIsKept) {
  EXPECT_EQ(Victim("errno"), 0);
}

TEST_F(HooksTest, BytesAgreeWithTheKernels) {
  ASSERT_EQ(Victim("threads_then_one"), 0);
  const auto trace = Open();
  ASSERT_NE(trace, nullptr);
  ASSERT_EQ(trace->processes().size(), 1u);
  const ProcessInfo& p = trace->processes()[0];
  EXPECT_GT(p.bytes_dataset.value, 0u);
  ASSERT_GT(p.bytes_kernel.value, 0u);
  const double seen =
      static_cast<double>(p.bytes_hooked.value) / static_cast<double>(p.bytes_kernel.value);
  EXPECT_GT(seen, 0.98);
  EXPECT_LE(seen, 1.02);
}

// When a chunk begins, the agent compares its count with the kernel's, if the kernel has counted 64
// KiB or more. When the only chunk of this program begins, the kernel has counted only the few
// bytes that the agent itself has read.
TEST_F(HooksTest, AFewBytesAreNotCompared) {
  ASSERT_EQ(Victim("read"), 0);
  const auto trace = Open();
  ASSERT_NE(trace, nullptr);
  ASSERT_EQ(trace->processes().size(), 1u);
  EXPECT_EQ(trace->processes()[0].bytes_kernel.value, 0u);
  EXPECT_EQ(trace->processes()[0].bytes_hooked.value, kFileSize);
}

TEST_F(HooksTest, StreamsInMemoryReadNothing) {
  ASSERT_EQ(Victim("memory_stream"), 0);
  EXPECT_EQ(Printed(), std::to_string(kFileSize) + "\n");
  const auto trace = Open();
  ASSERT_NE(trace, nullptr);
  ASSERT_EQ(trace->processes().size(), 1u);
  EXPECT_EQ(trace->processes()[0].bytes_hooked.value, kFileSize);
}

TEST_F(HooksTest, KilledProcessLeavesEveryFinishedSpan) {
  for (int round = 0; round < 3; ++round) {
    const pid_t pid = Start("forever");
    usleep(100000 + 37000 * static_cast<unsigned>(round));
    kill(pid, SIGKILL);
    int status = 0;
    waitpid(pid, &status, 0);
    const auto trace = Open();
    ASSERT_NE(trace, nullptr);
    const Reads reads = FileReads(*trace);
    EXPECT_GT(reads.spans, 10u);
    // The program was killed in the middle of a file, so the last span may have fewer bytes.
    EXPECT_EQ((reads.bytes + kFileSize - 1) / kFileSize, reads.spans);
    EXPECT_EQ(trace->losses().damaged_records, 0u);
    ASSERT_TRUE(FinishFromSegment(trace_).has_value());
    fs::remove(trace_);
  }
}

TEST_F(HooksTest, UnwritableOutputLeavesTheProgramAlone) {
  trace_ = "/proc/nowhere/run.penstock";
  EXPECT_EQ(Victim("read"), 0);
  EXPECT_EQ(Printed(), std::to_string(kFileSize) + "\n");
}

TEST_F(HooksTest, FileSizeLimitRaisesNoSignal) {
  struct rlimit saved;
  getrlimit(RLIMIT_FSIZE, &saved);
  struct rlimit limit = saved;
  limit.rlim_cur = 64 * 1024;
  const pid_t pid = fork();
  if (pid == 0) {
    setrlimit(RLIMIT_FSIZE, &limit);
    _exit(WEXITSTATUS(Victim("read")));
  }
  int status = -1;
  waitpid(pid, &status, 0);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(Printed(), std::to_string(kFileSize) + "\n");
}

TEST_F(HooksTest, FewDescriptorsAreEnough) {
  const pid_t pid = fork();
  if (pid == 0) {
    struct rlimit limit = {6, 6};
    setrlimit(RLIMIT_NOFILE, &limit);
    _exit(WEXITSTATUS(Victim("read")));
  }
  int status = -1;
  waitpid(pid, &status, 0);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(Printed(), std::to_string(kFileSize) + "\n");
}

TEST_F(HooksTest, SwitchedOffLeavesNoFile) {
  setenv("PENSTOCK_OFF", "1", 1);
  EXPECT_EQ(Victim("read"), 0);
  unsetenv("PENSTOCK_OFF");
  EXPECT_FALSE(fs::exists(trace_));
}

}  // namespace
}  // namespace penstock::traces
