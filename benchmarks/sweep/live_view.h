// SPDX-License-Identifier: Apache-2.0
//
// Redraws the table in its place while it fills, with a progress bar below. Draws only on a
// terminal. To be used by one thread.
#pragma once

#include <cstddef>

#include "benchmarks/sweep/result.h"
#include "loader/set/progress_bar.h"

namespace penstock::sweep {

class LiveView {
 public:
  // `fd`: output for the table. Nothing is drawn unless `fd` and standard error are terminals.
  LiveView(const SweepResult& result, std::size_t runs, int fd);
  ~LiveView();  // removes the table, so that the final table can be printed
  LiveView(const LiveView&) = delete;
  LiveView& operator=(const LiveView&) = delete;

  void Show(std::size_t runs_done);
  void Clear();

 private:
  const SweepResult& result_;
  int fd_;
  bool terminal_;
  std::size_t lines_ = 0;  // number of lines drawn last
  loader::ProgressBar bar_;
};

}  // namespace penstock::sweep
