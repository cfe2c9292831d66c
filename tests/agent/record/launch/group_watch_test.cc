// SPDX-License-Identifier: Apache-2.0
#include "agent/record/launch/group_watch.h"

#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <functional>

#include <gtest/gtest.h>

namespace penstock::record {
namespace {

// Calls `holds` in a process that has a group of its own and blocks all signals. Returns its
// result.
bool HoldsInAGroup(const std::function<bool()>& holds) {
  const pid_t pid = fork();
  if (pid == 0) {
    setpgid(0, 0);
    sigset_t all;
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, nullptr);
    _exit(holds() ? 0 : 1);
  }
  int status = -1;
  waitpid(pid, &status, 0);
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

bool IsPending(int signal) {
  sigset_t pending;
  sigpending(&pending);
  return sigismember(&pending, signal) == 1;
}

TEST(GroupWatchTest, TellsASignalToTheGroupFromOneToThisProcess) {
  EXPECT_TRUE(HoldsInAGroup([] {
    GroupWatch watch;
    watch.Start();
    kill(getpid(), SIGTERM);
    const bool alone = !watch.Got(SIGTERM);
    kill(0, SIGTERM);
    return alone && watch.Got(SIGTERM) && !watch.Got(SIGTERM);
  }));
}

TEST(GroupWatchTest, KnowsEachOfTwoSignalsThatCameTogether) {
  // systemd sends SIGTERM and then SIGHUP to the processes of a login session.
  EXPECT_TRUE(HoldsInAGroup([] {
    GroupWatch watch;
    watch.Start();
    kill(0, SIGTERM);
    kill(0, SIGHUP);
    return watch.Got(SIGHUP) && watch.Got(SIGTERM) && !watch.Got(SIGTERM) && !watch.Got(SIGHUP);
  }));
}

TEST(GroupWatchTest, TakesTheSecondOfASignalThatCameAloneAndWithTheGroup) {
  EXPECT_TRUE(HoldsInAGroup([] {
    GroupWatch watch;
    watch.Start();
    kill(getpid(), SIGTERM);
    sigset_t only;
    sigemptyset(&only);
    sigaddset(&only, SIGTERM);
    int first = 0;
    sigwait(&only, &first);  // the recorder may take the first signal before the second one is sent
    kill(0, SIGTERM);
    kill(0, SIGHUP);
    return first == SIGTERM && watch.Got(SIGTERM) && !IsPending(SIGTERM) && IsPending(SIGHUP);
  }));
}

}  // namespace
}  // namespace penstock::record
