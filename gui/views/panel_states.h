// SPDX-License-Identifier: Apache-2.0
//
// A person's place in the views of data, and the values made for these views. A value that needs a
// pass over the spans is made once for a document and a selection (gui/model/derived.h).
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "gui/model/derived.h"
#include "gui/model/document.h"
#include "gui/model/panels/functions.h"
#include "gui/model/panels/gpu.h"
#include "gui/model/panels/io.h"
#include "gui/model/panels/stages.h"
#include "gui/model/panels/whatif.h"
#include "gui/model/panels/workers.h"
#include "gui/model/timeline/grouping.h"
#include "gui/model/timeline/own_times.h"
#include "gui/model/timeline/query.h"

namespace penstock::gui {

// What a view asks about: one state of a trace, and an interval of it.
struct Question {
  std::shared_ptr<const traces::Trace> trace;
  std::shared_ptr<const Analysis> analysis;
  std::uint64_t serial = 0;  // as in Document
  std::optional<TimeRange> range;

  bool operator==(const Question&) const = default;
  // Whether this is the same question about the same trace after it has grown.
  [[nodiscard]] bool Follows(const Question& before) const {
    return serial != 0 && serial == before.serial && range == before.range;
  }
  [[nodiscard]] Extent extent() const { return {trace.get(), range}; }
};

// The key of the index of own times.
struct OwnTimesKey {
  std::shared_ptr<const Timeline> timeline;
  std::shared_ptr<const Analysis> analysis;
  std::uint64_t serial = 0;  // as in Document
  bool operator==(const OwnTimesKey&) const = default;
  // An index refers only to the spans of its own timeline, so it stays right when the trace grows.
  [[nodiscard]] bool Follows(const OwnTimesKey& before) const {
    return serial != 0 && serial == before.serial;
  }
};

// The key of the table below the timeline.
struct SumsKey {
  std::shared_ptr<const OwnTimes> times;
  TimeRange range;
  bool operator==(const SumsKey&) const = default;
  // While the interval changes, the previous table is shown, marked as old.
  [[nodiscard]] bool Follows(const SumsKey& before) const { return before.times != nullptr; }
};

// The key of the plan without some of its steps.
struct PlanKey {
  std::shared_ptr<const Analysis> analysis;
  std::vector<bool> off;  // by step of the whole plan
  bool operator==(const PlanKey&) const = default;
  [[nodiscard]] bool Follows(const PlanKey& before) const { return analysis == before.analysis; }
};

struct PlanState {
  PlanKey chosen;  // what the check boxes say
  Derived<PlanKey, analyzer::Plan> plan;
  // The height that the lists below the plan needed in the last frame; 0: not known yet. The next
  // frame gives it to them if the view scrolls, so that they do not scroll inside it.
  float lists = 0;
  bool settling = false;  // `lists` has changed, so another frame must be drawn
};

// The key of the table that a search asks for.
struct GroupsKey {
  std::shared_ptr<const traces::Trace> trace;
  std::shared_ptr<const Timeline> timeline;
  std::string search;
  std::optional<TimeRange> range;
  bool operator==(const GroupsKey&) const = default;
};
struct GroupsState {
  Derived<GroupsKey, GroupTable> table;
  GroupColumn column = GroupColumn::kSum;
  bool descending = true;
  std::optional<std::uint64_t> chosen;  // key of the row whose calls the search marks
  // The order of the table's rows; `ordered` says for which table and column it was made.
  std::vector<std::uint32_t> order;
  struct OrderKey {
    GroupsKey table;
    GroupColumn column = GroupColumn::kSum;
    bool descending = true;
    bool operator==(const OrderKey&) const = default;
  };
  std::optional<OrderKey> ordered;
};

struct TailKey {
  Question of;
  TailQuestion calls;
  bool operator==(const TailKey&) const = default;
  [[nodiscard]] bool Follows(const TailKey& before) const {
    return of.Follows(before.of) && calls == before.calls;
  }
};

struct FunctionsState {
  traces::StageId stage = traces::StageId::kNone;  // of the units shown; kNone: the first
  std::optional<FunctionId> chosen;                // none: the function with the largest share
  FramePath frame;      // the frame of `chosen` in the flame graph; empty: the widest
  FramePath zoomed;     // empty: the unit
  bool slow = false;    // the table compares slow units with the others
  bool reveal = false;  // the flame graph must scroll to the frame of `chosen`
  std::optional<FunctionId> revealed;  // its source was scrolled to its largest line
};

struct StagesState {
  Derived<Question, std::vector<StageLine>> lines;
  std::optional<RowId> chosen;
  int sort_column = -1;  // -1: in the order in which data passes the stages
  bool descending = true;
  // The bin that was chosen in the histogram; only its calls are listed.
  std::optional<StageBin> bin;
  Derived<TailKey, Tail> tail;
  // The calls that were listed in the last frame. When this changes, the list scrolls back to its
  // first call.
  struct Listed {
    TailQuestion calls;
    std::optional<TimeRange> range;
    bool operator==(const Listed&) const = default;
  };
  std::optional<Listed> listed;
  FunctionsState functions;
};

struct IoState {
  Derived<Question, IoModel> model;
  FileColumn column = FileColumn::kWall;
  bool descending = true;
  // The order of the table's rows; `ordered` says for which question and column it was made.
  std::vector<std::uint32_t> order;
  struct OrderKey {
    Question question;
    FileColumn column = FileColumn::kWall;
    bool descending = true;
    bool operator==(const OrderKey&) const = default;
  };
  std::optional<OrderKey> ordered;
};

struct GpuState {
  Derived<Question, GpuModel> model;
  std::size_t counter = 0;
  bool calls = false;  // lists calls instead of kernels
};

struct WorkersState {
  Derived<Question, WorkersModel> model;
  std::optional<std::uint32_t> chosen;  // index into Trace::processes()
  std::optional<MemoryKind> memory;     // chosen by hand
};

struct SearchState {
  std::string text;
  std::string done;  // the text that `found` is for
  std::unique_ptr<Search> found;
  // The places of the hits in the whole trace, in pixels of a strip of `ticks_width`. They take a
  // millisecond to compute.
  std::vector<float> ticks;
  double ticks_width = -1;  // -1: not computed
  std::size_t hit = 0;
  bool focus = false;  // the field wants the keyboard
  // The longest spans of a finding's evidence. They are offered only while the text of the search
  // equals `longest_of`.
  std::vector<SpanRef> longest;
  std::string longest_of;

  // Makes the search run again.
  void Forget() {
    done.clear();
    found.reset();
    ticks.clear();
    ticks_width = -1;
  }
};

struct WhatIfState {
  std::shared_ptr<const Analysis> of;  // `limits` and `answer` are for this
  WhatIf chosen;
  WhatIfLimits limits;
  WhatIf asked;  // `answer` is for this question
  std::optional<analyzer::Predicted<WhatIfAnswer>> answer;
};

// What a drag of the mouse does.
enum class DragKind : std::uint8_t { kNone, kSelect, kPan, kMiniMap };
struct DragState {
  DragKind kind = DragKind::kNone;
  std::int64_t anchor = 0;  // ns
  float last_x = 0;
  float last_y = 0;
  bool moved = false;
  bool snapped = false;  // its end has caught the edge of a span
  bool menu = false;     // if the mouse does not move until the button is released, the menu opens
};

}  // namespace penstock::gui
