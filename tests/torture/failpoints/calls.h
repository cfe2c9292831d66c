// SPDX-License-Identifier: Apache-2.0
//
// The system calls of which failures are injected, and how each may fail: manual pages, section 2.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace failpoints {

enum class Kind {
  kNone,
  kError,      // the call is not made; it returns an error (close() is made first)
  kShort,      // it is made for half of the bytes
  kKill,       // SIGKILL to its process instead of the call
  kKillAfter,  // SIGKILL to its process when the call is done
  kAll,        // SIGKILL to everybody instead of the call
  kAllAfter,
};

struct Failure {
  Kind kind = Kind::kNone;
  int error = 0;
  // From the point on, every call of the same program that may fail so.
  bool lasting = false;
};

// "ENOSPC", "ENOSPC+" (lasting), "short", "kill", "kill-after", "all", "all-after".
// Kind::kNone: not known.
[[nodiscard]] Failure ParseFailure(std::string_view text);

// Its name, or "callN".
[[nodiscard]] std::string NameOf(long number);

// The errors of the list that the call may return, by name, and "short".
[[nodiscard]] std::vector<std::string> FailuresOf(long number);

// May the call return that error?
[[nodiscard]] bool MayFail(long number, int error);

}  // namespace failpoints
