// SPDX-License-Identifier: Apache-2.0
//
// The traced tasks: whose call a stop is about, and where in the tree its task stands.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace failpoints {

// What a process runs. Threads share it, a fork copies it, an exec replaces it.
struct Image {
  std::string program;                      // base name of its executable
  std::map<std::uint64_t, std::string> by;  // instruction pointers seen: whose code that is
};

struct Task {
  pid_t tid = 0;
  pid_t process = 0;
  std::string lane;  // "0" the first, "0.1" its second child or thread
  int children = 0;
  std::shared_ptr<Image> image;
  std::map<std::pair<std::string, long>, int> made;  // calls by whose they are and number
  long call = -1;                                    // the one it is in
  std::uint64_t arguments[6] = {};
  // What is still to be done at the end of the call it is in.
  bool fail = false;
  bool restore = false;  // an argument was changed, which the code around the call still knows
  bool kill = false;
  bool kill_all = false;
};

// Base name of what /proc/PID/exe is.
[[nodiscard]] std::string ProgramOf(pid_t pid);
[[nodiscard]] pid_t ProcessOf(pid_t tid);

// "agent" for code of libpenstock_agent.so, "PROGRAM/ld" for the dynamic loader's, else the
// program.
[[nodiscard]] const std::string& CodeAt(Task& task, std::uint64_t instruction);

// Addresses of code of ours on the stack of `tid`, innermost first: "module+0x12ab". A guess: what
// looks like a return address may be left over from an earlier call.
[[nodiscard]] std::vector<std::string> StackOf(pid_t tid, std::uint64_t instruction,
                                               std::uint64_t stack);

}  // namespace failpoints
