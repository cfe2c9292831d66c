// SPDX-License-Identifier: Apache-2.0
//
// An index over a trace that tells how much time each stage takes in any interval. It counts as the
// report does: own time, and no span twice. Immutable once built; safe from several threads.
//
// Each thread is cut into sections at moments when none of its spans and images is open. The sums
// before each moment are kept. Only the sections in which an interval begins or ends are counted
// anew, from the spans of the timeline.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <stop_token>
#include <vector>

#include "analyzer/model/run_model.h"
#include "gui/model/timeline/loop_steps.h"
#include "gui/model/timeline/query.h"
#include "gui/model/timeline/timeline.h"
#include "traces/nesting.h"
#include "traces/trace.h"

namespace penstock::gui {

// The parts of a sample or a fetch, as the report counts them. Units: ns.
struct TimeParts {
  std::int64_t whole = 0;
  std::int64_t read = 0;  // with waiting before reads
  std::int64_t decode = 0;
  std::int64_t tokenize = 0;
  std::int64_t named = 0;  // augmenting in named transforms
  std::int64_t rest = 0;   // augmenting without a name
  std::int64_t collate = 0;

  [[nodiscard]] std::int64_t augment() const { return named + rest; }
};

class OwnTimes {
 public:
  // `run`: the model of the whole trace, for steps that the program did not mark, and for those of
  // loaders that are used together, whose spans overlap and contain waits. nullptr once
  // `stop` is requested.
  // Cost: a pass over the spans of the trace and one over those of the timeline; 0.7 bytes of
  // memory for each span, and 24 bytes for each read that lasts longer than it is drawn (reads of
  // one object that were recorded as one).
  [[nodiscard]] static std::shared_ptr<const OwnTimes> Build(
      const traces::Trace& trace, std::shared_ptr<const Timeline> timeline,
      const analyzer::RunModel& run, const std::stop_token& stop = {});

  // The stages in `range`, longest first, as analyzer::StageTable has them, and which of their
  // spans reach out of `range`. A step that is derived from batches counts with its part inside
  // `range`. Once `stop` is requested, the answer is without meaning. Cost: O(threads * (kStride +
  // spans in the longest section)). Sections are long in a program that opens images and never
  // decodes them.
  [[nodiscard]] std::vector<StageSum> Of(TimeRange range, const std::stop_token& stop = {}) const;

  // The parts of a sample or fetch; nullopt for other spans, and for a sample within a sample or a
  // fetch within a fetch.
  // Cost: as Of(), for one thread.
  [[nodiscard]] std::optional<TimeParts> PartsOf(SpanRef span) const;

 private:
  static constexpr std::size_t kStride = 512;  // spans between two moments, at least
  // After kStride spans without a moment, the sweep tries to make one before each of the first
  // kTries spans of every further stride.
  static constexpr std::size_t kTries = 64;
  using Sums = std::array<StageSum, wire::kStageCount>;
  struct Totals {
    std::array<std::uint32_t, wire::kStageCount> count{};
    std::array<std::int64_t, wire::kStageCount> time{};
  };
  struct Moment {
    std::int64_t at = 0;
    Totals before;  // of the spans that begin before `at`
  };
  // A read that lasts longer than it is drawn.
  struct LongRead {
    std::int64_t start = 0;
    std::int64_t drawn = 0;
    std::int64_t length = 0;
    constexpr auto operator<=>(const LongRead&) const = default;
  };
  struct Thread {
    std::vector<Moment> moments;  // ascending; the first before and the last after everything
    std::vector<LongRead> reads;  // ascending
    // The thread has spans of stages that only a later version knows. In the timeline they are
    // kNone.
    bool later_stages = false;
  };
  // A span that does not nest with others, and that was not finished when its process ended.
  struct Unfinished {
    traces::StageId stage = traces::StageId::kNone;
    TimeRange range;
  };
  class Totalled;
  class PartsFound;

  void BuildThread(const traces::Trace& trace, std::size_t lane, const std::stop_token& stop);
  void AddUnfinished(const Level& level);
  void AddThread(std::size_t lane, TimeRange range, Sums& sums) const;
  [[nodiscard]] bool Opens(const traces::Span& span) const;
  [[nodiscard]] std::vector<traces::Span> SpansOf(std::size_t lane, TimeRange range) const;
  void Sweep(const std::vector<traces::Span>& spans, traces::NestingSink& sink) const;

  std::shared_ptr<const Timeline> timeline_;
  std::vector<Thread> threads_;  // by lane
  std::vector<StringId> opens_;  // names of calls that only open an image
  std::vector<Unfinished> unfinished_;
  bool derives_steps_ = false;
  std::vector<LoopSteps> steps_;  // instead of recorded ones, if derives_steps_
};

}  // namespace penstock::gui
