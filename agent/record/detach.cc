// SPDX-License-Identifier: Apache-2.0
#include "agent/record/detach.h"

#include <fcntl.h>
#include <sched.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>

namespace penstock::record {

void CloseDescriptors(unsigned first, unsigned last) {
  if (first > last) return;
#ifdef SYS_close_range
  if (syscall(SYS_close_range, first, last, 0) == 0) return;
#endif
  rlimit limit{};
  getrlimit(RLIMIT_NOFILE, &limit);
  const auto end = static_cast<unsigned>(std::min<rlim_t>(limit.rlim_cur, 65536));
  for (unsigned fd = first; fd <= std::min(last, end); ++fd) close(static_cast<int>(fd));
}

void DetachProcess(int keep_fd, int nice) {
  setsid();
  // A program that reads from the shell's pipes would wait for us if we kept them open.
  const int null = open("/dev/null", O_RDWR | O_CLOEXEC);
  for (int fd = 0; fd <= 2 && null >= 0; ++fd) dup2(null, fd);
  CloseDescriptors(3, static_cast<unsigned>(keep_fd) - 1);
  CloseDescriptors(static_cast<unsigned>(keep_fd) + 1, ~0u);
  // A signal to the job ends only the command; this process then finishes the trace. With SIGXFSZ
  // ignored, a write beyond the limit of a file's size fails with EFBIG and does not kill us.
  for (const int signal : {SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGPIPE, SIGXFSZ, SIGTSTP, SIGTTOU,
                           SIGTTIN, SIGUSR1, SIGUSR2, SIGXCPU, SIGALRM}) {
    std::signal(signal, SIG_IGN);
  }
  std::signal(SIGCHLD, SIG_DFL);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  for (const auto resource : {RLIMIT_NOFILE, RLIMIT_FSIZE}) {
    rlimit limit{};
    if (getrlimit(resource, &limit) != 0) continue;
    limit.rlim_cur = limit.rlim_max;
    setrlimit(resource, &limit);
  }
  // With SCHED_BATCH we get our share of the cores, but preempt nobody when we wake up. On busy
  // cores we would preempt workers, which would lose a part of their caches with every switch.
  const sched_param parameter{};
  sched_setscheduler(0, SCHED_BATCH, &parameter);
  setpriority(PRIO_PROCESS, 0, std::min(nice + getpriority(PRIO_PROCESS, 0), 19));
  [[maybe_unused]] const int moved = chdir("/");
}

}  // namespace penstock::record
