// SPDX-License-Identifier: Apache-2.0
#include "agent/record/launch/group_watch.h"

#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <ctime>
#include <optional>
#include <string>

#include <fmt/format.h>

#include "agent/record/detach.h"
#include "traces/base/small_file.h"

namespace penstock::record {
namespace {

constexpr int kTries = 30;
constexpr useconds_t kPause = 1000;

// The pending signals of a process that blocks every signal. nullopt if /proc does not show them.
std::optional<std::uint64_t> Pending(pid_t pid) {
  const auto status = ReadFile(fmt::format("/proc/{}/status", pid), 65536);
  const std::size_t at = status ? status->find("\nShdPnd:") : std::string::npos;
  if (at == std::string::npos) return std::nullopt;
  return std::strtoull(status->c_str() + at + 8, nullptr, 16);
}

void TakePending(int signal) {
  sigset_t only;
  sigemptyset(&only);
  sigaddset(&only, signal);
  const timespec at_once{};
  while (sigtimedwait(&only, nullptr, &at_once) > 0) {
  }
}

}  // namespace

void GroupWatch::Start() {
  const pid_t parent = getpid();
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  sigprocmask(SIG_SETMASK, &all, &before);
  child_ = fork();
  if (child_ == 0) {
    prctl(PR_SET_NAME, "penstock-group");
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    CloseDescriptors(0, ~0u);
    [[maybe_unused]] const int moved = chdir("/");
    while (getppid() == parent) pause();
    _exit(0);
  }
  sigprocmask(SIG_SETMASK, &before, nullptr);
  if (child_ > 0 && !Pending(child_)) Stop();
}

bool GroupWatch::Got(int signal) {
  if (child_ <= 0) return false;
  const std::uint64_t asked = std::uint64_t{1} << (signal - 1);
  std::uint64_t pending = 0;
  for (int i = 0; i < kTries && (pending & asked) == 0; ++i) {
    if (i > 0) usleep(kPause);
    pending = came_ | Pending(child_).value_or(0);
  }
  if ((pending & asked) == 0) return false;
  // A child's pending signals cannot be cleared, so a new child replaces it. Other signals that are
  // pending there came to us too, so the caller will ask about them later; `came_` keeps them.
  came_ = pending & ~asked;
  Stop();
  TakePending(signal);
  Start();
  return true;
}

void GroupWatch::Stop() {
  if (child_ <= 0) return;
  kill(child_, SIGKILL);
  while (waitpid(child_, nullptr, 0) < 0 && errno == EINTR) {
  }
  child_ = -1;
}

}  // namespace penstock::record
