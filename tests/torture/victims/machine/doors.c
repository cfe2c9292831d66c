// SPDX-License-Identifier: Apache-2.0
//
// Actions that limit what the program can do from then on: seccomp, limits, another user, locked
// memory.
#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "tests/torture/victims/machine/machine.h"

#if defined(__x86_64__)
#define ARCHITECTURE AUDIT_ARCH_X86_64
#else
#define ARCHITECTURE AUDIT_ARCH_AARCH64
#endif

// Lists of calls for filters; each ends with -1.
static const short kReadsOnly[] = {
    SYS_read,       SYS_pread64,      SYS_readv,    SYS_preadv, SYS_preadv2,
    SYS_lseek,      SYS_write,        SYS_pwrite64, SYS_close,  SYS_exit,
    SYS_exit_group, SYS_rt_sigreturn, SYS_futex,    SYS_brk,    -1};
static const short kUsual[] = {SYS_read,
                               SYS_pread64,
                               SYS_readv,
                               SYS_preadv,
                               SYS_preadv2,
                               SYS_lseek,
                               SYS_write,
                               SYS_pwrite64,
                               SYS_close,
                               SYS_exit,
                               SYS_exit_group,
                               SYS_rt_sigreturn,
                               SYS_futex,
                               SYS_brk,
                               SYS_mmap,
                               SYS_munmap,
                               SYS_mprotect,
                               SYS_openat,
                               SYS_fstat,
                               SYS_newfstatat,
                               SYS_fcntl,
                               SYS_clone,
                               SYS_wait4,
                               SYS_set_robust_list,
                               SYS_getpid,
                               SYS_gettid,
                               SYS_tgkill,
                               SYS_rt_sigaction,
                               SYS_rt_sigprocmask,
                               SYS_dup,
                               SYS_dup3,
                               SYS_restart_syscall,
                               SYS_clock_nanosleep,
                               SYS_memfd_create,
#ifdef SYS_open
                               SYS_open,
                               SYS_dup2,
                               SYS_pipe,
#endif
#ifdef SYS_clone3
                               SYS_clone3,
#endif
#ifdef SYS_rseq
                               SYS_rseq,
#endif
                               -1};
static const short kMemory[] = {SYS_memfd_create, SYS_madvise,  SYS_mremap,
                                SYS_shmget,       SYS_shmat,    SYS_ftruncate,
                                SYS_fallocate,    SYS_mlockall, -1};
static const short kNames[] = {SYS_readlinkat, SYS_getcwd, SYS_statx,
#ifdef SYS_readlink
                               SYS_readlink,
#endif
                               -1};
static const short kTime[] = {SYS_clock_gettime, SYS_gettimeofday, SYS_times, SYS_getrusage, -1};
static const short kIdentity[] = {SYS_gettid,  SYS_getppid,   SYS_getuid,
                                  SYS_geteuid, SYS_prlimit64, -1};
static const short kOpening[] = {SYS_openat, SYS_fstat,
#ifdef SYS_open
                                 SYS_open,
#endif
                                 -1};
static const short kNothing[] = {-1};

static const short* Listed(const char* name, int* allow) {
  *allow = strcmp(name, "reads") == 0 || strcmp(name, "usual") == 0;
  return strcmp(name, "reads") == 0      ? kReadsOnly
         : strcmp(name, "usual") == 0    ? kUsual
         : strcmp(name, "memory") == 0   ? kMemory
         : strcmp(name, "names") == 0    ? kNames
         : strcmp(name, "time") == 0     ? kTime
         : strcmp(name, "identity") == 0 ? kIdentity
         : strcmp(name, "opening") == 0  ? kOpening
                                         : kNothing;
}

// seccomp LIST errno|kill|killthread|trap N prctl|call
static long Seccomp(const struct Op* op) {
  static struct sock_filter code[160];
  int allow = 0;
  const short* list = Listed(op->word[0], &allow);
  const unsigned verdict = Has(op, "errno") ? SECCOMP_RET_ERRNO | ((unsigned)op->number[2] & 0xfffu)
                           : Has(op, "trap")       ? SECCOMP_RET_TRAP
                           : Has(op, "killthread") ? SECCOMP_RET_KILL_THREAD
                                                   : SECCOMP_RET_KILL_PROCESS;
  unsigned short n = 0;
  code[n++] =
      (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, arch));
  code[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, ARCHITECTURE, 1, 0);
  code[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS);
  code[n++] =
      (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr));
  for (; *list >= 0; ++list) {
    code[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)*list, 0, 1);
    code[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, allow ? SECCOMP_RET_ALLOW : verdict);
  }
  code[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, allow ? verdict : SECCOMP_RET_ALLOW);
  const struct sock_fprog program = {n, code};
  Buffer();
  g_flags |= kAlien;
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return -errno;
  const long done = Has(op, "prctl") ? prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0)
                                     : syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program);
  return Result(done, errno);
}
static long Strict(const struct Op* op) {
  (void)op;
  Buffer();
  AtTheEnd();
  return Result(prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT, 0, 0, 0), errno);
}
static long NoClock(const struct Op* op) {
  (void)op;
#if defined(__x86_64__)
  return Result(prctl(PR_SET_TSC, PR_TSC_SIGSEGV, 0, 0, 0), errno);
#else
  return 0;
#endif
}
static long Dumpable(const struct Op* op) {
  return Result(prctl(PR_SET_DUMPABLE, op->number[0], 0, 0, 0), errno);
}

// The address space that is reserved now: the first field of /proc/self/statm.
static size_t Reserved(void) {
  char text[128];
  const long fd = syscall(SYS_openat, -100, "/proc/self/statm", 0);
  const long got = fd >= 0 ? syscall(SYS_read, fd, text, sizeof text - 1) : 0;
  syscall(SYS_close, fd);
  text[got > 0 ? got : 0] = 0;
  return strtoul(text, NULL, 10) * 4096;
}

// rlimit NAME VALUE: sets the limit to VALUE; "+VALUE" is so much more than what is reserved now.
static long Limit(const struct Op* op) {
  static const struct Number kLimits[] = {
      {"NOFILE", RLIMIT_NOFILE}, {"AS", RLIMIT_AS},       {"FSIZE", RLIMIT_FSIZE},
      {"DATA", RLIMIT_DATA},     {"STACK", RLIMIT_STACK}, {"MEMLOCK", RLIMIT_MEMLOCK},
      {"NPROC", RLIMIT_NPROC},   {"CORE", RLIMIT_CORE},   {NULL, 0}};
  struct rlimit limit;
  limit.rlim_cur = limit.rlim_max = (rlim_t)op->number[1];
  if (op->word[1][0] == '+') limit.rlim_cur = limit.rlim_max = Reserved() + (rlim_t)op->number[1];
  return Result(setrlimit((__typeof__(RLIMIT_AS))Look(kLimits, op->word[0]), &limit), errno);
}
static long Drop(const struct Op* op) {  // drop UID: becomes another user
  const long id = op->number[0];
  g_flags |= kAlien | kUnseen;  // another user cannot use the ring; what was recorded before stays
  syscall(SYS_setgroups, (size_t)0, NULL);
  if (syscall(SYS_setgid, id) != 0) return -errno;
  return Result(syscall(SYS_setuid, id), errno);
}
static long LockAll(const struct Op* op) {
  return Result(mlockall((Has(op, "now") ? MCL_CURRENT : 0) | (Has(op, "future") ? MCL_FUTURE : 0)),
                errno);
}
static long Grab(const struct Op* op) {  // grab N: allocates and touches N bytes
  const size_t size = (size_t)op->number[0];
  char* at = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (at == MAP_FAILED) return -errno;
  for (size_t i = 0; i < size; i += 4096) at[i] = 1;
  return 0;
}
static long Heap(const struct Op* op) {
  char* at = malloc((size_t)op->number[0]);
  if (at == NULL) return -ENOMEM;
  memset(at, 1, (size_t)op->number[0]);
  const long first = at[0];
  free(at);
  return first;
}
static long Deep(const struct Op* op) {  // deep N: uses that much of the stack
  volatile char room[1024];
  room[0] = room[sizeof room - 1] = 1;
  if (op->number[0] <= 1024) return room[0];
  struct Op less = *op;
  less.number[0] -= 1024 + (long)sizeof less;
  return Deep(&less) + room[sizeof room - 1] - 1;
}
static long Umask(const struct Op* op) {
  umask((mode_t)op->number[0]);
  return 0;
}
static long ChangeFolder(const struct Op* op) {
  (void)op;
  return Result(chdir("/"), errno);
}
static long CloseStandard(const struct Op* op) {
  (void)op;
  fflush(NULL);
  close(0);
  close(1);
  return Result(close(2), errno);
}

const struct Name kDoorActions[] = {{"seccomp", Seccomp},
                                    {"strict", Strict},
                                    {"noclock", NoClock},
                                    {"dumpable", Dumpable},
                                    {"rlimit", Limit},
                                    {"drop", Drop},
                                    {"mlockall", LockAll},
                                    {"grab", Grab},
                                    {"heap", Heap},
                                    {"deep", Deep},
                                    {"umask", Umask},
                                    {"chdir", ChangeFolder},
                                    {"closestandard", CloseStandard},
                                    {NULL, NULL}};
