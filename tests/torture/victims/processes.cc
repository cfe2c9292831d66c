// SPDX-License-Identifier: Apache-2.0
//
// Processes and threads that read files and end in many ways.
#include <signal.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <csetjmp>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "tests/torture/victims/victim.h"

extern "C" char** environ;

namespace torture {

int Processes(int count, int at_once) {
  int running = 0;
  int good = 0;
  const auto reap = [&] {
    pid_t any = -1;
    good += ReapAny(&any) == 7 ? 1 : 0;
    --running;
  };
  for (int i = 0; i < count; ++i) {
    if (running == at_once) reap();
    const pid_t child = fork();
    if (child == 0) {
      const long got = ReadFile(static_cast<std::size_t>(i));
      _exit(got > 0 ? 7 : 8);
    }
    if (child < 0) Fail("fork");
    ++running;
  }
  while (running > 0) reap();
  std::printf("%d of %d processes\n", good, count);
  return 0;
}

int Threads(int count, int at_once) {
  std::atomic<long> bytes = 0;
  for (int i = 0; i < count; i += at_once) {
    std::vector<std::thread> threads;
    for (int t = 0; t < std::min(at_once, count - i); ++t) {
      threads.emplace_back([&bytes, i, t] { bytes += ReadFile(static_cast<std::size_t>(i + t)); });
    }
    for (std::thread& thread : threads) thread.join();
  }
  std::printf("%d threads, %ld bytes\n", count, bytes.load());
  return 0;
}

int ForkWhileThreadsRead(int children) {
  std::atomic<bool> stop = false;
  std::vector<std::thread> threads;
  for (std::size_t t = 0; t < 3; ++t) {
    threads.emplace_back([&stop, t] {
      for (std::size_t i = t; !stop; i += 3) ReadFile(i);
    });
  }
  int good = 0;
  for (int i = 0; i < children; ++i) {
    const pid_t child = fork();
    if (child == 0) {
      const bool read = ReadFile(static_cast<std::size_t>(i)) > 0 && ReadFile(0) > 0;
      _exit(read ? 0 : 1);
    }
    good += Reap(child) == 0 ? 1 : 0;
  }
  stop = true;
  for (std::thread& thread : threads) thread.join();
  std::printf("%d of %d children\n", good, children);
  return 0;
}

// Four workers read without end. Kills one of them at a time and replaces it.
int KilledWorkers(int kills) {
  std::mt19937 random(std::random_device{}());
  std::vector<pid_t> workers;
  const auto start = [] {
    const pid_t child = fork();
    if (child == 0) {
      for (std::size_t i = 0;; ++i) ReadFile(i);
    }
    return child;
  };
  for (int i = 0; i < 4; ++i) workers.push_back(start());
  int killed = 0;
  for (int i = 0; i < kills; ++i) {
    Sleep(static_cast<long>(random() % 4000));
    pid_t& victim = workers[random() % workers.size()];
    kill(victim, SIGKILL);
    killed += Reap(victim) == 1000 + SIGKILL ? 1 : 0;
    victim = start();
  }
  for (const pid_t worker : workers) {
    kill(worker, SIGKILL);
    killed += Reap(worker) == 1000 + SIGKILL ? 1 : 0;
  }
  std::printf("%d killed\n", killed);
  return 0;
}

namespace {

void EndBy(int how) {
  const bool read = ReadFile(static_cast<std::size_t>(how)) > 0;
  switch (how) {
    case 0:
      _exit(read ? 3 : 1);
    case 1:
      std::exit(4);
    case 2:
      std::quick_exit(5);
    case 3:
      signal(SIGABRT, SIG_DFL);
      std::abort();
    case 4:
      raise(SIGSEGV);
      break;
    case 5:
      raise(SIGTERM);
      break;
    case 6: {
      std::thread([] {
        ReadFile(1);
        _exit(6);  // while the first thread waits
      }).detach();
      for (;;) pause();
    }
    case 7: {
      std::thread([] {
        Sleep(20'000);
        ReadFile(2);
        std::exit(7);  // after the first thread has gone
      }).detach();
      pthread_exit(nullptr);
    }
    default:
      break;
  }
  _exit(99);
}

}  // namespace

int Ends() {
  for (int how = 0; how < 8; ++how) {
    std::fflush(nullptr);
    const pid_t child = fork();
    if (child == 0) EndBy(how);
    std::printf("%d: %d\n", how, Reap(child));
  }
  return 0;
}

namespace {

// Executes a program in a vfork child, and returns its status. This is a function of its own, since
// the child shares its stack frame with the parent.
[[gnu::noinline]] int VforkAnd(const char* program, char* const* argv, char* const* env) {
  const pid_t child = vfork();
  if (child == 0) {
    execve(program, argv, env);
    _exit(98);
  }
  return Reap(child);
}

}  // namespace

int VforkAndExec(int rounds, const char* self) {
  std::map<std::string, int> ends;
  for (int i = 0; i < rounds; ++i) {
    std::fflush(nullptr);
    const std::string number = std::to_string(i);
    const char* arguments[] = {self, "one", number.c_str(), nullptr};
    char* const* argv = const_cast<char* const*>(arguments);
    ReadFile(static_cast<std::size_t>(i));
    ++ends["vfork " + std::to_string(VforkAnd(self, argv, environ))];
    ++ends["missing " + std::to_string(VforkAnd("/no/such/program", argv, environ))];
    pid_t spawned = -1;
    const int error = posix_spawn(&spawned, self, nullptr, nullptr, argv, environ);
    ++ends["spawned " + std::to_string(error == 0 ? Reap(spawned) : -error)];
    // Executes a program with an environment that has no variables of this process.
    const char* bare[] = {"PATH=/usr/bin:/bin", nullptr};
    ++ends["cleared " +
           std::to_string(VforkAnd("/bin/true", argv, const_cast<char* const*>(bare)))];
  }
  for (const auto& [end, count] : ends) std::printf("%s: %d\n", end.c_str(), count);
  return 0;
}

}  // namespace torture
