// SPDX-License-Identifier: Apache-2.0
//
// The traced tasks (threads and processes): whose code made a call, and in which task of the tree.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace failpoints {

// The program that a process runs. The threads of a process share an Image, a fork copies it, an
// exec replaces it.
struct Image {
  std::string program;                      // base name of its executable
  std::map<std::uint64_t, std::string> by;  // instruction pointers seen, with CodeAt() of each
};

struct Task {
  pid_t tid = 0;
  pid_t process = 0;
  std::string lane;  // "0": the first task; "0.1": its second child or thread
  int children = 0;
  std::shared_ptr<Image> image;
  std::map<std::pair<std::string, long>, int> made;  // number of calls made, by (whose code, call)
  long call = -1;                                    // the call that the task is in
  std::uint64_t arguments[6] = {};
  // What the tracer does when that call returns.
  bool fail = false;
  bool restore = false;  // restore changed argument registers, which the program may use again
  bool kill = false;
  bool kill_all = false;
};

// Returns the base name of the executable (/proc/PID/exe).
[[nodiscard]] std::string ProgramOf(pid_t pid);
[[nodiscard]] pid_t ProcessOf(pid_t tid);

// Returns whose code an instruction belongs to: "agent" (libpenstock_agent.so), "PROGRAM/ld" (the
// dynamic loader) or the program's name.
[[nodiscard]] const std::string& CodeAt(Task& task, std::uint64_t instruction);

// Returns the addresses of our own code on the stack of `tid`, innermost first, as "module+0x12ab".
// Some may be wrong, since an earlier call may have left a return address on the stack.
[[nodiscard]] std::vector<std::string> StackOf(pid_t tid, std::uint64_t instruction,
                                               std::uint64_t stack);

}  // namespace failpoints
