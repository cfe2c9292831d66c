// SPDX-License-Identifier: Apache-2.0
//
// Signals of a terminal if penstock-record is the first process of the terminal's session. That is
// so if it is started as the command of a new window, or by ssh with a terminal.
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <fstream>
#include <string>

#include <gtest/gtest.h>

#include "tests/agent/record/runner.h"

namespace penstock::record {
namespace {

class TerminalTest : public testing::Test {
 protected:
  void SetUp() override {
    master_ = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
    if (master_ < 0 || grantpt(master_) != 0 || unlockpt(master_) != 0) {
      GTEST_SKIP() << "no pseudo-terminal";
    }
    const char* name = ptsname(master_);
    ASSERT_NE(name, nullptr);
    run_.OnTerminal(name);
  }
  void TearDown() override { HangUp(); }

  void HangUp() {
    if (master_ >= 0) close(master_);
    master_ = -1;
  }

  // Runs `script` in a shell. The shell then waits for the file "down", and ends with status 4
  // after 50 s.
  void Start(const std::string& script) {
    // If the tests run in the background, these signals may be ignored.
    const auto hangup = std::signal(SIGHUP, SIG_DFL);
    const auto interrupt = std::signal(SIGINT, SIG_DFL);
    run_.Start({"--quiet", "-o", "t", "--", "sh", "-c",
                script + "; : > up; i=0; while [ $((i += 1)) -le 1000 ]; do sleep 0.05; "
                         "[ -e down ] && exit 0; done; exit 4"});
    std::signal(SIGHUP, hangup);
    std::signal(SIGINT, interrupt);
    ASSERT_TRUE(run_.Appears("up", 20));
  }

  // Waits until the command has written `count` lines.
  void AwaitLines(std::size_t count) const {
    for (int i = 0; i < 10'000 && Lines(run_.out()) < count; ++i) usleep(1000);
  }

  int master_ = -1;
  RecordRun run_;
};

TEST_F(TerminalTest, AHangupReachesTheCommand) {
  Start("trap 'echo hung up; exit 9' HUP");
  HangUp();
  EXPECT_EQ(WEXITSTATUS(run_.Wait()), 9);
  EXPECT_EQ(run_.out(), "hung up\n");
  EXPECT_TRUE(ReadTrace(run_.path("t")).trace);
}

TEST_F(TerminalTest, AnInterruptOfTheRecorderAloneIsPassedOnAfterCtrlC) {
  Start("trap 'echo caught' INT");
  ASSERT_EQ(write(master_, "\x03", 1), 1);
  AwaitLines(1);
  EXPECT_EQ(run_.out(), "caught\n");
  // The recorder has to find out whether the whole group got the first signal. On a busy machine
  // that takes some time, and signals in this time count as the same one. So the test sends
  // several.
  for (int i = 0; i < 20 && Lines(run_.out()) < 2; ++i) {
    kill(run_.pid(), SIGINT);
    usleep(200'000);
  }
  std::ofstream(run_.path("down")) << "";
  EXPECT_EQ(WEXITSTATUS(run_.Wait()), 0);
  EXPECT_GE(Lines(run_.out()), 2u);
}

}  // namespace
}  // namespace penstock::record
