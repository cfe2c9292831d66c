// SPDX-License-Identifier: Apache-2.0
//
// Whichever process is killed, every committed span is in the trace.
#include <sys/wait.h>

#include <csignal>
#include <random>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "agent/record/collect/arena.h"
#include "agent/record/sample/liveness.h"
#include "agent/record/sample/proc_fs.h"
#include "tests/agent/record/runner.h"
#include "tests/paths.h"

namespace penstock::record {
namespace {

using testing::HasSubstr;
using testing::Not;

// Checks that each thread has the samples 0 .. n-1, each once, and that n is not less than the
// number of spans that the thread committed.
void ExpectComplete(const TraceContents& contents, std::vector<std::uint64_t> committed) {
  ASSERT_TRUE(contents.trace);
  std::vector<std::uint64_t> found;
  for (const auto& samples : contents.threads) {
    for (std::size_t i = 0; i < samples.size(); ++i) {
      ASSERT_EQ(samples[i], static_cast<std::int64_t>(i));
    }
    found.push_back(samples.size());
  }
  committed.erase(std::remove(committed.begin(), committed.end(), 0u), committed.end());
  found.erase(std::remove(found.begin(), found.end(), 0u), found.end());
  std::sort(found.begin(), found.end());
  std::sort(committed.begin(), committed.end());
  ASSERT_GE(found.size(), committed.size());
  // A thread commits a span before it counts it, so at most one span of each thread is not counted.
  const std::size_t extra = found.size() - committed.size();
  for (std::size_t i = 0; i < committed.size(); ++i) {
    EXPECT_GE(found[i + extra], committed[i]);
    EXPECT_LE(found[i + extra], committed[i] + 1);
  }
}

TEST(CollectTest, AllSpansOfAllThreadsAndProcessesArrive) {
  RecordRun run;
  EXPECT_EQ(WEXITSTATUS(run({"--quiet", "-o", "t", "--", FakeProgram(), "counts", "3", "4", "20000",
                             "0", "7"})),
            7);
  EXPECT_EQ(run.out(), "fake output\n");
  const auto contents = ReadTrace(run.path("t"));
  EXPECT_EQ(contents.spans, 3u * 4 * 20000);
  ExpectComplete(contents, ReadCounts(run.path("counts"), 12));
  EXPECT_EQ(contents.trace->processes().size(), 3u);
  EXPECT_EQ(contents.trace->losses(), traces::Losses{});
}

TEST(CollectTest, ASmallRingIsDrainedFastEnough) {
  RecordRun run;
  run.Setenv("PENSTOCK_CLOCK", "monotonic");
  EXPECT_EQ(WEXITSTATUS(run({"--quiet", "-o", "t", "--buffer", "1M", "--", FakeProgram(), "counts",
                             "1", "2", "100000", "0", "0"})),
            0);
  const auto contents = ReadTrace(run.path("t"));
  EXPECT_EQ(contents.spans, 200000u);
}

TEST(CollectTest, MemfdServesWhereSharedMemoryIsSmall) {
  RecordRun run;
  run.Setenv("PENSTOCK_SHM", "/no/such/folder");
  EXPECT_EQ(WEXITSTATUS(run(
                {"--quiet", "-o", "t", "--", FakeProgram(), "counts", "2", "2", "5000", "0", "0"})),
            0);
  ExpectComplete(ReadTrace(run.path("t")), ReadCounts(run.path("counts"), 4));
}

TEST(CollectTest, AFileServesWhereMemfdDoesNot) {
  RecordRun run;
  run.Setenv("PENSTOCK_SHM", "/no/such/folder");
  run.Setenv("PENSTOCK_MEMFD", "0");
  EXPECT_EQ(WEXITSTATUS(run({"--quiet", "-o", "t", "--buffer", "4M", "--", FakeProgram(), "counts",
                             "2", "2", "5000", "0", "0"})),
            0);
  ExpectComplete(ReadTrace(run.path("t")), ReadCounts(run.path("counts"), 4));
  EXPECT_FALSE(std::filesystem::exists(run.path("t.ring")));
}

TEST(CollectTest, ThirtyTwoDescriptorsAreEnough) {
  RecordRun run;
  const int status =
      run({"--quiet", "-o", "t", "--", FakeProgram(), "counts", "8", "3", "3000", "50", "0"},
          {.files = 32});
  EXPECT_EQ(WEXITSTATUS(status), 0);
  ExpectComplete(ReadTrace(run.path("t")), ReadCounts(run.path("counts"), 24));
}

TEST(CollectTest, KilledGroupLosesNothingCommitted) {
  std::mt19937 random(20);
  for (int round = 0; round < 6; ++round) {
    RecordRun run;
    run.Start({"--quiet", "-o", "t", "--", FakeProgram(), "counts", "3", "2", "0", "20", "0"});
    ASSERT_TRUE(run.Appears("counts", 5));
    usleep(std::uniform_int_distribution<useconds_t>(1'000, 900'000)(random));
    run.KillGroup(SIGKILL);
    EXPECT_EQ(WTERMSIG(run.Wait()), SIGKILL);
    ASSERT_TRUE(run.Appears("t", 5)) << round;
    const auto contents = ReadTrace(run.path("t"));
    ExpectComplete(contents, ReadCounts(run.path("counts"), 6));
    EXPECT_FALSE(std::filesystem::exists(run.path("t.part")));
    EXPECT_EQ(contents.trace->facts().at("record.launcher"), "killed");
    for (const auto& samples : contents.threads) {
      if (samples.size() > 1) {
        EXPECT_GE(contents.unfinished, 1u);
      }
    }
  }
}

TEST(CollectTest, KilledWorkersShowWhatTheyWereDoing) {
  RecordRun run;
  run.Start({"--quiet", "-o", "t", "--", FakeProgram(), "counts", "2", "1", "0", "500", "0"});
  ASSERT_TRUE(run.Appears("counts", 5));
  usleep(300'000);
  run.KillGroup(SIGKILL);
  run.Wait();
  ASSERT_TRUE(run.Appears("t", 5));
  EXPECT_EQ(ReadTrace(run.path("t")).unfinished, 2u);
}

TEST(CollectTest, KilledLauncherLeavesTheCommandRunning) {
  RecordRun run;
  run.Start({"--quiet", "-o", "t", "--", FakeProgram(), "counts", "1", "1", "1500", "1000", "0"});
  ASSERT_TRUE(run.Appears("counts", 5));
  usleep(200'000);
  kill(run.pid(), SIGKILL);
  run.Wait();
  ASSERT_TRUE(run.Appears("t", 10));
  EXPECT_EQ(ReadTrace(run.path("t")).spans, 1500u);
}

TEST(CollectTest, ForEndsTheRecordingNotTheCommand) {
  RecordRun run;
  run.Start({"-o", "t", "--for", "400ms", "--", FakeProgram(), "counts", "1", "1", "0", "1000", "6",
             "1200"});
  ASSERT_TRUE(run.Appears("t", 5));
  EXPECT_EQ(waitpid(run.pid(), nullptr, WNOHANG), 0) << "the command runs on";
  EXPECT_EQ(WEXITSTATUS(run.Wait()), 6);
  const auto contents = ReadTrace(run.path("t"));
  ExpectComplete(contents, ReadCounts(run.path("counts"), 1));
  EXPECT_EQ(contents.trace->facts().at("record.stopped"), "for 400ms");
  // The recording ends when the collector looks at the clock after 400 ms. The command runs longer.
  const double seconds = std::stod(contents.trace->facts().at("duration_ns")) * 1e-9;
  EXPECT_GE(seconds, 0.4);
  EXPECT_LT(seconds, 1.4);
  EXPECT_THAT(run.err(), HasSubstr("runs on"));
}

TEST(CollectTest, StopInterruptsTheCommand) {
  RecordRun run;
  const int status = run({"--quiet", "-o", "t", "--for", "300ms", "--stop", "--", "sleep", "30"});
  EXPECT_TRUE(WIFSIGNALED(status));
  EXPECT_EQ(WTERMSIG(status), SIGINT);
  EXPECT_TRUE(std::filesystem::exists(run.path("t")));
}

TEST(CollectTest, FileSizeLimitEndsTheRecordingNotTheCommand) {
  RecordRun run;
  const int status = run({"-o", "t", "--", FakeProgram(), "-", "1", "2", "400000", "0", "3"},
                         {.file_size = 1 << 20});
  EXPECT_EQ(WEXITSTATUS(status), 3);
  EXPECT_EQ(run.out(), "fake output\n");
  EXPECT_NE(run.err(), "");
}

TEST(CollectTest, DescendantsThatStayAreLeftAlone) {
  RecordRun run;
  const auto status =
      run({"--quiet", "-o", "t", "--", "sh", "-c",
           FakeProgram() + " counts 1 1 0 1000 0 >/dev/null 2>&1 & "
                           "while [ ! -e counts ]; do sleep 0.01; done; sleep 0.3"});
  EXPECT_EQ(WEXITSTATUS(status), 0);
  EXPECT_GT(ReadTrace(run.path("t")).spans, 10u);
}

TEST(CollectTest, NoArenaIsLeftBehind) {
  const ShmFolder shm;
  RecordRun run;
  run.Setenv("PENSTOCK_SHM", shm.path());
  EXPECT_EQ(WEXITSTATUS(run({"--quiet", "-o", "t", "--", "true"})), 0);
  EXPECT_EQ(shm.Arenas(), 0u);
}

// Returns the collector's pid. The collector is the child of the launcher with the recorder's name.
pid_t FindCollector(pid_t launcher) {
  for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
    const auto pid = ParseNumber(entry.path().filename().string());
    if (!pid) continue;
    const auto text = ReadFile(entry.path().string() + "/stat");
    const auto stat = text ? ParseStat(*text) : std::nullopt;
    if (!stat || stat->parent != static_cast<std::uint32_t>(launcher)) continue;
    const auto name = ReadFile(entry.path().string() + "/comm");
    if (name && Trimmed(*name).rfind("penstock-record", 0) == 0) return static_cast<pid_t>(*pid);
  }
  return -1;
}

TEST(CollectTest, KilledCollectorHarmsNobody) {
  const ShmFolder shm;
  RecordRun run;
  run.Setenv("PENSTOCK_SHM", shm.path());
  run.Start({"-o", "t", "--", FakeProgram(), "counts", "1", "1", "2500", "1000", "8"});
  ASSERT_TRUE(run.Appears("counts", 5));
  usleep(1'500'000);
  const pid_t collector = FindCollector(run.pid());
  ASSERT_GT(collector, 0);
  kill(collector, SIGKILL);
  EXPECT_EQ(WEXITSTATUS(run.Wait()), 8);
  EXPECT_THAT(run.err(), HasSubstr("collector"));
  EXPECT_THAT(run.err(), HasSubstr("wrote " + run.path("t")));
  EXPECT_THAT(run.err(), Not(HasSubstr(", 0 spans")));
  EXPECT_EQ(shm.Arenas(), 0u);
  const auto contents = ReadTrace(run.path("t"));
  ASSERT_TRUE(contents.trace);
  EXPECT_EQ(contents.trace->processes().size(), 1u);
  // No span is lost: those that the collector had drained but not flushed were still in the ring.
  EXPECT_EQ(contents.spans, 2500u);
}

TEST(CollectTest, AReusedPidIsNoCollector) {
  const ShmFolder shm;
  RecordRun run;
  run.Setenv("PENSTOCK_SHM", shm.path());
  run.Start({"-o", "t", "--", FakeProgram(), "counts", "1", "1", "0", "1000", "0"});
  ASSERT_TRUE(run.Appears("counts", 5));
  const pid_t collector = FindCollector(run.pid());
  ASSERT_GT(collector, 0);
  const std::string recover =
      std::string(paths::kRecover) + " " + run.path("t") + " 2>" + run.path("said");
  EXPECT_EQ(WEXITSTATUS(std::system(recover.c_str())), 3);  // the trace is being recorded
  EXPECT_THAT(run.Read("said"), HasSubstr("still being recorded"));
  kill(-run.pid(), SIGKILL);
  KillAndAwait(collector);
  run.Wait();
  // Now the pid in the ring is that of another run's recorder, as if the pid had been used again.
  RecordRun other;
  other.Start({"-o", "other", "--", FakeProgram(), "counts", "1", "1", "0", "1000", "0"});
  ASSERT_TRUE(other.Appears("counts", 5));
  for (const auto& entry : std::filesystem::directory_iterator(shm.path())) {
    auto arena = Arena::Open(entry.path());
    ASSERT_TRUE(arena.has_value());
    arena->header().collector_pid = static_cast<std::uint32_t>(other.pid());
  }
  EXPECT_EQ(WEXITSTATUS(std::system(recover.c_str())), 0) << run.Read("said");
  other.KillGroup(SIGKILL);
  other.Wait();
  ExpectComplete(ReadTrace(run.path("t")), ReadCounts(run.path("counts"), 1));
}

void ExpectRecovered(const std::string& name) {
  const ShmFolder shm;
  RecordRun run;
  run.Setenv("PENSTOCK_SHM", shm.path());
  run.Start({"-o", name, "--", FakeProgram(), "counts", "1", "1", "0", "1000", "0"});
  ASSERT_TRUE(run.Appears("counts", 5));
  usleep(1'500'000);
  const pid_t collector = FindCollector(run.pid());
  ASSERT_GT(collector, 0);
  kill(collector, SIGSTOP);  // nobody drains from here on
  usleep(200'000);
  kill(-run.pid(), SIGKILL);
  KillAndAwait(collector);
  run.Wait();
  EXPECT_EQ(shm.Arenas(), 1u);
  EXPECT_FALSE(std::filesystem::exists(run.path(name)));
  const std::string recover = std::string(paths::kRecover) + " " + run.path(name) + " 2>/dev/null";
  EXPECT_EQ(std::system(recover.c_str()), 0);
  EXPECT_EQ(shm.Arenas(), 0u);
  ExpectComplete(ReadTrace(run.path(name)), ReadCounts(run.path("counts"), 1));
}

TEST(CollectTest, EverybodyKilledAtOnceIsRecovered) {
  ExpectRecovered("t");
}

TEST(CollectTest, ATraceThatIsCalledAPartIsRecovered) {
  ExpectRecovered("t.part");
}

TEST(CollectTest, CountersAreTakenFromOutside) {
  RecordRun run;
  EXPECT_EQ(WEXITSTATUS(run(
                {"--quiet", "-o", "t", "--", FakeProgram(), "-", "1", "1", "700", "1000", "0"})),
            0);
  const auto contents = ReadTrace(run.path("t"));
  ASSERT_TRUE(contents.trace);
  std::map<std::string, int> seen;
  for (const auto& sample : contents.trace->counters()) {
    ++seen[std::string(contents.trace->String(sample.name))];
    EXPECT_GE(sample.value, 0);
  }
  for (const char* name :
       {"cpu_ns", "rss_bytes", "minor_faults", "major_faults", "threads", "disk_read_bytes",
        "rchar_bytes", "pss_bytes", "uss_bytes", "private_dirty_bytes", "anonymous_bytes",
        "pss_anon_bytes", "shm_used_bytes", "memory_available_bytes"}) {
    EXPECT_GE(seen[name], 1) << name;
  }
  EXPECT_GE(seen["cpu_ns"], 5);
  // A kernel without CONFIG_SCHED_INFO does not count the delay.
  if (access("/proc/self/schedstat", R_OK) == 0) {
    EXPECT_GE(seen["run_delay_ns"], 5);
  }
}

TEST(CollectTest, MemoryDoesNotDropWhenTheFirstThreadEnds) {
  RecordRun run;
  EXPECT_EQ(WEXITSTATUS(run({"--quiet", "-o", "t", "--", FakeProgram(), "-", "1", "1", "200",
                             "1000", "6", "700", "first-thread-ends"})),
            6);
  const auto contents = ReadTrace(run.path("t"));
  ASSERT_TRUE(contents.trace);
  int seen = 0;
  for (const auto& sample : contents.trace->counters()) {
    const auto name = contents.trace->String(sample.name);
    if (name != "rss_bytes" && name != "rss_anon_bytes") continue;
    ++seen;
    EXPECT_GT(sample.value, 0) << name;
  }
  EXPECT_GE(seen, 1);
}

TEST(CollectTest, PageTablesAreWalkedAsOftenAsAsked) {
  const auto walks = [](const std::string& memory) {
    RecordRun run;
    EXPECT_EQ(WEXITSTATUS(run({"--quiet", "--memory", memory, "-o", "t", "--", FakeProgram(), "-",
                               "1", "1", "1000", "1500", "0"})),
              0);
    const auto contents = ReadTrace(run.path("t"));
    int counters = 0;
    for (const auto& sample : contents.trace->counters()) {
      counters += contents.trace->String(sample.name) == "private_dirty_bytes" ? 1 : 0;
    }
    // Each walk writes a counter, unless the process has just ended.
    const int told = std::stoi(contents.trace->facts().at("record.walks"));
    EXPECT_GE(told, counters);
    EXPECT_GE(std::stoll(contents.trace->facts().at("record.walks_cpu_ns")), 0);
    return counters;
  };
  EXPECT_GE(walks("50ms"), 5);
  EXPECT_EQ(walks("off"), 0);
  const int seldom = walks("auto");  // every two seconds
  EXPECT_GE(seldom, 1);
  EXPECT_LE(seldom, 5);
}

TEST(LivenessTest, OwnProcessAndThreadsRun) {
  auto header = std::make_unique<wire::FileHeader>();
  Liveness liveness(*header);
  const auto stat = ParseStat(*ReadFile("/proc/self/stat"));
  const ProcessKey self{static_cast<std::uint32_t>(getpid()), stat->start};
  EXPECT_TRUE(liveness.ProcessRuns(self, TimeNs{1}));
  EXPECT_FALSE(liveness.ThreadIsDead(self, self.pid, TimeNs{1}));
  EXPECT_TRUE(liveness.ThreadIsDead(self, 0x7ffffff0, TimeNs{1}));
  // The same pid with another start time is another process.
  const ProcessKey earlier{self.pid, stat->start - 1};
  EXPECT_FALSE(liveness.ProcessRuns(earlier, TimeNs{1}));
  EXPECT_TRUE(liveness.ThreadIsDead(earlier, self.pid, TimeNs{1}));
}

TEST(LivenessTest, ZombieNoLongerRuns) {
  auto header = std::make_unique<wire::FileHeader>();
  Liveness liveness(*header);
  const pid_t child = fork();
  if (child == 0) _exit(0);
  siginfo_t info{};
  waitid(P_PID, static_cast<id_t>(child), &info, WEXITED | WNOWAIT);
  const auto stat = ParseStat(*ReadFile("/proc/" + std::to_string(child) + "/stat"));
  ASSERT_TRUE(stat);
  EXPECT_FALSE(liveness.ProcessRuns({static_cast<std::uint32_t>(child), stat->start}, TimeNs{1}));
  waitpid(child, nullptr, 0);
}

}  // namespace
}  // namespace penstock::record
