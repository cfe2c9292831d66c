// SPDX-License-Identifier: Apache-2.0
//
// Runs a program and waits for it.
#pragma once

#include <array>
#include <csignal>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "traces/base/result.h"

namespace penstock::analyzer {

// Returns the exit status of `words`, or 128 + N if signal N ended it. An interrupt from the
// terminal also reaches the program, which decides what to do. This process keeps waiting.
// Requires: words is not empty; words[0] is a path.
// Errors:   kEnvironment if it cannot be run.
[[nodiscard]] Result<int> RunAndWait(const std::vector<std::string>& words);

// While an object of this class exists, SIGINT, SIGTERM and SIGHUP do not end this process but are
// counted. In a program that RunAndWatch() starts, they act as they did before. A signal that was
// ignored before stays ignored.
// Threads: one thread makes all objects, and destroys them in reverse order.
class CountInterrupts {
 public:
  CountInterrupts();
  ~CountInterrupts();
  CountInterrupts(const CountInterrupts&) = delete;
  CountInterrupts& operator=(const CountInterrupts&) = delete;

  // Whether there was such a signal in the lifetime of this object.
  [[nodiscard]] bool any() const;
  // The exit status for the last such signal: 128 plus its number. Requires: any().
  [[nodiscard]] static int status();

  // Signals that a child must have in their default state.
  [[nodiscard]] sigset_t Changed() const;

 private:
  int at_first_;
  std::array<struct sigaction, 3> before_ = {};
};

struct Watched {
  int status = 0;            // as RunAndWait() returns it
  bool interrupted = false;  // this process got a signal that CountInterrupts counts
};

// Runs `words` and passes on what it writes: each stream to the same stream of this process, or
// both to standard error (`to_error`). If nobody reads these any more, the program goes on.
// `on_line` is called with every line of either stream, without its end ("\n" or "\r") and cut
// after 64 KiB. An interrupt from the terminal reaches the program too. If the program still runs
// two seconds after a signal to this process, it is interrupted.
// Requires: as RunAndWait().
// Errors:   as RunAndWait().
// Threads:  one call at a time.
[[nodiscard]] Result<Watched> RunAndWatch(const std::vector<std::string>& words, bool to_error,
                                          const std::function<void(std::string_view)>& on_line);

}  // namespace penstock::analyzer
