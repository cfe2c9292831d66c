// SPDX-License-Identifier: Apache-2.0
//
// One line on standard error while a run goes on; nothing if standard error is no terminal. For the
// consumer's thread.
#pragma once

#include <cstdint>
#include <string>

#include "loader/pipeline/order.h"
#include "traces/base/units.h"

namespace penstock::loader {

// "[#####.....]  50 % of 20000 images, 1234 images/s, 8 s left"; `share` < 0: without an end.
[[nodiscard]] std::string ProgressLine(std::uint64_t samples, std::uint64_t total, double share,
                                       double seconds);

class Progress {
 public:
  // `longest`: time limit of the run; 0: none.
  Progress(const SampleOrder& order, TimeNs longest);
  ~Progress() { Clear(); }
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  // Writes at most ten times a second. Otherwise costs one reading of the clock.
  void Show(std::uint64_t samples);
  void Clear();

 private:
  bool terminal_;
  bool shown_ = false;
  std::uint64_t total_ = 0;  // samples; 0: without an end
  TimeNs longest_;
  TimeNs start_;
  TimeNs next_;
};

}  // namespace penstock::loader
