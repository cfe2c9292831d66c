// SPDX-License-Identifier: Apache-2.0
//
// Tests what a user of penstock-record sees: exit status, output, names of traces, and one line if
// something is wrong.
#include <sys/wait.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/agent/record/runner.h"
#include "tests/paths.h"

namespace penstock::record {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

TEST(LaunchTest, ExitStatusIsThatOfTheCommand) {
  for (const int status : {0, 3, 255}) {
    RecordRun run;
    const int got = run({"--quiet", "-o", "t", "--", "sh", "-c", "exit " + std::to_string(status)});
    EXPECT_TRUE(WIFEXITED(got));
    EXPECT_EQ(WEXITSTATUS(got), status);
    EXPECT_TRUE(std::filesystem::exists(run.path("t")));
    EXPECT_FALSE(std::filesystem::exists(run.path("t.part")));
    EXPECT_EQ(run.err(), "");
  }
}

TEST(LaunchTest, ExitStatusIsThatOfTheCommandIfNobodyReadsTheMessages) {
  RecordRun run;
  const std::string agent = std::string("PENSTOCK_AGENT='") + paths::kStubAgent + "' ";
  const std::string record =
      std::string("'") + paths::kRecord + "' -o t -- '" + FakeProgram() + "' - 1 1 100 5000 7";
  const std::string script = "cd '" + run.folder().string() + "' && { " + agent + record +
                             "; echo $? > s; mv s status; } 2>&1 > /dev/null | true";
  EXPECT_EQ(std::system(script.c_str()), 0);
  ASSERT_TRUE(run.Appears("status", 20));
  EXPECT_EQ(run.Read("status"), "7\n");
}

TEST(LaunchTest, ClosedStandardStreamsStayClosedAndTheCommandIsTraced) {
  RecordRun run;
  const std::string agent = std::string("PENSTOCK_AGENT='") + paths::kStubAgent + "' ";
  const std::string command =
      " -o t -- sh -c 'for n in 0 1 2; do [ -e /proc/self/fd/$n ] || echo $n; done > closed'";
  const std::string script = "cd '" + run.folder().string() + "' && " + agent + "'" +
                             paths::kRecord + "'" + command + " <&- >&- 2>&-";
  EXPECT_EQ(std::system(script.c_str()), 0);
  EXPECT_EQ(run.Read("closed"), "0\n2\n");  // 1 is open: it is this file
  EXPECT_TRUE(std::filesystem::exists(run.path("t")));
}

TEST(LaunchTest, DeathBySignalIsPassedOn) {
  for (const int signal : {SIGTERM, SIGSEGV, SIGKILL}) {
    RecordRun run;
    const int got =
        run({"--quiet", "-o", "t", "--", "sh", "-c", "kill -" + std::to_string(signal) + " $$"});
    EXPECT_TRUE(WIFSIGNALED(got));
    EXPECT_EQ(WTERMSIG(got), signal);
    const auto trace = ReadTrace(run.path("t"));
    ASSERT_TRUE(trace.trace);
    EXPECT_EQ(trace.trace->facts().at("exit.status"), "signal " + std::to_string(signal));
  }
}

TEST(LaunchTest, WhatCannotRunGetsTheShellsStatus) {
  RecordRun missing;
  EXPECT_EQ(WEXITSTATUS(missing({"-o", "t", "--", "no-such-command"})), 127);
  EXPECT_EQ(Lines(missing.err()), 1u);
  EXPECT_THAT(missing.err(), HasSubstr("no-such-command: command not found"));
  RecordRun folder;
  EXPECT_EQ(WEXITSTATUS(folder({"-o", "t", "--", "/tmp"})), 126);
  EXPECT_FALSE(std::filesystem::exists(folder.path("t.part")));
}

TEST(LaunchTest, ExecFailureLeavesNothingBehind) {
  RecordRun run;
  // The file x is executable, but its interpreter is missing. Only exec can find that out.
  EXPECT_EQ(WEXITSTATUS(run({"-o", "t", "--", "sh", "-c",
                             "printf '#!/no/such/interpreter\\n' > x; chmod +x x"})),
            0);
  std::filesystem::remove(run.path("t"));
  EXPECT_EQ(WEXITSTATUS(run({"-o", "t", "--", "./x"})), 127);
  EXPECT_FALSE(std::filesystem::exists(run.path("t")));
  EXPECT_FALSE(std::filesystem::exists(run.path("t.part")));
}

TEST(LaunchTest, WrongUsageIsStatus2AndOneLine) {
  RecordRun run;
  EXPECT_EQ(WEXITSTATUS(run({"--for", "soon", "--", "true"})), 2);
  EXPECT_EQ(Lines(run.err()), 1u);
  EXPECT_EQ(WEXITSTATUS(run({})), 2);
  EXPECT_EQ(Lines(run.err()), 1u);
}

TEST(LaunchTest, MissingAgentIsStatus3) {
  RecordRun run;
  run.Setenv("PENSTOCK_AGENT", "/no/such/agent.so");
  EXPECT_EQ(WEXITSTATUS(run({"--", "true"})), 3);
  EXPECT_EQ(Lines(run.err()), 1u);
}

TEST(LaunchTest, TraceIsNamedAfterTheCommand) {
  RecordRun run;
  EXPECT_EQ(WEXITSTATUS(run({"--quiet", "--", "true"})), 0);
  EXPECT_TRUE(std::filesystem::exists(run.path("true.penstock")));
}

TEST(LaunchTest, TheTraceGoesAboveTheTargetOfALink) {
  RecordRun run;
  std::filesystem::create_directories(run.path("real/deep"));
  std::filesystem::create_directory_symlink("real/deep", run.path("link"));
  EXPECT_EQ(WEXITSTATUS(run({"--quiet", "-o", "link/../t", "--", "true"})), 0);
  EXPECT_TRUE(std::filesystem::exists(run.path("real/t")));
  EXPECT_FALSE(std::filesystem::exists(run.path("t")));
}

TEST(LaunchTest, StandardStreamsAreTheCommands) {
  RecordRun run;
  EXPECT_EQ(WEXITSTATUS(run({"--quiet", "-o", "t", "--", "sh", "-c",
                             "echo to out; echo to err >&2; ls /proc/self/fd | wc -l"})),
            0);
  EXPECT_THAT(run.out(), HasSubstr("to out\n"));
  EXPECT_EQ(run.err(), "to err\n");
  EXPECT_THAT(run.out(), HasSubstr("\n4\n"));  // 0, 1, 2 and the folder that ls reads
}

TEST(LaunchTest, CommandGetsTheAgentBehindWhatWasThere) {
#if defined(__SANITIZE_ADDRESS__)
  GTEST_SKIP() << "ASan ends a launcher with anything preloaded before it";
#endif
  RecordRun run;
  run.Setenv("LD_PRELOAD", "libm.so.6");
  EXPECT_EQ(WEXITSTATUS(run({"--quiet", "-o", "t", "--override", "workers=3,pin=1", "--fixed-batch",
                             "--batches", "5", "--data", "d", "--", "env"})),
            0);
  EXPECT_THAT(run.out(),
              HasSubstr("LD_PRELOAD=libm.so.6:" + std::string(paths::kStubAgent) + "\n"));
  EXPECT_THAT(run.out(), HasSubstr("PENSTOCK_AGENT=" + std::string(paths::kStubAgent) + "\n"));
  EXPECT_THAT(run.out(), HasSubstr("PENSTOCK_ARENA=sysv:"));
  EXPECT_THAT(run.out(), HasSubstr("PENSTOCK_OVERRIDE=workers=3,pin=1\n"));
  EXPECT_THAT(run.out(), HasSubstr("PENSTOCK_FIXED_BATCH=1\n"));
  EXPECT_THAT(run.out(), HasSubstr("PENSTOCK_BATCHES=5\n"));
  EXPECT_THAT(run.out(), HasSubstr("PENSTOCK_DATA=" + run.path("d") + "\n"));
}

TEST(LaunchTest, OverridesAreVariablesOfTheCommandAndFactsOfTheTrace) {
  RecordRun run;
  run.Setenv("OMP_NUM_THREADS", "7");
  EXPECT_EQ(WEXITSTATUS(run({"--quiet", "-o", "t", "--override",
                             "threads=2,mkl=1,malloc=keep,trim_threshold=1M,pillow_blocks=16", "--",
                             "env"})),
            0);
  for (const char* variable :
       {"OMP_NUM_THREADS=2\n", "OPENBLAS_NUM_THREADS=2\n", "NUMEXPR_NUM_THREADS=2\n",
        "MKL_NUM_THREADS=1\n", "MALLOC_MMAP_THRESHOLD_=33554432\n",
        "MALLOC_TRIM_THRESHOLD_=1048576\n", "PILLOW_BLOCKS_MAX=16\n"}) {
    EXPECT_THAT(run.out(), HasSubstr(variable));
  }
  const auto trace = ReadTrace(run.path("t"));
  ASSERT_TRUE(trace.trace);
  const auto& facts = trace.trace->facts();
  EXPECT_EQ(facts.at("record.override"),
            "threads=2,mkl=1,malloc=keep,trim_threshold=1M,pillow_blocks=16");
  EXPECT_EQ(facts.at("override.threads"), "2");
  EXPECT_EQ(facts.at("override.mkl"), "1");
  EXPECT_EQ(facts.at("override.malloc"), "keep");
  EXPECT_EQ(facts.at("override.trim_threshold"), "1M");
  EXPECT_EQ(facts.at("override.pillow_blocks"), "16");
}

TEST(LaunchTest, AnAllocatorThatIsNotThereIsRefusedInOneLine) {
#if defined(__SANITIZE_ADDRESS__)
  GTEST_SKIP() << "ASan ends a launcher with anything preloaded before it";
#endif
  RecordRun run;
  // LD_PRELOAD names an allocator already. An empty file stands for jemalloc, which not every
  // machine has.
  std::ofstream(run.path("libjemalloc.so.2")) << "";
  run.Setenv("LD_LIBRARY_PATH", run.path("").c_str());
  run.Setenv("LD_PRELOAD", "libm.so.6:/nonexistent/libtcmalloc.so.4");
  EXPECT_EQ(WEXITSTATUS(run({"-o", "t", "--override", "malloc=jemalloc", "--", "true"})), 2);
  EXPECT_THAT(run.err(), HasSubstr("libtcmalloc.so.4 already"));
  EXPECT_FALSE(std::filesystem::exists(run.path("t")));
}

TEST(LaunchTest, UnwritableOutputRunsTheCommandUntraced) {
  for (const char* output : {"no/such/folder/t", "/proc/t", "/tmp"}) {
    RecordRun run;
    EXPECT_EQ(WEXITSTATUS(run({"-o", output, "--", "sh", "-c", "echo same output; exit 5"})), 5);
    EXPECT_EQ(run.out(), "same output\n");
    EXPECT_EQ(Lines(run.err()), 1u) << run.err();
    EXPECT_THAT(run.err(), HasSubstr("untraced"));
  }
}

TEST(LaunchTest, WhatIsInTheWayOfTheOutputIsSaidOnce) {
  RecordRun run;
  // The name of the unfinished file is taken, and a name beside it would be too long.
  const std::string name(240, 't');
  std::filesystem::create_symlink("elsewhere", run.path(name + ".part"));
  EXPECT_EQ(WEXITSTATUS(run({"-o", name, "--", "true"})), 0);
  EXPECT_EQ(Lines(run.err()), 2u) << run.err();
  EXPECT_THAT(run.err(), HasSubstr("is a symbolic link"));
  EXPECT_THAT(run.err(), HasSubstr("untraced"));
}

TEST(LaunchTest, TheFolderForCopiesStaysIfTheCommandRunsUntraced) {
  RecordRun run;
  const std::filesystem::path place = run.path("place");
  std::filesystem::create_directory(place);
  std::ofstream(place / "mine") << "x";
  // If a program names this library, the recorder must not preload the agent into it.
  std::filesystem::copy_file("/bin/true", run.path("program"));
  std::ofstream(run.path("program"), std::ios::app) << "libasan.so";
  EXPECT_EQ(WEXITSTATUS(run({"--stage", place.string(), "-o", "t", "--", "./program"})), 0);
  EXPECT_THAT(run.err(), HasSubstr("untraced"));
  EXPECT_TRUE(std::filesystem::exists(place / "mine"));
  // In this run the output fails after the recorder has made the folder for copies.
  EXPECT_EQ(WEXITSTATUS(run({"--stage", place.string(), "-o", "/proc/t", "--", "true"})), 0);
  EXPECT_THAT(run.err(), HasSubstr("untraced"));
  const std::filesystem::directory_iterator left(place);
  EXPECT_EQ(std::distance(begin(left), end(left)), 1);
  EXPECT_TRUE(std::filesystem::exists(place / "mine"));
}

TEST(LaunchTest, FactsDescribeTheRun) {
  RecordRun run;
  EXPECT_EQ(WEXITSTATUS(run({"--quiet", "-o", "t", "--data", "/dev/shm", "--", "sh", "-c",
                             "sleep 0.2; exit 4"})),
            4);
  const auto contents = ReadTrace(run.path("t"));
  ASSERT_TRUE(contents.trace);
  const auto& facts = contents.trace->facts();
  EXPECT_EQ(facts.at("command"), "sh -c 'sleep 0.2; exit 4'");
  EXPECT_EQ(facts.at("exit.status"), "4");
  EXPECT_EQ(facts.at("record.mode"), "collector");
  EXPECT_EQ(facts.at("dataset.storage"), "tmpfs memory");
  // The duration is that of the command, even if the collector learns late that it started and
  // ended.
  EXPECT_GE(std::stod(facts.at("duration_ns")) * 1e-9, 0.2);
  EXPECT_LE(std::stod(facts.at("duration_ns")) * 1e-9, 5);
  for (const char* key :
       {"host", "kernel", "cpu.model", "cpu.cores", "cpu.affinity", "memory.total", "shm.size",
        "penstock.version", "record.start_realtime_ns", "host.fault_ns"}) {
    EXPECT_TRUE(facts.contains(key)) << key;
  }
}

TEST(LaunchTest, CtrlCStopsTheCommandAndKeepsTheTrace) {
  RecordRun run;
  run.Start({"--quiet", "-o", "t", "--", FakeProgram(), "counts", "1", "1", "0", "1000", "0"});
  ASSERT_TRUE(run.Appears("counts", 5));
  usleep(200'000);
  run.KillGroup(SIGINT);  // as a terminal does
  const int status = run.Wait();
  EXPECT_TRUE(WIFSIGNALED(status));
  EXPECT_EQ(WTERMSIG(status), SIGINT);
  EXPECT_GT(ReadTrace(run.path("t")).spans, 10u);
}

TEST(LaunchTest, TerminationIsForwarded) {
  RecordRun run;
  run.Start({"--quiet", "-o", "t", "--", "sh", "-c",
             "trap 'echo caught; exit 9' TERM; touch up; while :; do sleep 0.05; done"});
  ASSERT_TRUE(run.Appears("up", 5));
  kill(run.pid(), SIGTERM);
  EXPECT_EQ(WEXITSTATUS(run.Wait()), 9);
  EXPECT_EQ(run.out(), "caught\n");
  EXPECT_TRUE(std::filesystem::exists(run.path("t")));
}

TEST(LaunchTest, AnInterruptOfTheRecorderAloneIsPassedOn) {
  for (const int signal : {SIGINT, SIGQUIT}) {
    RecordRun run;
    run.Start({"--quiet", "-o", "t", "--", FakeProgram(), "counts", "1", "1", "0", "1000", "0"});
    ASSERT_TRUE(run.Appears("counts", 20));
    kill(run.pid(), signal);
    const int status = run.Wait();
    EXPECT_TRUE(WIFSIGNALED(status));
    EXPECT_EQ(WTERMSIG(status), signal);
    EXPECT_TRUE(ReadTrace(run.path("t")).trace);
  }
}

TEST(LaunchTest, AnInterruptOfTheGroupComesOnce) {
  RecordRun run;
  run.Start({"--quiet", "-o", "t", "--", "sh", "-c",
             "trap 'echo caught' INT TERM; touch up; while [ ! -e down ]; do sleep 0.05; done"});
  ASSERT_TRUE(run.Appears("up", 20));
  for (int i = 0; i < 3; ++i) {
    run.KillGroup(i == 1 ? SIGTERM : SIGINT);
    while (Lines(run.out()) <= static_cast<std::size_t>(i)) usleep(1000);
    usleep(200'000);  // longer than the recorder takes to tell whether the group got the signal
  }
  kill(run.pid(), SIGINT);
  while (Lines(run.out()) <= 3) usleep(1000);
  std::ofstream(run.path("down")) << "";
  EXPECT_EQ(WEXITSTATUS(run.Wait()), 0);
  EXPECT_EQ(run.out(), "caught\ncaught\ncaught\ncaught\n");
}

TEST(LaunchTest, AnIgnoredInterruptStaysIgnored) {
  RecordRun run;
  std::signal(SIGINT, SIG_IGN);  // as for a command in the background of a script
  run.Start({"--quiet", "-o", "t", "--", "sh", "-c", "touch up; sleep 0.5; exit 4"});
  std::signal(SIGINT, SIG_DFL);
  ASSERT_TRUE(run.Appears("up", 20));
  kill(run.pid(), SIGINT);
  EXPECT_EQ(WEXITSTATUS(run.Wait()), 4);
}

TEST(LaunchTest, AnIgnoredEndOfChildrenStaysIgnored) {
  RecordRun run;
  std::signal(SIGCHLD, SIG_IGN);  // as under some daemons
  run.Start({"--quiet", "-o", "t", "--", "grep", "SigIgn", "/proc/self/status"});
  std::signal(SIGCHLD, SIG_DFL);
  EXPECT_EQ(WEXITSTATUS(run.Wait()), 0);
  const std::string line = run.out();
  ASSERT_THAT(line, StartsWith("SigIgn:"));
  const unsigned long long ignored = std::stoull(line.substr(7), nullptr, 16);
  EXPECT_EQ((ignored >> (SIGCHLD - 1)) & 1, 1u) << line;
}

TEST(LaunchTest, VerdictNamesTheTrace) {
  RecordRun run;
  EXPECT_EQ(WEXITSTATUS(run({"-o", "t", "--", FakeProgram(), "-", "1", "1", "100", "0", "0"})), 0);
  EXPECT_THAT(run.err(), HasSubstr("wrote " + run.path("t")));
  EXPECT_THAT(run.err(), HasSubstr("100 spans"));
}

}  // namespace
}  // namespace penstock::record
