// SPDX-License-Identifier: Apache-2.0
//
// Analyses a selected interval of a document on its own thread. Used from one thread, which waits
// for it only in the destructor of RangeAnalyst.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "gui/model/document.h"
#include "gui/model/timeline/query.h"

namespace penstock::gui {

// `whole` as if only range.from to range.to had been recorded. Its trace and analysis are those of
// this part (SliceTrace). Its timeline is the whole one, because SpanRefs point into it. Times in
// the analysis count from the begin of the whole trace.
//
// Requires: whole.trace; range is not empty.
[[nodiscard]] Document PartOf(const Document& whole, TimeRange range, std::stop_token stop = {});

class RangeAnalyst {
 public:
  // `wake` is called from another thread when a result is there.
  explicit RangeAnalyst(std::function<void()> wake = [] {});
  ~RangeAnalyst();
  RangeAnalyst(const RangeAnalyst&) = delete;
  RangeAnalyst& operator=(const RangeAnalyst&) = delete;

  // The part of `whole` in `range`; nullptr while it is being made. A new question stops the one
  // before. While a trace grows, the previous state of the part is returned until the new one is
  // there.
  [[nodiscard]] const Document* Ask(const Document& whole, TimeRange range);
  // Whether a part is being made.
  [[nodiscard]] bool busy() const;

 private:
  struct Job;
  std::function<void()> wake_;
  std::unique_ptr<Job> job_;
  std::unique_ptr<Job> before_;                // the same interval, when the trace was shorter
  std::vector<std::unique_ptr<Job>> retired_;  // stopped, still running
};

}  // namespace penstock::gui
