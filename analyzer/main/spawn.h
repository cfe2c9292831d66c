// SPDX-License-Identifier: Apache-2.0
//
// Runs a program and waits for it.
#pragma once

#include <csignal>
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

// While one lives, an interrupt from the terminal (SIGINT) does not end this process, but is
// counted; a program that RunAndWatch() starts has SIGINT as it was. Ignored before: stays so.
// Threads: they are made and go in turn, the last first.
class CountInterrupts {
 public:
  CountInterrupts();
  ~CountInterrupts();
  CountInterrupts(const CountInterrupts&) = delete;
  CountInterrupts& operator=(const CountInterrupts&) = delete;

  // Whether there was one in its life.
  [[nodiscard]] bool any() const;

  // What a child must have as it was by default.
  [[nodiscard]] sigset_t Changed() const;

 private:
  int at_first_;
  struct sigaction before_ = {};
};

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
