// SPDX-License-Identifier: Apache-2.0
//
// Runs a program and waits for it.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "traces/base/result.h"

namespace penstock::analyzer {

// Returns the exit status of `words`, 128 + N if signal N ended it. An interrupt from the terminal
// reaches the program, which decides; this process waits on.
// Requires: words is not empty; words[0] is a path.
// Errors:   kEnvironment if it cannot be run.
[[nodiscard]] Result<int> RunAndWait(const std::vector<std::string>& words);

struct Watched {
  int status = 0;            // as of RunAndWait()
  bool interrupted = false;  // this process was sent SIGINT meanwhile
};

// Runs `words` and passes on what it writes, each stream to its own, or both to standard error;
// `on_line` sees every line of either, without its end ("\n" or "\r").
// An interrupt from the terminal reaches the program too; one for this process alone is passed on
// to it after two seconds.
// Requires and errors as of RunAndWait(). Threads: one call at a time.
[[nodiscard]] Result<Watched> RunAndWatch(const std::vector<std::string>& words, bool to_error,
                                          const std::function<void(std::string_view)>& on_line);

}  // namespace penstock::analyzer
