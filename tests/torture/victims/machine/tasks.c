// SPDX-License-Identifier: Apache-2.0
//
// Actions on threads and processes: starting them in every way, waiting for them or not, ending
// them early; and the ways in which a program ends.
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/torture/victims/machine/machine.h"

#ifdef __GLIBC__
#if __GLIBC_PREREQ(2, 34)
#define HAVE_EXECVEAT 1
#endif
#endif

extern char** environ;

struct Task {
  pthread_t thread;
  pid_t pid;
  long block;
  uint64_t key;
  int is_volatile;
  int done;  // atomic
};
static struct Task g_tasks[kTasks];

static struct Task* TaskAt(const struct Op* op, int argument) {
  return &g_tasks[(unsigned long)op->number[argument] % kTasks];
}

// -- threads

static void* ThreadMain(void* argument) {
  struct Task* task = argument;
  t_lane = LaneOf(task->key, task->is_volatile);
  RunBlock(task->block);
  __atomic_store_n(&task->done, 1, __ATOMIC_RELEASE);
  return NULL;
}

static long Thread(const struct Op* op) {  // thread T @B [detached] [small] [volatile]
  struct Task* task = TaskAt(op, 0);
  task->block = op->number[1];
  task->key = NewKey();
  task->is_volatile = t_lane->volatile_ || Has(op, "volatile");
  task->done = 0;
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  if (Has(op, "detached")) pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
  if (Has(op, "small")) pthread_attr_setstacksize(&attributes, 64 * 1024);
  g_made_threads = 1;
  const int error = pthread_create(&task->thread, &attributes, ThreadMain, task);
  pthread_attr_destroy(&attributes);
  return -error;
}
static long Join(const struct Op* op) {
  void* result = NULL;
  const int error = pthread_join(TaskAt(op, 0)->thread, &result);
  return error != 0 ? -error : result == PTHREAD_CANCELED ? 2 : 1;
}
static long Cancel(const struct Op* op) {
  return -pthread_cancel(TaskAt(op, 0)->thread);
}
static long Await(const struct Op* op) {  // waits until a detached thread has run its block
  while (!__atomic_load_n(&TaskAt(op, 0)->done, __ATOMIC_ACQUIRE)) usleep(200);
  return 0;
}

// -- processes

static void ChildStarts(uint64_t key, int is_volatile) {
  NewRow((g_flags & ~kFirst) | (is_volatile ? kVolatile : 0));
  t_lane = LaneOf(key, is_volatile);
  t_try = NULL;
}

static long ForkBy(const struct Op* op, int raw) {  // fork P @B [volatile]
  const uint64_t key = NewKey();
  const int is_volatile = t_lane->volatile_ || Has(op, "volatile");
  const pid_t pid = raw ? (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0) : fork();
  if (pid == 0) {
    ChildStarts(key, is_volatile);
    RunBlock(op->number[1]);
    exit(0);
  }
  TaskAt(op, 0)->pid = pid;
  return pid < 0 ? -errno : 0;
}
static long Fork(const struct Op* op) {
  return ForkBy(op, 0);
}
static long CloneFork(const struct Op* op) {
  return ForkBy(op, 1);
}

// double P @B: the child's child runs the block; the child ends at once.
static long Double(const struct Op* op) {
  const uint64_t key = NewKey();
  const int is_volatile = t_lane->volatile_ || Has(op, "volatile");
  const pid_t pid = fork();
  if (pid == 0) {
    if (fork() == 0) {
      setsid();
      ChildStarts(key, is_volatile);
      if (op->count > 2) usleep((useconds_t)op->number[2]);
      RunBlock(op->number[1]);
      _exit(0);
    }
    _exit(3);
  }
  int status = 0;
  while (waitpid(pid, &status, 0) < 0 && errno == EINTR) continue;
  return pid < 0 ? -errno : status;
}

static long Wait(const struct Op* op) {
  int status = 0;
  pid_t got;
  do {
    got = waitpid(TaskAt(op, 0)->pid, &status, 0);
  } while (got < 0 && errno == EINTR);
  return got < 0 ? -errno : status;
}
static long Kill(const struct Op* op) {
  return Result(kill(TaskAt(op, 0)->pid, (int)Look(kSignals, op->word[1])), errno);
}
static long Nap(const struct Op* op) {
  usleep((useconds_t)op->number[0]);
  return 0;
}
// killme US SIG: another process kills this one after US microseconds.
static long KillMe(const struct Op* op) {
  const pid_t self = (pid_t)syscall(SYS_getpid);
  const int number = (int)Look(kSignals, op->word[1]);
  const pid_t pid = fork();
  if (pid == 0) {
    struct timespec time = {0, op->number[0] * 1000};
    nanosleep(&time, NULL);
    kill(self, number);
    AtTheEnd();
    _exit(0);
  }
  return pid < 0 ? -errno : 0;
}

// -- other programs

static char g_program[600];
static char g_block[16];
static char g_key[24];
static char g_next[16];
static char* g_arguments[9];
static char* g_empty[] = {(char*)"PATH=/usr/bin:/bin", NULL};

// The argument vector for exec FLAVOUR @B HOW and the actions like it; `at` is the index of
// FLAVOUR.
static char** Program(const struct Op* op, int at, int same_process) {
  const char* flavour = op->word[at];
  const int python = strcmp(flavour, "python") == 0;
  int flags = g_flags & (kVolatile | kAlien);
  if (same_process) flags |= g_flags & kFirst;
  const int lost = Has(op, "clean") && (g_flags & kUnseen);
  if ((strcmp(flavour, "glibc") != 0 && !python) || (flags & kAlien) || lost) flags |= kUnseen;
  // The programs that the new one starts may be without the agent: the agent is not in these
  // builds, and they do not pass it on.
  if (lost || (Has(op, "clean") && strcmp(flavour, "static") == 0) ||
      strcmp(flavour, "musl") == 0 || strcmp(flavour, "asan") == 0)
    flags |= kAlien;
  if (t_lane->volatile_) flags |= kVolatile;
  snprintf(g_program, sizeof g_program, "%s/bin/machine_%s", g_folder, flavour);
  snprintf(g_block, sizeof g_block, "%ld", op->number[at + 1]);
  snprintf(g_key, sizeof g_key, "%llx", (unsigned long long)NewKey());
  snprintf(g_next, sizeof g_next, "%d", flags);
  int n = 0;
  g_arguments[n++] = g_program;
  g_arguments[n++] = g_self;
  g_arguments[n++] = g_log_path;
  g_arguments[n++] = g_folder;
  g_arguments[n++] = g_block;
  g_arguments[n++] = g_key;
  g_arguments[n++] = g_next;
  g_arguments[n] = NULL;
  return Has(op, "clean") ? g_empty : environ;
}

static long Exec(const struct Op* op) {
  char** environment = Program(op, 0, 1);
  const char* how = op->count > 2 ? op->word[2] : "execve";
  fflush(NULL);
  if (strcmp(how, "execv") == 0) {
    execv(g_program, g_arguments);
  } else if (strcmp(how, "execvp") == 0) {
    execvp(g_program, g_arguments);
  } else if (strcmp(how, "fexecve") == 0) {
    fexecve(open(g_program, O_RDONLY | O_CLOEXEC), g_arguments, environment);
  } else if (strcmp(how, "execveat") == 0) {
#ifdef HAVE_EXECVEAT
    execveat(AT_FDCWD, g_program, g_arguments, environment, 0);
#else
    execve(g_program, g_arguments, environment);
#endif
  } else {
    execve(g_program, g_arguments, environment);
  }
  return -errno;
}
static long ExecMissing(const struct Op* op) {
  (void)op;
  char* arguments[] = {(char*)"/nowhere/at/all", NULL};
  execve(arguments[0], arguments, environ);
  return -errno;
}
static long VforkExec(const struct Op* op) {  // vexec P FLAVOUR @B
  char** environment = Program(op, 1, 0);
  const pid_t pid = vfork();
  if (pid == 0) {
    execve(g_program, g_arguments, environment);
    _exit(127);
  }
  TaskAt(op, 0)->pid = pid;
  return pid < 0 ? -errno : 0;
}
static int ExecInClone(void* environment) {
  execve(g_program, g_arguments, environment);
  _exit(127);
}
static long CloneExec(
    const struct Op* op) {  // clone as posix_spawn does it: shared memory, a stack of its own
  static char stack[65536] __attribute__((aligned(64)));
  char** environment = Program(op, 1, 0);
  const pid_t pid =
      clone(ExecInClone, stack + sizeof stack, CLONE_VM | CLONE_VFORK | SIGCHLD, environment);
  TaskAt(op, 0)->pid = pid;
  return pid < 0 ? -errno : 0;
}
static long Spawn(const struct Op* op) {  // spawn P FLAVOUR @B
  char** environment = Program(op, 1, 0);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  pid_t pid = -1;
  const int error = Has(op, "spawnp")
                        ? posix_spawnp(&pid, g_program, &actions, NULL, g_arguments, environment)
                        : posix_spawn(&pid, g_program, &actions, NULL, g_arguments, environment);
  posix_spawn_file_actions_destroy(&actions);
  TaskAt(op, 0)->pid = pid;
  return -error;
}
static char* CommandLine(char* to, size_t size) {
  snprintf(to, size, "%s %s %s %s %s %s %s", g_program, g_self, g_log_path, g_folder, g_block,
           g_key, g_next);
  return to;
}
static long System(const struct Op* op) {  // system FLAVOUR @B
  char line[2600];
  Program(op, 0, 0);
  fflush(NULL);
  return system(CommandLine(line, sizeof line));
}
static long Popen(const struct Op* op) {  // popen FLAVOUR @B: this program reads what it prints
  char line[2600];
  Program(op, 0, 0);
  fflush(NULL);
  FILE* stream = popen(CommandLine(line, sizeof line), "r");
  if (stream == NULL) return -errno;
  char* buffer = Buffer();
  const size_t got = fread(buffer, 1, 4096, stream);
  FoldBytes(op, buffer, (long)got);
  return pclose(stream);
}

// -- ends

static int End(const struct Op* op) {
  AtTheEnd();
  return op->count > 0 ? (int)op->number[0] : 0;
}
static long Exit(const struct Op* op) {
  exit(End(op));
}
static long ExitNow(const struct Op* op) {
  _exit(End(op));
}
static long ExitQuickly(const struct Op* op) {
  quick_exit(End(op));
}
static long ExitRaw(const struct Op* op) {
  return syscall(SYS_exit_group, End(op));
}
static long ExitThread(const struct Op* op) {
  return syscall(SYS_exit, End(op));
}
static long Abort(const struct Op* op) {
  End(op);
  abort();
}
static long ThreadExit(const struct Op* op) {
  (void)op;
  if (syscall(SYS_getpid) == syscall(SYS_gettid)) AtTheEnd();  // other threads go on
  pthread_exit(NULL);
}

// -- the rest

static long Loop(const struct Op* op) {  // loop N @B
  for (long i = 0; i < op->number[0]; ++i) RunBlock(op->number[1]);
  return 0;
}
static long Say(const struct Op* op) {
  return printf("said %ld\n", op->number[0]) > 0;
}
static long SayError(const struct Op* op) {
  return fprintf(stderr, "err %ld\n", op->number[0]) > 0;
}
static long SayRaw(const struct Op* op) {
  (void)op;
  return write(1, "raw\n", 4);
}
static long Flush(const struct Op* op) {
  (void)op;
  return fflush(stdout);
}

static long PythonOnly(const struct Op* op) {  // pyread, pypread: machine.py's
  (void)op;
  return -1000;
}

const struct Name kTaskActions[] = {{"pyread", PythonOnly},
                                    {"pypread", PythonOnly},
                                    {"thread", Thread},
                                    {"join", Join},
                                    {"cancel", Cancel},
                                    {"await", Await},
                                    {"fork", Fork},
                                    {"clonefork", CloneFork},
                                    {"double", Double},
                                    {"wait", Wait},
                                    {"kill", Kill},
                                    {"nap", Nap},
                                    {"killme", KillMe},
                                    {"exec", Exec},
                                    {"execmissing", ExecMissing},
                                    {"vexec", VforkExec},
                                    {"cloneexec", CloneExec},
                                    {"spawn", Spawn},
                                    {"system", System},
                                    {"popen", Popen},
                                    {"exit", Exit},
                                    {"_exit", ExitNow},
                                    {"quick_exit", ExitQuickly},
                                    {"rawexit", ExitRaw},
                                    {"sysexit", ExitThread},
                                    {"abort", Abort},
                                    {"texit", ThreadExit},
                                    {"loop", Loop},
                                    {"say", Say},
                                    {"sayerror", SayError},
                                    {"sayraw", SayRaw},
                                    {"flush", Flush},
                                    {NULL, NULL}};
