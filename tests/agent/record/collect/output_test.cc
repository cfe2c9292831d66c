// SPDX-License-Identifier: Apache-2.0
//
// Tests where a trace goes, which files it never replaces, who may read it, and what happens if its
// file is removed or replaced during the run.
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <fstream>
#include <regex>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "agent/record/sample/proc_fs.h"
#include "tests/agent/record/runner.h"
#include "tests/paths.h"

namespace penstock::record {
namespace {

namespace fs = std::filesystem;
using testing::ContainsRegex;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;

constexpr uid_t kNobody = 65534;

std::vector<std::string> Command(const std::string& output, std::vector<std::string> options = {}) {
  std::vector<std::string> words = {"--quiet"};
  if (!output.empty()) words.insert(words.end(), {"-o", output});
  words.insert(words.end(), options.begin(), options.end());
  words.insert(words.end(), {"--", FakeProgram(), "-", "1", "1", "10", "0", "5"});
  return words;
}

// Returns the files of the folder whose names match the pattern, sorted.
std::vector<std::string> Matching(const fs::path& folder, const std::string& pattern) {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(folder)) {
    const std::string name = entry.path().filename().string();
    if (std::regex_match(name, std::regex(pattern))) names.push_back(entry.path().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

constexpr const char* kFresh = "t\\.[0-9]{8}-[0-9]{6}-[0-9]+\\.penstock";

void Write(const std::string& path, const std::string& text) {
  std::ofstream(path, std::ios::binary) << text;
}

mode_t ModeOf(const std::string& path) {
  struct stat info {};
  EXPECT_EQ(lstat(path.c_str(), &info), 0) << path;
  return info.st_mode & 07777u;
}

TEST(OutputTest, AFinishedTraceIsKept) {
  RecordRun run;
  EXPECT_EQ(WEXITSTATUS(run(Command("t.penstock"))), 5);
  const std::string first = run.Read("t.penstock");
  EXPECT_EQ(WEXITSTATUS(run(Command("t.penstock"))), 5);
  EXPECT_EQ(run.Read("t.penstock"), first);
  const auto fresh = Matching(run.folder(), kFresh);
  ASSERT_THAT(fresh, SizeIs(1));
  EXPECT_EQ(ReadTrace(fresh[0]).spans, 10u);
  EXPECT_THAT(run.err(), HasSubstr("t.penstock exists; recording to " + fresh[0]));
  EXPECT_EQ(Lines(run.err()), 1u);
}

TEST(OutputTest, ATraceOfTheDefaultNameIsKept) {
  RecordRun run;
  EXPECT_EQ(WEXITSTATUS(run({"--quiet", "--", "true"})), 0);
  EXPECT_EQ(WEXITSTATUS(run({"--quiet", "--", "true"})), 0);
  EXPECT_THAT(Matching(run.folder(), "true.*\\.penstock"), SizeIs(2));
  RecordRun other;
  Write(other.path("true.penstock"), "notes");
  EXPECT_EQ(WEXITSTATUS(other({"--quiet", "--", "true"})), 0);
  EXPECT_EQ(other.Read("true.penstock"), "notes");
  EXPECT_THAT(Matching(other.folder(), "true.*\\.penstock"), SizeIs(2));
}

TEST(OutputTest, ForceReplacesATraceWhenTheNewOneIsComplete) {
  for (const bool by_variable : {false, true}) {
    RecordRun run;
    EXPECT_EQ(WEXITSTATUS(run(Command("t"))), 5);
    const std::string first = run.Read("t");
    if (by_variable) run.Setenv("PENSTOCK_FORCE", "1");
    std::vector<std::string> words = {"--quiet", "-o", "t", "--", "cp", "t", "before"};
    if (!by_variable) words.insert(words.begin(), "--force");
    EXPECT_EQ(WEXITSTATUS(run(words)), 0);
    EXPECT_EQ(run.Read("before"), first);  // the old trace was there while the command ran
    EXPECT_NE(run.Read("t"), first);
    EXPECT_EQ(run.err(), "");
    EXPECT_THAT(Matching(run.folder(), "t.*"), SizeIs(1));
  }
}

TEST(OutputTest, WhatIsNoTraceIsNeverReplaced) {
  for (const char* force : {"", "--force"}) {
    RecordRun run;
    Write(run.path("model.pt"), "weights");
    std::vector<std::string> words = {"-o", "model.pt", "--", "touch", "started"};
    if (*force != 0) words.insert(words.begin(), force);
    EXPECT_EQ(WEXITSTATUS(run(words)), 2);
    EXPECT_EQ(run.Read("model.pt"), "weights");
    EXPECT_FALSE(fs::exists(run.path("started")));
    EXPECT_THAT(run.err(), HasSubstr("model.pt: exists and is no trace"));
    EXPECT_EQ(Lines(run.err()), 1u);
    EXPECT_FALSE(fs::exists(run.path("model.pt.part")));
  }
}

TEST(OutputTest, WhatAppearsWhileTheCommandRunsIsKept) {
  RecordRun run;
  EXPECT_EQ(WEXITSTATUS(run({"--quiet", "--force", "-o", "t.penstock", "--", "sh", "-c",
                             "echo weights > t.penstock"})),
            0);
  EXPECT_EQ(run.Read("t.penstock"), "weights\n");
  const auto fresh = Matching(run.folder(), kFresh);
  ASSERT_THAT(fresh, SizeIs(1));
  EXPECT_TRUE(ReadTrace(fresh[0]).trace);
  EXPECT_THAT(run.err(), HasSubstr(fresh[0]));
}

TEST(OutputTest, AnEmptyFileIsFilled) {
  RecordRun run;
  Write(run.path("t"), "");  // mktemp makes such files
  EXPECT_EQ(WEXITSTATUS(run(Command("t"))), 5);
  EXPECT_EQ(ReadTrace(run.path("t")).spans, 10u);
  EXPECT_EQ(run.err(), "");
}

// Returns the pid of the child of `launcher` whose name begins with `name`.
pid_t ChildOf(pid_t launcher, const std::string& name) {
  for (const auto& entry : fs::directory_iterator("/proc")) {
    const auto pid = ParseNumber(entry.path().filename().string());
    const auto text = pid ? ReadFile(entry.path().string() + "/stat") : std::nullopt;
    const auto stat = text ? ParseStat(*text) : std::nullopt;
    if (!stat || stat->parent != static_cast<std::uint32_t>(launcher)) continue;
    const auto comm = ReadFile(entry.path().string() + "/comm");
    if (comm && Trimmed(*comm).rfind(name, 0) == 0) return static_cast<pid_t>(*pid);
  }
  return -1;
}

// Kills all processes of a run at once. Returns how many spans the run had committed.
std::uint64_t KilledRun(RecordRun& run, const std::vector<std::string>& options = {}) {
  fs::remove(run.path("counts"));
  std::vector<std::string> words = {"--quiet", "-o", "t.penstock"};
  words.insert(words.end(), options.begin(), options.end());
  words.insert(words.end(), {"--", FakeProgram(), "counts", "1", "1", "0", "1000", "0"});
  run.Start(words);
  EXPECT_TRUE(run.Appears("counts", 20));
  while (ReadCounts(run.path("counts"), 1)[0] < 100) usleep(1000);
  const pid_t collector = ChildOf(run.pid(), "penstock-record");
  EXPECT_GT(collector, 0);
  kill(collector, SIGSTOP);
  kill(-run.pid(), SIGKILL);
  KillAndAwait(collector);
  run.Wait();
  return ReadCounts(run.path("counts"), 1)[0];
}

int Recover(const RecordRun& run, const std::string& output) {
  const std::string line =
      std::string(paths::kRecover) + " '" + output + "' >'" + run.path("said") + "' 2>&1";
  return WEXITSTATUS(std::system(line.c_str()));
}

TEST(OutputTest, WhatAKilledRunHasLeftIsMovedAsideAndCanBeRecovered) {
  const ShmFolder shm;
  for (const bool beside : {false, true}) {
    RecordRun run;
    run.Setenv("PENSTOCK_SHM", beside ? "/no/such/folder" : shm.path());
    if (beside) run.Setenv("PENSTOCK_MEMFD", "0");
    const std::uint64_t committed = KilledRun(run, {"--buffer", "4M"});
    EXPECT_EQ(WEXITSTATUS(run(Command("t.penstock", {"--buffer", "4M"}))), 5);
    EXPECT_EQ(ReadTrace(run.path("t.penstock")).spans, 10u);
    EXPECT_FALSE(fs::exists(run.path("t.penstock.part")));
    const auto aside = Matching(run.folder(), std::string(kFresh) + "\\.part");
    ASSERT_THAT(aside, SizeIs(1)) << beside;
    const std::string saved = aside[0].substr(0, aside[0].size() - 5);
    EXPECT_THAT(run.err(), HasSubstr("penstock recover " + saved + " makes a trace of it"));
    EXPECT_EQ(Lines(run.err()), 1u);
    EXPECT_EQ(Recover(run, saved), 0) << run.Read("said");
    EXPECT_GE(ReadTrace(saved).spans, committed);
    EXPECT_FALSE(fs::exists(aside[0]));
    EXPECT_EQ(shm.Arenas(), 0u);
    EXPECT_THAT(Matching(run.folder(), ".*\\.ring"), IsEmpty());
  }
}

TEST(OutputTest, RecoveringKeepsAFinishedTrace) {
  const ShmFolder shm;
  RecordRun run;
  run.Setenv("PENSTOCK_SHM", shm.path());
  EXPECT_EQ(WEXITSTATUS(run(Command("u.penstock"))), 5);
  const std::uint64_t committed = KilledRun(run);
  fs::rename(run.path("u.penstock"), run.path("t.penstock"));
  const std::string finished = run.Read("t.penstock");
  EXPECT_EQ(Recover(run, run.path("t.penstock")), 0) << run.Read("said");
  EXPECT_EQ(run.Read("t.penstock"), finished);
  const auto fresh = Matching(run.folder(), kFresh);
  ASSERT_THAT(fresh, SizeIs(1));
  EXPECT_GE(ReadTrace(fresh[0]).spans, committed);
  EXPECT_THAT(run.Read("said"), HasSubstr("wrote " + fresh[0]));
}

TEST(OutputTest, AnotherRunsRingIsNotTaken) {
  const ShmFolder shm;
  RecordRun run;
  run.Setenv("PENSTOCK_SHM", shm.path());
  KilledRun(run);
  std::string ring;
  for (const auto& entry : fs::directory_iterator(shm.path())) ring = entry.path();
  RecordRun other;
  other.Setenv("PENSTOCK_SHM", shm.path());
  KilledRun(other);
  for (const auto& entry : fs::directory_iterator(shm.path())) {
    if (entry.path() != ring) fs::rename(entry.path(), ring);
  }
  EXPECT_EQ(Recover(run, run.path("t.penstock")), 4);
  EXPECT_THAT(run.Read("said"), HasSubstr("is not its ring"));
  EXPECT_TRUE(fs::exists(run.path("t.penstock.part")));
}

TEST(OutputTest, ALinkIsNotFollowed) {
  for (const std::string name : {"t.penstock", "t.penstock.part"}) {
    for (const bool dangling : {false, true}) {
      RecordRun run;
      if (!dangling) Write(run.path("victim"), "victim's");
      fs::create_symlink(run.path("victim"), run.path(name));
      EXPECT_EQ(WEXITSTATUS(run(Command("t.penstock", {"--force"}))), 5);
      EXPECT_EQ(run.Read("victim"), dangling ? "" : "victim's") << name;
      EXPECT_EQ(fs::exists(run.path("victim")), !dangling);
      EXPECT_TRUE(fs::is_symlink(run.path(name)));
      const auto fresh = Matching(run.folder(), kFresh);
      ASSERT_THAT(fresh, SizeIs(1));
      EXPECT_EQ(ReadTrace(fresh[0]).spans, 10u);
      EXPECT_THAT(run.err(), HasSubstr(name + " is a symbolic link; recording to " + fresh[0]));
    }
  }
}

TEST(OutputTest, AFifoAHardLinkAndAStrangersFileAreLeftAlone) {
  const auto check = [](RecordRun& run, const std::string& why) {
    EXPECT_EQ(WEXITSTATUS(run(Command("t.penstock", {"--force"}))), 5);
    const auto fresh = Matching(run.folder(), kFresh);
    ASSERT_THAT(fresh, SizeIs(1)) << why;
    EXPECT_EQ(ReadTrace(fresh[0]).spans, 10u);
    EXPECT_THAT(run.err(), HasSubstr(why));
  };
  RecordRun fifo;
  ASSERT_EQ(mkfifo(fifo.path("t.penstock.part").c_str(), 0600), 0);
  check(fifo, "is no file");
  RecordRun linked;
  Write(linked.path("victim"), "victim's");
  fs::create_hard_link(linked.path("victim"), linked.path("t.penstock.part"));
  check(linked, "has another name");
  EXPECT_EQ(linked.Read("victim"), "victim's");
  RecordRun download;
  Write(download.path("t.penstock.part"), "half of a download");
  check(download, "exists and is no trace");
  EXPECT_EQ(download.Read("t.penstock.part"), "half of a download");
  if (geteuid() != 0) return;  // only root can give a file away
  for (const std::string name : {"t.penstock", "t.penstock.part"}) {
    RecordRun strange;
    Write(strange.path(name), "PENSTPAK and more, as if it was a trace of another user");
    ASSERT_EQ(chown(strange.path(name).c_str(), kNobody, kNobody), 0);
    const std::string before = strange.Read(name);
    check(strange, "belongs to another user");
    EXPECT_EQ(strange.Read(name), before);
  }
}

TEST(OutputTest, WhatIsWrittenIsItsOwnersAlone) {
  const ShmFolder shm;
  const mode_t before = umask(0);
  RecordRun run;
  run.Setenv("PENSTOCK_SHM", shm.path());
  EXPECT_EQ(WEXITSTATUS(run({"--quiet", "-o", "t.penstock", "--", "sh", "-c",
                             "stat -c %a t.penstock.part " + shm.path() + "/*"})),
            0);
  umask(before);
  EXPECT_EQ(run.out(), "600\n600\n");
  EXPECT_EQ(ModeOf(run.path("t.penstock")), 0600u);
}

TEST(OutputTest, ASecondRecorderOfTheSameTraceRecordsBesideIt) {
  RecordRun run;
  run.Start({"--quiet", "-o", "t.penstock", "--", FakeProgram(), "counts", "1", "1", "1500", "1000",
             "8"});
  ASSERT_TRUE(run.Appears("counts", 20));
  RecordRun second;
  EXPECT_EQ(WEXITSTATUS(second(Command(run.path("t.penstock")))), 5);
  EXPECT_THAT(second.err(), HasSubstr("is being written by another program; recording to "));
  EXPECT_EQ(WEXITSTATUS(run.Wait()), 8);
  EXPECT_EQ(ReadTrace(run.path("t.penstock")).spans, 1500u);
  const auto fresh = Matching(run.folder(), kFresh);
  ASSERT_THAT(fresh, SizeIs(1));
  EXPECT_EQ(ReadTrace(fresh[0]).spans, 10u);
}

// ---- files that are removed or replaced while they are written

std::vector<std::string> During(const std::string& output, const std::string& what) {
  return {"--quiet",
          "-o",
          output,
          "--",
          "sh",
          "-c",
          FakeProgram() + " - 1 1 50 0 0 && sleep 1.2 && " + what + "; " + FakeProgram() +
              " - 1 1 50 0 0; exit 6"};
}

TEST(OutputTest, APartThatIsRemovedIsWrittenAgain) {
  RecordRun run;
  EXPECT_EQ(WEXITSTATUS(run(During("t.penstock", "rm t.penstock.part"))), 6);
  EXPECT_EQ(ReadTrace(run.path("t.penstock")).spans, 100u);
  EXPECT_THAT(run.err(),
              HasSubstr("was removed or replaced while it was written; it was written again"));
  EXPECT_EQ(Lines(run.err()), 1u) << run.err();
}

TEST(OutputTest, APartThatIsReplacedIsNotTakenForOurs) {
  RecordRun run;
  EXPECT_EQ(WEXITSTATUS(run(During("t.penstock", "echo other > x && mv x t.penstock.part"))), 6);
  EXPECT_EQ(run.Read("t.penstock.part"), "other\n");
  EXPECT_FALSE(fs::exists(run.path("t.penstock")));
  const auto fresh = Matching(run.folder(), kFresh);
  ASSERT_THAT(fresh, SizeIs(1));
  EXPECT_EQ(ReadTrace(fresh[0]).spans, 100u);
  EXPECT_THAT(run.err(), HasSubstr("all of it is in " + fresh[0]));
}

TEST(OutputTest, AFolderThatIsRemovedLeavesTheTraceAboveIt) {
  RecordRun run;
  fs::create_directory(run.path("out"));
  EXPECT_EQ(WEXITSTATUS(run(During("out/t.penstock", "rm -r out"))), 6);
  const auto fresh = Matching(run.folder(), kFresh);
  ASSERT_THAT(fresh, SizeIs(1));
  EXPECT_EQ(ReadTrace(fresh[0]).spans, 100u);
  EXPECT_THAT(run.err(), HasSubstr("all of it is in " + fresh[0]));
}

TEST(OutputTest, AFolderThatIsMovedTakesTheTraceAlong) {
  RecordRun run;
  fs::create_directory(run.path("out"));
  EXPECT_EQ(WEXITSTATUS(run(During("out/t.penstock", "mv out kept"))), 6);
  EXPECT_EQ(ReadTrace(run.path("kept/t.penstock")).spans, 100u);
  EXPECT_THAT(run.err(), HasSubstr("was moved to " + run.path("kept/t.penstock.part")));
}

// ---- command lines

TEST(OutputTest, SecretsOfTheCommandAreNotRecorded) {
  RecordRun run;
  EXPECT_EQ(WEXITSTATUS(run({"--quiet", "-o", "t", "--", "sh", "-c", "true", "--token", "abcdef",
                             "--password=ghijkl", "hf_AbCdEfGhIjKlMnOpQr12", "--epochs", "3"})),
            0);
  const auto contents = ReadTrace(run.path("t"));
  ASSERT_TRUE(contents.trace);
  EXPECT_EQ(contents.trace->facts().at("command"),
            "sh -c true --token '***' '--password=***' '***' --epochs 3");
}

TEST(OutputTest, NoCommandIsRecordedIfNoneIsWanted) {
  for (const bool by_variable : {false, true}) {
    RecordRun run;
    std::vector<std::string> words = {"--quiet", "-o", "t", "--", "env"};
    if (by_variable) run.Setenv("PENSTOCK_NO_COMMAND", "1");
    if (!by_variable) words.insert(words.begin(), "--no-command");
    EXPECT_EQ(WEXITSTATUS(run(words)), 0);
    EXPECT_THAT(run.out(), HasSubstr("PENSTOCK_NO_COMMAND=1\n"));
    const auto contents = ReadTrace(run.path("t"));
    ASSERT_TRUE(contents.trace);
    EXPECT_FALSE(contents.trace->facts().contains("command"));
  }
}

}  // namespace
}  // namespace penstock::record
