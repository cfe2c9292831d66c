// SPDX-License-Identifier: Apache-2.0
//
// Recording without a collector. The tests check the output file after several commands used the
// same name, after somebody cut, replaced or removed the file, and after the program was killed.

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "tests/paths.h"
#include "traces/live_file.h"
#include "traces/output_place.h"
#include "traces/recording/join_segment.h"
#include "traces/trace.h"

namespace penstock::traces {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kSampleSize = 300007;

class LinearTest : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::temp_directory_path() / ("penstock_linear_" + std::to_string(getpid()));
    fs::remove_all(folder_);
    fs::create_directories(folder_);
    file_ = folder_ / "sample.txt";
    std::ofstream(file_, std::ios::binary) << std::string(kSampleSize, 'x');
    trace_ = folder_ / "run.penstock";
  }

  void TearDown() override {
    for (const fs::path& trace : Traces()) (void)FinishFromSegment(trace);
    fs::remove_all(folder_);
  }

  pid_t Start(
      const std::vector<std::string>& command, const std::function<void()>& prepare = [] {}) {
    const pid_t pid = fork();
    if (pid == 0) {
      const int out = open((folder_ / "stdout").c_str(), O_WRONLY | O_CREAT | O_APPEND, 0644);
      dup2(out, 1);
      setenv("PENSTOCK_OUT", trace_.c_str(), 1);
      setenv("LD_PRELOAD", paths::kAgent, 1);
      prepare();
      std::vector<char*> arguments;
      for (const std::string& a : command) arguments.push_back(const_cast<char*>(a.c_str()));
      arguments.push_back(nullptr);
      execv(arguments[0], arguments.data());
      _exit(126);
    }
    return pid;
  }

  static int End(pid_t pid) {
    int status = -1;
    waitpid(pid, &status, 0);
    return status;
  }

  int Run(
      const std::string& how, const std::function<void()>& prepare = [] {}) {
    return End(Start({paths::kVictim, how, file_.string()}, prepare));
  }

  // Returns the paths of all recordings in the folder.
  std::vector<fs::path> Traces() {
    std::vector<fs::path> found;
    for (const auto& entry : fs::directory_iterator(folder_)) {
      if (entry.path().extension() == ".penstock" && fs::is_regular_file(entry.symlink_status())) {
        found.push_back(entry.path());
      }
    }
    std::sort(found.begin(), found.end());
    return found;
  }

  std::uint64_t BytesIn(const fs::path& path) {
    const auto trace = OpenTrace(path);
    if (!trace) return 0;
    std::uint64_t bytes = 0;
    for (std::uint32_t i = 0; i < (*trace)->threads().size(); ++i) {
      for (const Span& s : (*trace)->Spans(ThreadId{i})) {
        if (s.stage == StageId::kRead && (*trace)->String(s.object) == file_.string() &&
            (s.flags & wire::kFlagUnfinished) == 0) {
          bytes += s.bytes.value;
        }
      }
    }
    return bytes;
  }

  // Waits until the recording of a started program exists, for at most ten seconds.
  void AwaitTrace(const fs::path& path) {
    for (int i = 0; i < 2000 && !(fs::exists(path) && BytesIn(path) > 0); ++i) usleep(5000);
  }

  fs::path folder_;
  fs::path file_;
  fs::path trace_;
};

TEST_F(LinearTest, ASecondCommandLeavesTheRecordingOfTheFirst) {
  ASSERT_EQ(Run("read"), 0);
  ASSERT_EQ(Run("threads"), 0);
  EXPECT_EQ(BytesIn(trace_), kSampleSize);
  const auto traces = Traces();
  ASSERT_EQ(traces.size(), 2u);
  EXPECT_EQ(BytesIn(traces[0]), 200 * kSampleSize) << traces[0];
}

TEST_F(LinearTest, ACommandThatReadsNoDataMakesNoFile) {
  EXPECT_EQ(End(Start({"/bin/ls", folder_.string()})), 0);
  EXPECT_TRUE(Traces().empty());
}

TEST_F(LinearTest, CommandsAtTheSameTimeHaveARecordingEach) {
  std::vector<pid_t> pids;
  for (int i = 0; i < 8; ++i) pids.push_back(Start({paths::kVictim, "read", file_}));
  for (const pid_t pid : pids) EXPECT_EQ(End(pid), 0);
  const auto traces = Traces();
  EXPECT_EQ(traces.size(), 8u);
  for (const fs::path& trace : traces) EXPECT_EQ(BytesIn(trace), kSampleSize) << trace;
}

TEST_F(LinearTest, CommandsOfOneTracedShellAreOneRecording) {
  const std::string victim = paths::kVictim;
  const std::string line = victim + " read " + file_.string();
  ASSERT_EQ(End(Start({"/bin/sh", "-c", line + " & " + line + "; wait; " + line + "; exit 0"})), 0);
  ASSERT_EQ(Traces().size(), 1u);
  EXPECT_EQ(BytesIn(trace_), 3 * kSampleSize);
}

TEST_F(LinearTest, ForceReplacesATraceAndNothingElse) {
  const auto force = [] { setenv("PENSTOCK_FORCE", "1", 1); };
  ASSERT_EQ(Run("threads"), 0);
  ASSERT_EQ(Run("read", force), 0);
  EXPECT_EQ(Traces().size(), 1u);
  EXPECT_EQ(BytesIn(trace_), kSampleSize);
  std::ofstream(trace_, std::ios::trunc) << "the weights of a model";
  ASSERT_EQ(Run("read", force), 0);
  EXPECT_EQ(fs::file_size(trace_), 22u);
  ASSERT_EQ(Traces().size(), 2u);
  EXPECT_EQ(BytesIn(Traces()[0]), kSampleSize);
}

// Containers use the same few process ids again and again. So a killed process may have left a file
// with the id of the process that records now.
TEST_F(LinearTest, AFileThatAKilledProcessOfThisNumberLeftIsInNobodysWay) {
  ASSERT_EQ(Run("threads"), 0);
  const auto left_before = [this] {
    setenv("PENSTOCK_FORCE", "1", 1);
    std::ofstream(trace_.string() + "." + std::to_string(getpid()) + ".tmp") << "PENSTOCK";
  };
  ASSERT_EQ(Run("read", left_before), 0);
  EXPECT_EQ(Traces().size(), 1u);
  EXPECT_EQ(BytesIn(trace_), kSampleSize);
}

// A process that is killed while it makes its recording leaves a file under a temporary name.
TEST_F(LinearTest, AFileThatIsBeingMadeHasANameThatIsRemovedLater) {
  ASSERT_EQ(Run("threads"), 0);
  const int watch = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
  if (watch < 0 || inotify_add_watch(watch, folder_.c_str(), IN_CREATE) < 0) {
    GTEST_SKIP() << "the folder cannot be watched";
  }
  ASSERT_EQ(Run("read", [] { setenv("PENSTOCK_FORCE", "1", 1); }), 0);
  alignas(inotify_event) char events[4096];
  const ssize_t size = read(watch, events, sizeof events);
  close(watch);
  std::vector<fs::path> made;
  for (ssize_t at = 0; at < size;) {
    const auto* event = reinterpret_cast<const inotify_event*>(events + at);
    if (event->len > 0) made.push_back(folder_ / event->name);
    at += static_cast<ssize_t>(sizeof(inotify_event) + event->len);
  }
  ASSERT_EQ(made.size(), 1u);
  EXPECT_FALSE(fs::exists(made[0]));
  std::ofstream(made[0]) << "PENSTOCK";
  RemoveAbandoned(trace_);
  EXPECT_FALSE(fs::exists(made[0])) << made[0];
  EXPECT_TRUE(fs::exists(trace_));
}

TEST_F(LinearTest, WhatIsNoFileOfOursIsLeftAlone) {
  const auto elsewhere = [&] {
    for (const fs::path& trace : Traces()) {
      if (BytesIn(trace) == kSampleSize) return true;
    }
    return false;
  };
  ASSERT_EQ(mkfifo(trace_.c_str(), 0600), 0);
  EXPECT_EQ(Run("read"), 0);  // it does not hang
  EXPECT_TRUE(elsewhere());
  fs::remove_all(folder_ / "run.penstock");
  for (const fs::path& trace : Traces()) fs::remove(trace);
  const fs::path target = folder_ / "victim.txt";
  std::ofstream(target) << "precious";
  fs::create_symlink(target, trace_);
  EXPECT_EQ(Run("read"), 0);
  EXPECT_EQ(fs::file_size(target), 8u);
  EXPECT_TRUE(elsewhere());
  fs::remove(trace_);
  fs::create_directory(trace_);
  EXPECT_EQ(Run("read"), 0);
}

// Somebody cuts, removes or replaces the file of a running program. From then on the agent must not
// write to a file of this name.
class LostFileTest : public LinearTest, public testing::WithParamInterface<const char*> {
 protected:
  void Lose() {
    const std::string how = GetParam();
    if (how == "cut") {
      ASSERT_EQ(truncate(trace_.c_str(), 0), 0);
    } else {
      fs::remove(trace_);
    }
    if (how == "replaced") std::ofstream(trace_) << "precious";
  }
  // Returns whether the file is as Lose() left it: nobody has written to it or made it anew.
  bool IsAsLost() const {
    const std::string how = GetParam();
    if (how == "removed") return !fs::exists(trace_);
    return fs::file_size(trace_) == (how == "cut" ? 0u : 8u);
  }
};

TEST_P(LostFileTest, TheProgramGoesOnAndTheRestIsBeside) {
  const pid_t pid = Start({paths::kVictim, "forever", file_});
  // Waits until the agent has written a chunk to the file. Lose() then destroys this chunk.
  for (int i = 0; i < 4000; ++i) {
    std::ifstream in(trace_, std::ios::binary);
    in.seekg(wire::kHeaderSize);
    char magic[4] = {};
    if (in.read(magic, sizeof magic) && magic[0] != 0) break;
    usleep(5000);
  }
  Lose();
  const auto beside = [&] {
    for (const fs::path& trace : Traces()) {
      if (trace != trace_) return trace;
    }
    return fs::path();
  };
  for (int i = 0; i < 4000 && beside().empty(); ++i) usleep(5000);
  int status = 0;
  EXPECT_EQ(waitpid(pid, &status, WNOHANG), 0) << "it has ended with status " << status;
  kill(pid, SIGKILL);
  End(pid);
  EXPECT_TRUE(IsAsLost());
  const auto trace = OpenTrace(beside());
  ASSERT_TRUE(trace.has_value()) << trace.error().message;
  EXPECT_GE((*trace)->losses().damaged_chunks, 1u);
  std::uint64_t spans = 0;  // counted without their names, which were in the lost chunk
  for (const ThreadInfo& thread : (*trace)->threads()) spans += thread.spans;
  EXPECT_GT(spans, 0u) << (*trace)->losses().damaged_records << " damaged records, "
                       << (*trace)->losses().damaged_chunks << " chunks, unsealed "
                       << (*trace)->losses().unsealed;
}

INSTANTIATE_TEST_SUITE_P(Ways, LostFileTest, testing::Values("cut", "removed", "replaced"),
                         [](const auto& param) { return std::string(param.param); });

TEST_F(LinearTest, WhatAKilledProgramLeftIsReadAndFinished) {
  const pid_t pid = Start({paths::kVictim, "forever", file_});
  AwaitTrace(trace_);
  EXPECT_EQ(LookAt(trace_).state, LiveState::kWriting);
  EXPECT_FALSE(FinishFromSegment(trace_).has_value());
  kill(pid, SIGKILL);
  End(pid);
  EXPECT_EQ(LookAt(trace_).state, LiveState::kComplete);
  const std::uint64_t joined = BytesIn(trace_);
  EXPECT_GT(joined, 0u);
  EXPECT_EQ(joined % kSampleSize % 4096, 0u);  // it was killed between reads of 4096 bytes
  const auto finished = FinishFromSegment(trace_);
  ASSERT_TRUE(finished.has_value()) << finished.error().message;
  EXPECT_EQ(BytesIn(trace_), joined);
  const auto trace = OpenTrace(trace_);
  ASSERT_TRUE(trace.has_value());
  EXPECT_FALSE((*trace)->losses().unsealed);
  EXPECT_FALSE(FinishFromSegment(trace_).has_value());  // nothing is left
}

TEST_F(LinearTest, AFileWithoutItsSegmentSaysSo) {
  const pid_t pid = Start({paths::kVictim, "forever", file_});
  AwaitTrace(trace_);
  kill(pid, SIGKILL);
  End(pid);
  // Another host has another boot id and cannot see the segment.
  std::fstream file(trace_, std::ios::in | std::ios::out | std::ios::binary);
  file.seekp(offsetof(wire::FileHeader, boot_id));
  file << "another boot";
  file.close();
  const auto trace = OpenTrace(trace_);
  ASSERT_TRUE(trace.has_value()) << trace.error().message;
  EXPECT_TRUE((*trace)->losses().unsealed);
  file.open(trace_, std::ios::in | std::ios::out | std::ios::binary);
  std::ifstream boot("/proc/sys/kernel/random/boot_id");
  std::string id;
  boot >> id;
  file.seekp(offsetof(wire::FileHeader, boot_id));
  file << id;  // so that TearDown() finds the segment and removes it
}

TEST_F(LinearTest, TheFileIsItsOwnersAlone) {
  umask(0);
  ASSERT_EQ(Run("read"), 0);
  struct stat st {};
  ASSERT_EQ(stat(trace_.c_str(), &st), 0);
  EXPECT_EQ(st.st_mode & 0777, 0600u);
}

TEST_F(LinearTest, AProgramThatEndsLeavesNoSegmentAndNoRoomToSpare) {
  ASSERT_EQ(Run("threads"), 0);
  EXPECT_EQ(BytesIn(trace_), 200 * kSampleSize);
  EXPECT_FALSE(FinishFromSegment(trace_).has_value());
  EXPECT_LT(fs::file_size(trace_), 1u << 20);
}

}  // namespace
}  // namespace penstock::traces
