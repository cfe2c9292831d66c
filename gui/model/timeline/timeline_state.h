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
#include <string>
#include <vector>

#include "gui/model/counters.h"
#include "gui/model/timeline/density.h"
#include "gui/model/timeline/query.h"
#include "gui/model/timeline/timeline.h"

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

// A row that is to stay in sight: all levels of a lane, or a counter. By names, which hold when the
// trace grows, is analysed anew or is opened another day.
struct Pin {
  RowKind kind = RowKind::kLevel;
  std::uint32_t pid = 0;   // kWholeRun: a counter of the whole run
  std::uint32_t part = 0;  // of a lane: tid; of a counter: CounterKind
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
  bool pinned = false;  // stands above the rows that scroll; `top` counts from the first pinned one
  Pin name{};           // not of kGroup

  static constexpr std::uint32_t kAllGroups = 0xffffffffu;
};

// A stretch of time that a person wants to find again.
struct Note {
  TimeRange range;
  std::string text;
  bool operator==(const Note&) const = default;
};

struct TimelineState {
  TimeView view;
  std::optional<TimeRange> selection;
  std::optional<SpanRef> span;      // the one that is looked at
  std::set<std::uint32_t> folded;   // groups, Row::kAllGroups too
  std::uint32_t hidden_stages = 0;  // bit: StageId
  float scroll = 0;                 // logical pixels
  std::array<std::optional<TimeRange>, 9> bookmarks;
  std::vector<Note> notes;
  std::vector<Pin> pins;
  bool panel_hidden = false;     // the one below the rows
  bool marks_open = false;       // the list of bookmarks and notes
  std::vector<TimeRange> back;   // where jumps came from, latest last
  std::vector<TimeRange> ahead;  // where Back() came from

  [[nodiscard]] bool Shows(traces::StageId stage) const {
    return (hidden_stages >> static_cast<unsigned>(stage) & 1u) == 0;
  }
  void Toggle(traces::StageId stage) { hidden_stages ^= 1u << static_cast<unsigned>(stage); }
  void ToggleFold(std::uint32_t group);
  // Makes `span` the one that is looked at and moves there.
  void Go(const Timeline& timeline, SpanRef span);
  // The selection, else the span, else nothing happens.
  void Focus(const Timeline& timeline);
  // Shows a stretch; Back() returns from it.
  void Jump(TimeRange range);
  void JumpToAll();
  bool Back();
  bool Forward();
  [[nodiscard]] bool IsPinned(Pin pin) const;
  void TogglePin(Pin pin);
  void FoldAll(const Timeline& timeline, bool fold);
  // Shows one stage only; where that is so already, all of them.
  void Solo(traces::StageId stage);
  // The span becomes the selection.
  void MarkSpan(const Timeline& timeline);
  // The selection, else the span, else what is visible, becomes a note.
  void KeepNote(const Timeline& timeline);

 private:
  void CameFrom(TimeRange before);
};

// The longest span, in the selection or else in what is visible, of the stage of the chosen span;
// without one, of the shown stage that takes most time there.
[[nodiscard]] std::optional<SpanRef> LongestHere(const Timeline& timeline,
                                                 const TimelineState& state);

// Heights of rows. Units: logical pixels.
struct RowHeights {
  float group = 24;
  float level = 17;
  float counter = 34;
  float gap = 7;  // after a group
};

// All rows from top to bottom, pinned ones first; those stay in their place below as well.
// Cost: O(rows).
[[nodiscard]] std::vector<Row> LayOutRows(const Timeline& timeline,
                                          std::span<const CounterTrack> counters,
                                          const TimelineState& state,
                                          const RowHeights& heights = {});

[[nodiscard]] float PinnedHeight(const std::vector<Row>& rows);

// Finds rows by spans. Refers to the rows it was made of.
class RowMap {
 public:
  RowMap(const Timeline& timeline, const std::vector<Row>& rows);  // O(rows + lanes)
  // The row of a span, a pinned one if there is one; that of its group where it is folded; nullptr
  // where there is none. O(1).
  [[nodiscard]] const Row* Of(SpanRef span) const;

 private:
  struct Place {
    const Row* first = nullptr;  // its level 0; further levels follow
    const Row* group = nullptr;
  };
  std::vector<Place> lanes_;
};

// Brings the row of `span` into a window of `height`, which pinned rows are not part of. Returns
// the new scroll position.
[[nodiscard]] float ScrollTo(const std::vector<Row>& rows, SpanRef span, float scroll,
                             float height);

// The span at `at` on a level, or the nearest within `reach`; nullopt if there is none.
[[nodiscard]] std::optional<SpanRef> SpanAt(const Timeline& timeline, const Row& row,
                                            std::int64_t at, std::int64_t reach);

}  // namespace penstock::gui
