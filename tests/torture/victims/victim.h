// SPDX-License-Identifier: Apache-2.0
//
// The parts that the victims of the torture share. Victims read files of the set, count finished
// reads together with their forked processes, and tell the harness the count at the end.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

namespace torture {

// Number of finished reads of this process and of all processes that it has forked. It is in shared
// memory.
class Count {
 public:
  Count();
  void Add(std::uint64_t reads) { __atomic_fetch_add(shared_, reads, __ATOMIC_RELAXED); }
  [[nodiscard]] std::uint64_t Get() const { return __atomic_load_n(shared_, __ATOMIC_RELAXED); }
  // Writes the count to the file TORTURE_COUNT. It may differ from run to run, so it is not
  // printed.
  void Tell() const;

 private:
  std::uint64_t* shared_;
};
Count& Reads();

// The files of the set, the folder TORTURE_SET. Ends the program if there are none.
const std::vector<std::string>& Files();
// Opens, reads and closes the n-th file (modulo their number), and counts the read. Returns its
// bytes; -1 on failure, with errno.
long ReadFile(std::size_t n);

// Waits for a child. Returns its status, or 1000 plus the signal that ended it.
int Reap(pid_t child);
// Like Reap(), but `*child` may be -1 for any child. Sets `*child` to the pid.
int ReapAny(pid_t* child);

// Sleeps for all of these microseconds, even if signals interrupt it.
void Sleep(long microseconds);

[[noreturn]] void Fail(const char* what);

// Each prints the same with and without the agent, and returns the exit status.
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
