// SPDX-License-Identifier: Apache-2.0
//
// While a StopSignals lives, SIGINT and SIGTERM ask the pipeline to stop. A second signal of the
// same kind has its default effect and kills. One object at a time, made and ended by main()'s
// thread.
#pragma once

#include <csignal>

#include <atomic>

#include "loader/pipeline/pipeline.h"
#include "loader/pipeline/stop.h"

namespace penstock::loader {

class StopSignals {
 public:
  StopSignals();
  ~StopSignals();
  StopSignals(const StopSignals&) = delete;
  StopSignals& operator=(const StopSignals&) = delete;

  // From now on a signal asks `pipeline` to stop. If a signal came before, asks it at once.
  // nullptr: from now on a signal is only remembered.
  void Attach(Pipeline* pipeline);

  [[nodiscard]] bool happened() const { return flag_.set(); }
  [[nodiscard]] const StopFlag& flag() const { return flag_; }

 private:
  static void Handle(int signal);

  StopFlag flag_;
  std::atomic<Pipeline*> pipeline_{nullptr};  // release by Attach(), acquire by the handler
  struct sigaction interrupt_before_ {};
  struct sigaction terminate_before_ {};
};

}  // namespace penstock::loader
