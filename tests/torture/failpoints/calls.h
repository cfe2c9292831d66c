// SPDX-License-Identifier: Apache-2.0
//
// A list of system calls. For each call it has the ways in which the call may fail according to its
// manual page (section 2). The tracer makes calls fail in these ways.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace failpoints {

enum class Kind {
  kNone,
  kError,      // the kernel does not do the call, which returns an error; close() is still done
  kShort,      // the kernel does the call for half of the bytes
  kKill,       // SIGKILL to its process instead of the call
  kKillAfter,  // SIGKILL to its process when the call is done
  kAll,        // SIGKILL to all processes instead of the call
  kAllAfter,   // SIGKILL to all processes when the call is done
};

struct Failure {
  Kind kind = Kind::kNone;
  int error = 0;
  // Later calls of the same code fail too, if they may fail with this error.
  bool lasting = false;
};

// Parses "ENOSPC" and other errors, "ENOSPC+" (lasting), "short", "kill", "kill-after", "all" and
// "all-after". Returns Kind::kNone for any other text.
[[nodiscard]] Failure ParseFailure(std::string_view text);

// Returns the name of a system call, or "callN" if it is not in the list.
[[nodiscard]] std::string NameOf(long number);

// Returns the names of the errors that the call may return, and "short" if it may do less than was
// asked.
[[nodiscard]] std::vector<std::string> FailuresOf(long number);

// Returns whether the call may return this error.
[[nodiscard]] bool MayFail(long number, int error);

}  // namespace failpoints
