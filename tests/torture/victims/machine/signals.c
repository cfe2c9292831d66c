// SPDX-License-Identifier: Apache-2.0
//
// Actions on signals: handlers that read files, small alternate stacks, timers, waits, masks,
// longjmp.
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>

#include "tests/torture/victims/machine/machine.h"

#ifndef AT_MINSIGSTKSZ
#define AT_MINSIGSTKSZ 51
#endif

const struct Number kSignals[] = {
    {"ABRT", SIGABRT}, {"ALRM", SIGALRM}, {"BUS", SIGBUS},   {"CHLD", SIGCHLD}, {"FPE", SIGFPE},
    {"HUP", SIGHUP},   {"ILL", SIGILL},   {"INT", SIGINT},   {"KILL", SIGKILL}, {"PIPE", SIGPIPE},
    {"PROF", SIGPROF}, {"QUIT", SIGQUIT}, {"SEGV", SIGSEGV}, {"SYS", SIGSYS},   {"TERM", SIGTERM},
    {"USR1", SIGUSR1}, {"USR2", SIGUSR2}, {"XFSZ", SIGXFSZ}, {"XCPU", SIGXCPU}, {NULL, 0}};

static struct {
  long block;
  int is_volatile;
} g_handlers[65];

static void Handle(int number) {
  const int saved = errno;
  struct Lane* lane = t_lane;
  const int handling = t_handling;
  if (lane == NULL) return;  // the thread has not begun
  t_lane = LaneOf(Mix(lane->key, 9000 + (uint64_t)number),
                  lane->volatile_ || g_handlers[number].is_volatile);
  t_handling = 1;
  RunBlock(g_handlers[number].block);
  t_handling = handling;
  t_lane = lane;
  errno = saved;
}
static void HandleInfo(int number, siginfo_t* info, void* context) {
  (void)info;
  (void)context;
  Handle(number);
}

// handle SIG @B [restart] [nodefer] [onstack] [info] [reset] [full] [volatile]
static long SetHandler(const struct Op* op) {
  const int number = (int)Look(kSignals, op->word[0]);
  struct sigaction action;
  memset(&action, 0, sizeof action);
  g_handlers[number].block = op->number[1];
  g_handlers[number].is_volatile = Has(op, "volatile");
  if (Has(op, "info")) {
    action.sa_sigaction = HandleInfo;
    action.sa_flags = SA_SIGINFO;
  } else {
    action.sa_handler = Handle;
  }
  if (Has(op, "restart")) action.sa_flags |= SA_RESTART;
  if (Has(op, "nodefer")) action.sa_flags |= SA_NODEFER;
  if (Has(op, "onstack")) action.sa_flags |= SA_ONSTACK;
  if (Has(op, "reset")) action.sa_flags |= (int)SA_RESETHAND;
  if (Has(op, "full")) sigfillset(&action.sa_mask);
  return Result(sigaction(number, &action, NULL), errno);
}
static long Ignore(const struct Op* op) {
  return signal((int)Look(kSignals, op->word[0]), SIG_IGN) == SIG_ERR ? -errno : 0;
}
static long Default(const struct Op* op) {
  return signal((int)Look(kSignals, op->word[0]), SIG_DFL) == SIG_ERR ? -errno : 0;
}
// altstack N: an alternate stack with N bytes beyond what the kernel needs, and a forbidden page
// below.
static long AltStack(const struct Op* op) {
  const size_t frame = getauxval(AT_MINSIGSTKSZ) > 2048 ? getauxval(AT_MINSIGSTKSZ) : 2048;
  const size_t size = frame + (size_t)op->number[0];
  char* at = (char*)syscall(SYS_mmap, NULL, size + 8192, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS, -1, 0L);
  if ((long)at == -1) return -errno;
  syscall(SYS_mprotect, at, (size_t)4096, PROT_NONE);
  stack_t stack;
  memset(&stack, 0, sizeof stack);
  stack.ss_sp = at + 4096;
  stack.ss_size = size;
  return Result(sigaltstack(&stack, NULL), errno);
}
static long Raise(const struct Op* op) {
  const int number = (int)Look(kSignals, op->word[0]);
  struct sigaction action;
  if (sigaction(number, NULL, &action) == 0 && action.sa_handler == SIG_DFL && number != SIGCHLD) {
    AtTheEnd();
  }
  return Result(raise(number), errno);
}
static long Timer(int which, const struct Op* op) {
  const struct itimerval value = {{0, op->number[0]}, {0, op->number[0]}};
  return Result(setitimer(which, &value, NULL), errno);
}
static long WallTimer(const struct Op* op) {
  return Timer(ITIMER_REAL, op);
}
static long CpuTimer(const struct Op* op) {
  return Timer(ITIMER_PROF, op);
}
static long Mask(int how, const struct Op* op) {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, (int)Look(kSignals, op->word[0]));
  return Result(sigprocmask(how, &set, NULL), errno);
}
static long Block(const struct Op* op) {
  return Mask(SIG_BLOCK, op);
}
static long Unblock(const struct Op* op) {
  return Mask(SIG_UNBLOCK, op);
}
static long SigWait(const struct Op* op) {
  sigset_t set;
  int number = 0;
  sigemptyset(&set);
  sigaddset(&set, (int)Look(kSignals, op->word[0]));
  const int error = sigwait(&set, &number);
  return error != 0 ? -error : number;
}
static long Try(const struct Op* op) {  // try @B: "jump" in a handler returns here
  sigjmp_buf here;
  sigjmp_buf* volatile outer = t_try;
  struct Lane* volatile lane = t_lane;
  volatile int jumped = 0;
  if (sigsetjmp(here, 1) == 0) {
    t_try = &here;
    RunBlock(op->number[0]);
  } else {
    jumped = 1;
    t_handling = 0;
    t_lane = lane;
  }
  t_try = outer;
  return jumped;
}
static long Jump(const struct Op* op) {
  (void)op;
  if (t_try == NULL) return -1000;
  siglongjmp(*t_try, 1);
}

const struct Name kSignalActions[] = {{"handle", SetHandler},
                                      {"ignore", Ignore},
                                      {"default", Default},
                                      {"altstack", AltStack},
                                      {"raise", Raise},
                                      {"timer", WallTimer},
                                      {"ptimer", CpuTimer},
                                      {"mask", Block},
                                      {"unmask", Unblock},
                                      {"sigwait", SigWait},
                                      {"try", Try},
                                      {"jump", Jump},
                                      {NULL, NULL}};
