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

// Returns the exit status of `words`, or 128 + N if signal N ended it. An interrupt from the
// terminal reaches the program, which decides what to do; this process keeps waiting.
// Requires: words is not empty; words[0] is a path.
// Errors:   kEnvironment if it cannot be run.
[[nodiscard]] Result<int> RunAndWait(const std::vector<std::string>& words);

// While an object of this class exists, an interrupt from the terminal (SIGINT) does not end this
// process but is counted. A program that RunAndWatch() starts gets SIGINT as it was before. If
// SIGINT was ignored before, it stays ignored.
// Threads: objects are made and destroyed in turn, the last one first.
class CountInterrupts {
 public:
  CountInterrupts();
  ~CountInterrupts();
  CountInterrupts(const CountInterrupts&) = delete;
  CountInterrupts& operator=(const CountInterrupts&) = delete;

  // Whether there was an interrupt in its lifetime.
  [[nodiscard]] bool any() const;

  // Signals that a child must have in their default state.
  [[nodiscard]] sigset_t Changed() const;

 private:
  int at_first_;
  struct sigaction before_ = {};
};

struct Watched {
  int status = 0;            // as RunAndWait() returns it
  bool interrupted = false;  // this process got SIGINT meanwhile
};

// Runs `words` and passes on what it writes, each stream to its own, or both to standard error.
// `on_line` is called with every line of either stream, without its end ("\n" or "\r"). An
// interrupt from the terminal reaches the program too. An interrupt for this process alone is
// passed on to the program after two seconds.
// Requires: as RunAndWait().
// Errors:   as RunAndWait().
// Threads:  one call at a time.
[[nodiscard]] Result<Watched> RunAndWatch(const std::vector<std::string>& words, bool to_error,
                                          const std::function<void(std::string_view)>& on_line);

}  // namespace penstock::analyzer
