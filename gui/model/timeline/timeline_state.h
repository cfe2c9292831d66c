// SPDX-License-Identifier: Apache-2.0
//
// A person's place in the timeline: the visible interval, the selection, folded processes, the
// chosen span, bookmarks. Every key and every movement of the mouse ends in one of these calls.
// Values; not thread-safe.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "gui/model/counters.h"
#include "gui/model/timeline/density.h"
#include "gui/model/timeline/query.h"
#include "gui/model/timeline/timeline.h"

namespace penstock::gui {

// The visible interval of time. It reaches beyond the trace by a small margin at most, and is not
// shorter than 50 ns unless the trace is.
class TimeView {
 public:
  explicit TimeView(std::int64_t length = 1);

  [[nodiscard]] TimeRange range() const;
  [[nodiscard]] std::int64_t trace_length() const { return length_; }
  void Fit();
  void Show(TimeRange range);            // exactly
  void ShowWithMargin(TimeRange range);  // with a tenth of its length on both sides
  // Keeps the time at `fraction` of the width in its place. factor < 1: zooms in.
  void Zoom(double fraction, double factor);
  void Pan(double fraction);  // by this part of the width; > 0: later
  // Makes `at` visible without zooming; moves it to the middle if it was not.
  void Reveal(std::int64_t at);

 private:
  void Keep();
  std::int64_t length_;
  double from_ = 0;  // fractions of ns, so that many small steps add up
  double to_ = 1;
};

enum class RowKind : std::uint8_t { kGroup, kLevel, kCounter };

// A row that stays in sight: all levels of a lane, or a counter. It is identified by its pid, and
// by its tid or the kind of its counter. These stay valid when the trace grows, is analysed anew or
// is opened another day.
struct Pin {
  RowKind kind = RowKind::kLevel;
  std::uint32_t pid = 0;   // kWholeRun: a counter of the whole run
  std::uint32_t part = 0;  // tid of a lane, CounterKind of a counter
  static constexpr std::uint32_t kWholeRun = 0xffffffffu;
  constexpr bool operator==(const Pin&) const = default;
};

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
  bool pinned = false;  // above the scrolled rows; `top` counts from the first pinned row
  Pin name{};           // unused for kGroup

  static constexpr std::uint32_t kAllGroups = 0xffffffffu;
};

// An interval of time that a person wants to find again.
struct Note {
  TimeRange range;
  std::string text;
  bool operator==(const Note&) const = default;
};

struct TimelineState {
  TimeView view;
  std::optional<TimeRange> selection;
  std::optional<SpanRef> span;      // the chosen one
  std::set<std::uint32_t> folded;   // indices of groups, or Row::kAllGroups
  std::uint32_t hidden_stages = 0;  // bit: StageId
  float scroll = 0;                 // logical pixels
  std::array<std::optional<TimeRange>, 9> bookmarks;
  std::vector<Note> notes;
  std::vector<Pin> pins;
  bool panel_hidden = false;  // the panel of the selection or span, below the rows
  // Whether the panel is the table of the visible window if nothing is selected. nullopt: only if
  // all rows fit above it.
  std::optional<bool> table;
  bool marks_open = false;       // the list of bookmarks and notes
  std::vector<TimeRange> back;   // the views before each jump, latest last
  std::vector<TimeRange> ahead;  // the views left by each Back()

  [[nodiscard]] bool Shows(traces::StageId stage) const {
    return (hidden_stages >> static_cast<unsigned>(stage) & 1u) == 0;
  }
  void Toggle(traces::StageId stage) { hidden_stages ^= 1u << static_cast<unsigned>(stage); }
  void ToggleFold(std::uint32_t group);
  // Chooses `span` and moves there.
  void Go(const Timeline& timeline, SpanRef span);
  // Shows the selection, else the chosen span; without either it does nothing.
  void Focus(const Timeline& timeline);
  // Shows an interval; Back() returns from it.
  void Jump(TimeRange range);
  void JumpToAll();
  bool Back();
  bool Forward();
  [[nodiscard]] bool IsPinned(Pin pin) const;
  void TogglePin(Pin pin);
  void FoldAll(const Timeline& timeline, bool fold);
  // Shows only this stage. If it is the only one shown already, shows all stages.
  void Solo(traces::StageId stage);
  void FoldOthers(const Timeline& timeline, std::uint32_t group);
  // Hides or shows the panel below the rows. `shown`: whether one is shown now.
  void TogglePanel(bool shown);
  // Selects the interval of the chosen span.
  void MarkSpan(const Timeline& timeline);
  // Makes a note of the selection, else of the chosen span, else of the visible interval.
  void KeepNote(const Timeline& timeline);

 private:
  void CameFrom(TimeRange before);
};

// The longest span of a stage within the selection, or within the visible interval if nothing is
// selected. The stage is that of the chosen span. If no span is chosen, it is the shown stage that
// takes most time in this interval.
[[nodiscard]] std::optional<SpanRef> LongestHere(const Timeline& timeline,
                                                 const TimelineState& state);

// Heights of rows. Units: logical pixels.
struct RowHeights {
  float group = 24;
  float level = 17;
  float counter = 34;
  float gap = 7;  // after a group
};

// All rows from top to bottom. Pinned rows come first, and appear again in their usual place. Cost:
// O(rows).
[[nodiscard]] std::vector<Row> LayOutRows(const Timeline& timeline,
                                          std::span<const CounterTrack> counters,
                                          const TimelineState& state,
                                          const RowHeights& heights = {});

[[nodiscard]] float PinnedHeight(const std::vector<Row>& rows);

// Finds the row of a span. `rows` must have been laid out for `timeline`, and must outlive the map.
class RowMap {
 public:
  RowMap(const Timeline& timeline, const std::vector<Row>& rows);  // O(rows + lanes)
  // The row of a span: a pinned row if there is one; the row of its group if the group is folded;
  // nullptr if there is no row. O(1).
  [[nodiscard]] const Row* Of(SpanRef span) const;

 private:
  struct Place {
    const Row* first = nullptr;  // the row of level 0; the rows of further levels follow it
    const Row* group = nullptr;
  };
  std::vector<Place> lanes_;
};

// Scrolls so that the row of `span` lies in a window of `height` below the pinned rows. Returns the
// new scroll position: the old one if the row is pinned or folded.
[[nodiscard]] float ScrollTo(const std::vector<Row>& rows, SpanRef span, float scroll,
                             float height);

// The thumb of the scroll bar, as a part of its length.
struct ScrollThumb {
  float from = 0;
  float to = 1;
};
// nullopt if all rows fit. `height`: of all rows, of which `room` is visible from `scroll` on.
[[nodiscard]] std::optional<ScrollThumb> ThumbOf(float height, float room, float scroll);

// The span at `at` on the level of `row`, or the nearest span within `reach` (ns); nullopt if there
// is none. Cost: O(log spans).
[[nodiscard]] std::optional<SpanRef> SpanAt(const Timeline& timeline, const Row& row,
                                            std::int64_t at, std::int64_t reach);

}  // namespace penstock::gui
