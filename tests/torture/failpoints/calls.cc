// SPDX-License-Identifier: Apache-2.0
#include "tests/torture/failpoints/calls.h"

#include <sys/syscall.h>

#include <array>
#include <cerrno>

namespace failpoints {
namespace {

struct Letter {
  char letter;
  const char* name;
  int error;
};

constexpr std::array<Letter, 6> kLetters = {{{'N', "ENOSPC", ENOSPC},
                                             {'I', "EIO", EIO},
                                             {'M', "EMFILE", EMFILE},
                                             {'O', "ENOMEM", ENOMEM},
                                             {'T', "EINTR", EINTR},
                                             {'A', "EACCES", EACCES}}};

struct Call {
  long number;
  const char* name;
  const char* failures;  // letters of kLetters; 'S': the call may do less than was asked
};

#define CALL(name, failures)    \
  Call {                        \
    SYS_##name, #name, failures \
  }

constexpr std::array kCalls = {
    CALL(read, "ITS"),
    CALL(pread64, "ITS"),
    CALL(write, "NITS"),
    CALL(pwrite64, "NITS"),
    CALL(writev, "NIT"),
    CALL(open, "NIMOTA"),
    CALL(openat, "NIMOTA"),
    CALL(close, "NIT"),
    CALL(stat, "IOA"),
    CALL(fstat, "IO"),
    CALL(lstat, "IOA"),
    CALL(newfstatat, "IOA"),
    CALL(statx, "IOA"),
    CALL(statfs, "IOTA"),
    CALL(fstatfs, "IOT"),
    CALL(access, "IOA"),
    CALL(faccessat, "IOA"),
    CALL(faccessat2, "IOA"),
    CALL(readlink, "IOA"),
    CALL(readlinkat, "IOA"),
    CALL(getdents64, "IO"),
    CALL(lseek, "I"),
    CALL(mmap, "OA"),
    CALL(mprotect, "OA"),
    CALL(munmap, "O"),
    CALL(mremap, "O"),
    CALL(brk, "O"),
    CALL(madvise, "OI"),
    CALL(memfd_create, "MO"),
    CALL(shmget, "NOA"),
    CALL(shmat, "OA"),
    CALL(shmctl, "OA"),
    CALL(fallocate, "NIT"),
    CALL(ftruncate, "ITA"),
    CALL(fsync, "NIT"),
    CALL(fdatasync, "NIT"),
    CALL(rename, "NIOA"),
    CALL(renameat, "NIOA"),
    CALL(renameat2, "NIOA"),
    CALL(link, "NIOA"),
    CALL(linkat, "NIOA"),
    CALL(unlink, "IOA"),
    CALL(unlinkat, "IOA"),
    CALL(mkdir, "NOA"),
    CALL(mkdirat, "NOA"),
    CALL(fchmod, "IOA"),
    CALL(flock, "TO"),
    CALL(fcntl, "MTA"),
    CALL(dup, "M"),
    CALL(dup2, "MT"),
    CALL(dup3, "MT"),
    CALL(pipe2, "M"),
    CALL(socket, "MOA"),
    CALL(socketpair, "M"),
    CALL(connect, "TA"),
    CALL(sendto, "TOA"),
    CALL(sendmsg, "TOA"),
    CALL(recvfrom, "TO"),
    CALL(recvmsg, "TO"),
    CALL(setsockopt, "O"),
    CALL(poll, "TO"),
    CALL(ppoll, "TO"),
    CALL(signalfd4, "MO"),
    CALL(eventfd2, "MO"),
    CALL(clone, "O"),
    CALL(clone3, "O"),
    CALL(fork, "O"),
    CALL(vfork, "O"),
    CALL(execve, "IMOA"),
    CALL(wait4, "T"),
    CALL(waitid, "T"),
    CALL(nanosleep, "T"),
    CALL(clock_nanosleep, "T"),
    CALL(futex, "T"),
    CALL(getrandom, "T"),
    CALL(sched_getaffinity, ""),
    CALL(sched_setaffinity, "A"),
    CALL(setpriority, "A"),
    CALL(sigaltstack, "O"),
    CALL(getcwd, "O"),
    CALL(chdir, "IOA"),
    CALL(setsid, ""),
    CALL(prlimit64, "A"),
    CALL(prctl, "A"),
    CALL(perf_event_open, "MOA"),
    CALL(ioctl, "I"),
    CALL(uname, ""),
    CALL(pause, ""),
    CALL(kill, ""),
    CALL(tgkill, ""),
    CALL(getpid, ""),
    CALL(gettid, ""),
    CALL(getuid, ""),
    CALL(geteuid, ""),
    CALL(clock_gettime, ""),
    CALL(rt_sigaction, ""),
    CALL(rt_sigprocmask, ""),
    CALL(exit_group, ""),
    CALL(exit, ""),
    CALL(shmdt, ""),
    CALL(getppid, ""),
    CALL(set_tid_address, ""),
    CALL(set_robust_list, ""),
    CALL(rseq, ""),
    CALL(arch_prctl, ""),
    CALL(membarrier, ""),
    CALL(umask, ""),
    CALL(getrusage, ""),
    CALL(sysinfo, ""),
    CALL(sched_yield, ""),
};
#undef CALL

const Call* Find(long number) {
  for (const Call& call : kCalls) {
    if (call.number == number) return &call;
  }
  return nullptr;
}

}  // namespace

Failure ParseFailure(std::string_view text) {
  if (text == "short") return {Kind::kShort, 0, false};
  if (text == "kill") return {Kind::kKill, 0, false};
  if (text == "kill-after") return {Kind::kKillAfter, 0, false};
  if (text == "all") return {Kind::kAll, 0, false};
  if (text == "all-after") return {Kind::kAllAfter, 0, false};
  const bool lasting = !text.empty() && text.back() == '+';
  if (lasting) text.remove_suffix(1);
  for (const Letter& letter : kLetters) {
    if (text == letter.name) return {Kind::kError, letter.error, lasting};
  }
  return {};
}

std::string NameOf(long number) {
  const Call* call = Find(number);
  return call != nullptr ? call->name : "call" + std::to_string(number);
}

std::vector<std::string> FailuresOf(long number) {
  std::vector<std::string> names;
  const Call* call = Find(number);
  const std::string_view failures = call != nullptr ? call->failures : "";
  for (const Letter& letter : kLetters) {
    if (failures.find(letter.letter) != std::string_view::npos) names.emplace_back(letter.name);
  }
  if (failures.find('S') != std::string_view::npos) names.emplace_back("short");
  return names;
}

bool MayFail(long number, int error) {
  const Call* call = Find(number);
  if (call == nullptr) return false;
  for (const Letter& letter : kLetters) {
    if (letter.error == error) {
      return std::string_view(call->failures).find(letter.letter) != std::string_view::npos;
    }
  }
  return false;
}

}  // namespace failpoints
