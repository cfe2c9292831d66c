// SPDX-License-Identifier: Apache-2.0
#include "analyzer/main/spawn.h"

#include <spawn.h>
#include <sys/wait.h>

#include <cerrno>
#include <csignal>
#include <cstring>

#include <fmt/core.h>

extern char** environ;

namespace penstock::analyzer {
namespace {

// Ignores what a terminal sends to all of its foreground, as system() does.
class IgnoreInterrupts {
 public:
  IgnoreInterrupts() {
    struct sigaction ignore = {};
    ignore.sa_handler = SIG_IGN;
    sigaction(SIGINT, &ignore, &interrupt_);
    sigaction(SIGQUIT, &ignore, &quit_);
  }
  ~IgnoreInterrupts() {
    sigaction(SIGINT, &interrupt_, nullptr);
    sigaction(SIGQUIT, &quit_, nullptr);
  }
  IgnoreInterrupts(const IgnoreInterrupts&) = delete;
  IgnoreInterrupts& operator=(const IgnoreInterrupts&) = delete;

  // The signals that a child must have as they were: not the ones that were ignored before.
  [[nodiscard]] sigset_t Changed() const {
    sigset_t set;
    sigemptyset(&set);
    if (interrupt_.sa_handler != SIG_IGN) sigaddset(&set, SIGINT);
    if (quit_.sa_handler != SIG_IGN) sigaddset(&set, SIGQUIT);
    return set;
  }

 private:
  struct sigaction interrupt_ = {};
  struct sigaction quit_ = {};
};

}  // namespace

Result<int> RunAndWait(const std::vector<std::string>& words) {
  std::vector<std::string> copies = words;
  std::vector<char*> argv;
  for (std::string& word : copies) argv.push_back(word.data());
  argv.push_back(nullptr);
  const IgnoreInterrupts ignored;
  const sigset_t defaults = ignored.Changed();
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setsigdefault(&attributes, &defaults);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF);
  pid_t pid = 0;
  const int failed = posix_spawn(&pid, argv[0], nullptr, &attributes, argv.data(), environ);
  posix_spawnattr_destroy(&attributes);
  if (failed != 0) {
    return Fail(ErrorKind::kEnvironment,
                fmt::format("{}: cannot be run: {}", words.front(), std::strerror(failed)));
  }
  int status = 0;
  while (waitpid(pid, &status, 0) < 0) {
    if (errno != EINTR) {
      return Fail(ErrorKind::kEnvironment,
                  fmt::format("{}: cannot be waited for: {}", words.front(), std::strerror(errno)));
    }
  }
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

}  // namespace penstock::analyzer
