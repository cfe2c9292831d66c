// SPDX-License-Identifier: Apache-2.0
//
// Runs a command under ptrace. As the arguments say, lists its system calls, makes them fail or
// logs what they write. Waits for all children of this process.
#pragma once

#include <sys/ptrace.h>
#include <sys/types.h>

#include <cstdio>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "tests/torture/failpoints/calls.h"
#include "tests/torture/failpoints/tasks.h"
#include "tests/torture/failpoints/writes.h"

namespace failpoints {

constexpr int kUsage = 2;
constexpr int kHung = 9;

struct Arguments {
  std::FILE* list = nullptr;
  std::FILE* result = nullptr;
  std::string point;
  Failure failure;
  std::string folder;
  std::string writes;
  unsigned limit_s = 60;
  char** command = nullptr;
};

class Tracer {
 public:
  explicit Tracer(const Arguments& arguments) : arguments_(arguments) {
    if (!arguments.folder.empty()) log_.emplace(arguments.folder, arguments.writes);
  }

  int Run();

 private:
  void Start();
  void OnStop(pid_t tid, int status);
  void OnNewTask(Task& parent);
  void OnExec(pid_t tid);
  void OnCall(Task& task, const __ptrace_syscall_info& info);
  void OnReturn(Task& task, const __ptrace_syscall_info& info);
  void Break(Task& task, bool point);
  void KillAll();
  void Report() const;
  void Resume(pid_t tid, int signal = 0) const;

  const Arguments& arguments_;
  std::optional<WriteLog> log_;
  std::map<pid_t, Task> tasks_;
  std::set<pid_t> early_;  // tasks that stopped before an event of their parent announced them
  pid_t root_ = -1;
  int root_status_ = -1;
  bool started_ = false;  // the command itself has been executed
  bool reached_ = false;
  bool hung_ = false;
  std::string whose_;  // whose call the point is; a lasting failure affects the calls of this code
  std::vector<std::string> stack_;
  std::vector<pid_t> pids_;
  bool muted_ = false;  // a write to standard error has failed
  int killed_ = 0;
  std::string program_;
};

}  // namespace failpoints
