// SPDX-License-Identifier: Apache-2.0
//
// A place in a trace as words of a command line: the times that the timeline shows, and what is
// selected there ("--at 2.1s..2.4s --select epoch:3 --select batch:12"). Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "gui/model/timeline/query.h"
#include "gui/model/timeline/timeline.h"
#include "gui/model/timeline/timeline_state.h"
#include "traces/base/result.h"

namespace penstock::gui {

// Seconds since the trace began; nullopt stands for the trace's own begin or end.
struct Times {
  std::optional<double> from;
  std::optional<double> to;
  [[nodiscard]] bool given() const { return from || to; }
  [[nodiscard]] TimeRange Within(std::int64_t length) const;
};

struct Place {
  Times at;  // the visible times
  // What is selected: an interval, and the longest span with all of the properties below it.
  Times range;
  std::optional<std::uint32_t> batch;
  std::optional<std::uint16_t> generation;  // of the batch; none: any
  std::optional<std::uint32_t> epoch;   // of the batch, counted from 1 for its loader; none: any
  std::optional<std::uint32_t> worker;  // whose process the span is in
  std::optional<std::uint32_t> sample;
  std::optional<traces::StageId> stage;
  // SelectedWords() leaves these three out: the text of the timeline's search, the question of the
  // SQL view, and the loader that the other views show ("train.py:88"; "": the main one).
  std::string search;
  std::string sql;
  std::string loader;

  [[nodiscard]] bool NamesSpan() const { return batch || epoch || sample || worker || stage; }
  // Whether it names a batch, epoch or sample. If not, it names all spans of a stage or worker.
  [[nodiscard]] bool NamesOne() const { return batch || epoch || sample; }
  [[nodiscard]] bool given() const {
    return at.given() || range.given() || NamesSpan() || !loader.empty() || !search.empty() ||
           !sql.empty();
  }
};

// Reads "1.2s", "350ms", "20us" or "1.5" as seconds. Errors: kUsage.
[[nodiscard]] Result<double> ReadTime(const std::string& option, const std::string& text);
// Reads "2.1s..2.4s", "2.1s.." or "..2.4s". Errors: kUsage.
[[nodiscard]] Result<Times> ReadTimes(const std::string& option, const std::string& text);
// Adds "batch:12", "epoch:3", "sample:345", "worker:2", "stage:decode" or "2.1s..2.4s" to `place`.
// Batch 12 of iterator 3 is "batch:12@3". Errors: kUsage.
[[nodiscard]] Result<void> ReadSelected(const std::string& text, Place* place);

// "2.1s": a time as ReadTime() reads it, to the nanosecond, without zeros at the end.
[[nodiscard]] std::string SecondsText(std::int64_t ns);
// The words that ReadTimes() and ReadSelected() read: "2.1s..2.4s", "batch:12".
[[nodiscard]] std::string TimesText(TimeRange range);
[[nodiscard]] std::vector<std::string> SelectedWords(const Place& place);
// All that `place` says, for a message: "2.1s..2.4s, batch:12".
[[nodiscard]] std::string PlaceText(const Place& place);

// The longest span that `place` names and that overlaps its visible times. Spans that begin in its
// selected interval take precedence. nullopt: none. Cost: O(spans).
[[nodiscard]] std::optional<SpanRef> FindSelected(const Timeline& timeline, const Place& place);

// What is selected in the timeline: the selected interval within the trace, and the batch, sample
// and stage of the chosen span. If the trace has several epochs of one loader, the epoch is given
// too. Otherwise the batch has its iterator ("batch:12@3"), because epochs of two loaders may have
// the same number.
[[nodiscard]] Place SelectedIn(const Timeline& timeline, const TimelineState& state);

}  // namespace penstock::gui
