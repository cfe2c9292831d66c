// SPDX-License-Identifier: Apache-2.0
//
// The system calls that are made to fail, and the ways in which each may fail according to its
// manual page (section 2).
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace failpoints {

enum class Kind {
  kNone,
  kError,      // the call is not made; it returns an error (close() is made first)
  kShort,      // the call is made for half of the bytes
  kKill,       // SIGKILL to its process instead of the call
  kKillAfter,  // SIGKILL to its process when the call is done
  kAll,        // SIGKILL to all processes instead of the call
  kAllAfter,
};

struct Failure {
  Kind kind = Kind::kNone;
  int error = 0;
  // Every later call of the same code that may fail with this error fails too.
  bool lasting = false;
};

// "ENOSPC", "ENOSPC+" (lasting), "short", "kill", "kill-after", "all", "all-after". Returns
// Kind::kNone for any other text.
[[nodiscard]] Failure ParseFailure(std::string_view text);

// Name of a system call, or "callN".
[[nodiscard]] std::string NameOf(long number);

// Names of the errors that the call may return, and "short" if it may do less than was asked.
[[nodiscard]] std::vector<std::string> FailuresOf(long number);

// Whether the call may return that error.
[[nodiscard]] bool MayFail(long number, int error);

}  // namespace failpoints
