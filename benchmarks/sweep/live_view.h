// SPDX-License-Identifier: Apache-2.0
//
// The table while it fills, drawn again in place, with a progress bar below it; on a terminal only.
// One thread.
#pragma once

#include <cstddef>

#include "benchmarks/sweep/result.h"
#include "loader/set/progress_bar.h"

namespace penstock::sweep {

class LiveView {
 public:
  // `fd`: where the table goes; nothing is drawn unless it and standard error are terminals.
  LiveView(const SweepResult& result, std::size_t runs, int fd);
  ~LiveView();  // takes the table away, so that the last one can be printed
  LiveView(const LiveView&) = delete;
  LiveView& operator=(const LiveView&) = delete;

  void Show(std::size_t runs_done);
  void Clear();

 private:
  const SweepResult& result_;
  int fd_;
  bool terminal_;
  std::size_t lines_ = 0;  // drawn last
  loader::ProgressBar bar_;
};

}  // namespace penstock::sweep
