// SPDX-License-Identifier: Apache-2.0
//
// The parts that the victims of the torture tests share. A victim and its forked processes read
// files of a set and count the finished reads together. At the end the victim tells the harness the
// count.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

namespace torture {

// The number of finished reads of this process and of all processes that it has forked, in shared
// memory.
class Count {
 public:
  Count();
  void Add(std::uint64_t reads) { __atomic_fetch_add(shared_, reads, __ATOMIC_RELAXED); }
  [[nodiscard]] std::uint64_t Get() const { return __atomic_load_n(shared_, __ATOMIC_RELAXED); }
  // Appends the count to the file that TORTURE_COUNT names. It is not printed, since it may differ
  // from run to run.
  void Tell() const;

 private:
  std::uint64_t* shared_;
};
Count& Reads();

// Returns the files of the folder that TORTURE_SET names. Ends the program if there are none.
const std::vector<std::string>& Files();
// Opens, reads and closes the n-th file (modulo their number), and counts the read. Returns its
// bytes; -1 on failure, with errno.
long ReadFile(std::size_t n);

// Waits for a child. Returns its status, or 1000 plus the signal that ended it.
int Reap(pid_t child);
// Like Reap(), but `*child` may be -1 for any child. Sets `*child` to the pid.
int ReapAny(pid_t* child);

// Sleeps for the whole time, even if signals interrupt it.
void Sleep(long microseconds);

[[noreturn]] void Fail(const char* what);

// The scenarios. Each prints the same with and without the agent, and returns the exit status.
int Processes(int count, int at_once);
int Threads(int count, int at_once);
int ForkWhileThreadsRead(int children);
int KilledWorkers(int kills);
int Ends();
int CloseAll(int rounds);
int VforkAndExec(int rounds, const char* self);
int SignalStorm(int reads, bool restart, int microseconds);
int LockIn(const std::string& how, int reads);
int RunLockedIn(char** command);
int LoadAgent(const char* agent, int reads);
int Paced(int reads, long microseconds);
int Events(double seconds, std::uint64_t per_second);

}  // namespace torture
