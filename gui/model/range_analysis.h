// SPDX-License-Identifier: Apache-2.0
//
// The analysis of a selected stretch of a document, made on a thread of its own. Used from one
// thread, which never waits for it except at the end of the RangeAnalyst.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "gui/model/document.h"
#include "gui/model/timeline/query.h"

namespace penstock::gui {

// `whole` as if it had been recorded from range.from to range.to only: its trace is that part
// (SliceTrace), its analysis that of the part; its timeline is still the whole one, for SpanRefs
// point into it. Times in the analysis count from the begin of the whole trace.
//
// Requires: whole.trace; range is not empty.
[[nodiscard]] Document PartOf(const Document& whole, TimeRange range, std::stop_token stop = {});

class RangeAnalyst {
 public:
  // `wake` is called from another thread when an answer is there.
  explicit RangeAnalyst(std::function<void()> wake = [] {});
  ~RangeAnalyst();
  RangeAnalyst(const RangeAnalyst&) = delete;
  RangeAnalyst& operator=(const RangeAnalyst&) = delete;

  // The part of `whole` in `range`; nullptr while it is being made. Asking for another one gives up
  // the one before. Of a trace that has grown since it is the part as it was, until the new one is
  // there.
  [[nodiscard]] const Document* Ask(const Document& whole, TimeRange range);
  // Something is being made.
  [[nodiscard]] bool busy() const;

 private:
  struct Job;
  std::function<void()> wake_;
  std::unique_ptr<Job> job_;
  std::unique_ptr<Job> before_;                // of the same stretch, when the trace was shorter
  std::vector<std::unique_ptr<Job>> retired_;  // given up, not yet at their end
};

}  // namespace penstock::gui
