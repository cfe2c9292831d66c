// SPDX-License-Identifier: Apache-2.0
//
// Where a person is in the timeline: the visible stretch, the selection, what is folded, the span
// that is looked at, bookmarks. Every key and every movement of the mouse ends in one of these
// calls. Values; not thread-safe.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <set>
#include <span>
#include <vector>

#include "gui/model/counters.h"
#include "gui/model/density.h"
#include "gui/model/query.h"
#include "gui/model/timeline.h"

namespace penstock::gui {

// The visible stretch of time. It never leaves the trace by more than a margin, and never gets
// shorter than 50 ns.
class TimeView {
 public:
  explicit TimeView(std::int64_t length = 1);

  [[nodiscard]] TimeRange range() const;
  [[nodiscard]] std::int64_t trace_length() const { return length_; }
  void Fit();
  void Show(TimeRange range);            // exactly
  void ShowWithMargin(TimeRange range);  // with a tenth of it on both sides
  // Keeps the time at `fraction` of the width where it is. factor < 1: closer.
  void Zoom(double fraction, double factor);
  void Pan(double fraction);  // by so much of the width; > 0: later
  // Moves, without zooming, so that `at` is visible; to the middle if it was not.
  void Reveal(std::int64_t at);

 private:
  void Keep();
  std::int64_t length_;
  double from_ = 0;  // finer than ns, so that many small steps add up
  double to_ = 1;
};

enum class RowKind : std::uint8_t { kGroup, kLevel, kCounter };

// One row on the screen. Units: logical pixels from the top of all rows.
struct Row {
  RowKind kind = RowKind::kLevel;
  float top = 0;
  float height = 0;
  std::uint32_t group = 0;    // index into Timeline::groups; kAllGroups: the whole run
  std::uint32_t lane = 0;     // kLevel; kGroup: its first lane
  std::uint32_t level = 0;    // kLevel
  std::uint32_t counter = 0;  // kCounter: index into the counters
  bool first_of_lane = false;

  static constexpr std::uint32_t kAllGroups = 0xffffffffu;
};

struct TimelineState {
  TimeView view;
  std::optional<TimeRange> selection;
  std::optional<SpanRef> span;      // the one that is looked at
  std::set<std::uint32_t> folded;   // groups, Row::kAllGroups too
  std::uint32_t hidden_stages = 0;  // bit: StageId
  float scroll = 0;                 // logical pixels
  std::array<std::optional<TimeRange>, 9> bookmarks;

  [[nodiscard]] bool Shows(traces::StageId stage) const {
    return (hidden_stages >> static_cast<unsigned>(stage) & 1u) == 0;
  }
  void Toggle(traces::StageId stage) { hidden_stages ^= 1u << static_cast<unsigned>(stage); }
  void ToggleFold(std::uint32_t group);
  // Makes `span` the one that is looked at and moves there.
  void Go(const Timeline& timeline, SpanRef span);
  // F: the selection, else the span, else nothing happens.
  void Focus(const Timeline& timeline);
};

// Heights of rows. Units: logical pixels.
struct RowHeights {
  float group = 24;
  float level = 17;
  float counter = 34;
  float gap = 7;  // after a group
};

// All rows from top to bottom. Cost: O(rows).
[[nodiscard]] std::vector<Row> LayOutRows(const Timeline& timeline,
                                          std::span<const CounterTrack> counters,
                                          const TimelineState& state,
                                          const RowHeights& heights = {});

// Brings the row of `span` into a window of `height`. Returns the new scroll position.
[[nodiscard]] float ScrollTo(const std::vector<Row>& rows, SpanRef span, float scroll,
                             float height);

// The span at `at` on a level, or the nearest within `reach`; nullopt if there is none.
[[nodiscard]] std::optional<SpanRef> SpanAt(const Timeline& timeline, const Row& row,
                                            std::int64_t at, std::int64_t reach);

}  // namespace penstock::gui
