// SPDX-License-Identifier: Apache-2.0
//
// SIGINT and SIGTERM as a wish to stop, while one of these lives; a second signal of the same kind
// meets the default and kills. One at a time, made and ended by main()'s thread.
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

  // Sends the wish on to `pipeline`, also one that has come before; nullptr: to nobody.
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
