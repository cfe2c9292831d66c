// SPDX-License-Identifier: Apache-2.0
//
// Analyses a part of a document on its own thread: a selected interval, or the whole run for
// another of its loaders. Used from one thread, which waits for the analysis only in the destructor
// of RangeAnalyst.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "gui/model/document.h"
#include "gui/model/timeline/query.h"

namespace penstock::gui {

// The part of a document to analyse.
struct RunPart {
  RunPart() = default;
  // NOLINTNEXTLINE(google-explicit-constructor): an interval is a part
  RunPart(TimeRange interval) : range(interval) {}

  std::optional<TimeRange> range;  // none: the whole run
  std::string loader;              // "train.py:88"; "": the loader that the loop waits for most
  bool operator==(const RunPart&) const = default;
};

// `whole` as if only part.range had been recorded. Its trace and analysis are those of this
// interval (SliceTrace). Its timeline is the whole one, because SpanRefs point into it. Times in
// the analysis count from the begin of the whole trace.
//
// Requires: whole.trace; a range is not empty.
[[nodiscard]] Document PartOf(const Document& whole, const RunPart& part,
                              std::stop_token stop = {});

class RangeAnalyst {
 public:
  // `wake` is called from another thread when a result is there.
  explicit RangeAnalyst(std::function<void()> wake = [] {});
  ~RangeAnalyst();
  RangeAnalyst(const RangeAnalyst&) = delete;
  RangeAnalyst& operator=(const RangeAnalyst&) = delete;

  // Returns `part` of `whole`; nullptr if it is not ready yet. A call for another part stops the
  // previous analysis. While a trace grows, the part made from its previous state is returned until
  // the new one is ready.
  [[nodiscard]] const Document* Ask(const Document& whole, const RunPart& part);
  // Whether a part is being made.
  [[nodiscard]] bool busy() const;

 private:
  struct Job;
  std::function<void()> wake_;
  std::unique_ptr<Job> job_;
  std::unique_ptr<Job> before_;                // the same part, when the trace was shorter
  std::vector<std::unique_ptr<Job>> retired_;  // stopped, still running
};

}  // namespace penstock::gui
