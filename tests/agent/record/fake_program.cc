// SPDX-License-Identifier: Apache-2.0
//
// A victim for penstock-record: P processes with T threads each write spans, which each thread
// numbers from 0. Each thread stores in the shared file COUNTS how many spans it has committed.
//   fake_program COUNTS P T SPANS PAUSE_US EXIT_STATUS [after-spans-sleep-ms [first-thread-ends]]
// SPANS 0: threads write for ever. PAUSE_US 0: as fast as possible. COUNTS "-": no such file. P 0:
// one process that writes nothing. With "first-thread-ends", the first thread ends after its spans;
// another thread sleeps and then ends the process.
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

#include "tests/agent/record/fake_agent.h"

namespace {

using penstock::record::FakeProcess;
using penstock::record::FakeThread;

struct Plan {
  std::uint64_t* counts = nullptr;
  int processes = 1;
  int threads = 1;
  std::int64_t spans = 0;
  useconds_t pause = 0;
  useconds_t sleep = 0;
};

void RunThread(FakeProcess& process, const Plan& plan, std::uint64_t* count) {
  FakeThread thread(process);
  thread.Text(penstock::wire::kTextString, penstock::wire::HashOf("fake", 4), "fake");
  for (std::int64_t i = 0; plan.spans == 0 || i < plan.spans; ++i) {
    const std::uint64_t start = process.Now();
    thread.Open(i);
    if (plan.pause != 0) usleep(plan.pause);
    while (!thread.Span(i, start)) {
      if (__atomic_load_n(&process.header().recording, __ATOMIC_RELAXED) == 0) return;
      usleep(1000);
    }
    if (count != nullptr)
      __atomic_store_n(count, static_cast<std::uint64_t>(i) + 1, __ATOMIC_RELEASE);
  }
}

void RunProcess(FakeProcess& process, const Plan& plan, int index) {
  std::vector<std::thread> threads;
  for (int t = 0; t < plan.threads; ++t) {
    std::uint64_t* count =
        plan.counts != nullptr ? plan.counts + index * plan.threads + t : nullptr;
    threads.emplace_back([&process, &plan, count] { RunThread(process, plan, count); });
  }
  for (std::thread& thread : threads) thread.join();
  if (plan.sleep != 0) usleep(plan.sleep);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 7) return 99;
  std::printf("fake output\n");
  std::fflush(stdout);
  Plan plan;
  plan.processes = std::atoi(argv[2]);
  plan.threads = std::atoi(argv[3]);
  plan.spans = std::atoll(argv[4]);
  plan.pause = static_cast<useconds_t>(std::atoi(argv[5]));
  const int status = std::atoi(argv[6]);
  if (argc > 7) plan.sleep = static_cast<useconds_t>(std::atoi(argv[7])) * 1000;
  if (std::string(argv[1]) != "-") {
    const int fd = open(argv[1], O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (fd < 0 || ftruncate(fd, 65536) != 0) return 98;
    plan.counts = static_cast<std::uint64_t*>(
        mmap(nullptr, 65536, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0));
  }
  FakeProcess process(std::getenv("PENSTOCK_ARENA"));
  if (!process.ok()) return std::getenv("PENSTOCK_ARENA") == nullptr ? status : 97;
  for (int p = 1; p < plan.processes; ++p) {
    if (fork() == 0) {
      process.Claim();
      RunProcess(process, plan, p);
      _exit(0);
    }
  }
  const bool first_thread_ends = argc > 8;
  const useconds_t last_sleep = plan.sleep;
  if (first_thread_ends) plan.sleep = 0;
  if (plan.processes > 0) RunProcess(process, plan, 0);
  if (first_thread_ends) {
    std::thread([last_sleep, status] {
      usleep(last_sleep);
      _exit(status);
    }).detach();
    syscall(SYS_exit, 0);  // ends only this thread, and runs no destructors
  }
  while (wait(nullptr) > 0) {
  }
  return status;
}
