// SPDX-License-Identifier: Apache-2.0
//
// Thousands of signals interrupt a program that reads. Some of the handlers read files too.
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <thread>
#include <vector>

#include "tests/torture/victims/victim.h"

namespace torture {
namespace {

std::atomic<unsigned long> g_signals = 0;

void OnTimer(int /*signal*/) {
  const int saved = errno;
  if (++g_signals % 16 == 0) ReadFile(3);
  errno = saved;
}

void OnChild(int /*signal*/) {
  const int saved = errno;
  while (waitpid(-1, nullptr, WNOHANG) > 0) {
  }
  ++g_signals;
  errno = saved;
}

void Handle(int signal, void (*handler)(int), bool restart) {
  struct sigaction action {};
  action.sa_handler = handler;
  action.sa_flags = restart ? SA_RESTART : 0;
  sigaction(signal, &action, nullptr);
}

// Reads bytes from a pipe and counts how often a signal interrupts a waiting read. Only the
// program's SA_RESTART may decide that, not the agent.
int InterruptedReads(int pipe_fd, int rounds) {
  int interrupted = 0;
  for (int i = 0; i < rounds;) {
    char byte = 0;
    const ssize_t got = read(pipe_fd, &byte, 1);
    if (got == 1) {
      ++i;
    } else if (got < 0 && errno == EINTR) {
      ++interrupted;
    } else {
      Fail("read");
    }
  }
  return interrupted;
}

}  // namespace

int SignalStorm(int reads, bool restart, int microseconds) {
  Files();
  Reads();
  Handle(SIGALRM, OnTimer, restart);
  Handle(SIGPROF, OnTimer, restart);
  Handle(SIGCHLD, OnChild, restart);
  const itimerval every{{0, microseconds}, {0, microseconds}};
  setitimer(ITIMER_REAL, &every, nullptr);
  setitimer(ITIMER_PROF, &every, nullptr);
  std::atomic<long> bytes = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < 3; ++t) {
    threads.emplace_back([&bytes, reads, t] {
      for (int i = 0; i < reads; ++i) bytes += ReadFile(static_cast<std::size_t>(i * 3 + t));
    });
  }
  int ends[2];
  if (pipe(ends) != 0) Fail("pipe");
  constexpr int kRounds = 30;
  std::thread writer([&ends] {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, nullptr);
    for (int i = 0; i < kRounds; ++i) {
      Sleep(5'000);
      if (write(ends[1], "x", 1) != 1) Fail("write");
    }
  });
  const int interrupted = InterruptedReads(ends[0], kRounds);
  for (int i = 0; i < 100; ++i) {
    const pid_t child = fork();
    if (child == 0) _exit(ReadFile(static_cast<std::size_t>(i)) > 0 ? 0 : 1);
  }
  for (std::thread& thread : threads) thread.join();
  writer.join();
  const itimerval off{};
  setitimer(ITIMER_REAL, &off, nullptr);
  setitimer(ITIMER_PROF, &off, nullptr);
  signal(SIGCHLD, SIG_DFL);
  while (waitpid(-1, nullptr, 0) > 0 || errno == EINTR) {
  }
  std::printf("%ld bytes, reads were %s, signals %s\n", bytes.load(),
              interrupted > 0 ? "interrupted" : "restarted",
              g_signals > 50 ? "came" : "did not come");
  return 0;
}

}  // namespace torture
