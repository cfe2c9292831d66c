// SPDX-License-Identifier: Apache-2.0
//
// What the views of one window share: the document, where a person is in it, and what they ask the
// window to do. The App owns it; views change it while they draw.
//
// A stretch selected in the timeline filters every other view. A view takes part by drawing
// workspace.Shown() instead of workspace.document: its trace and analysis are those of the stretch,
// times in it still count from the begin of the whole trace, and its timeline is the whole one (ask
// gui/model with workspace.Range()). The App draws the chip that says so above the view, and calls
// the view only when the stretch has been analysed. A view that is about something else says so in
// ObeysRange().
#pragma once

#include <array>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "gui/model/document.h"
#include "gui/model/panels/whatif.h"
#include "gui/model/range_analysis.h"
#include "gui/model/settings.h"
#include "gui/model/timeline/evidence.h"
#include "gui/model/timeline/query.h"
#include "gui/model/timeline/timeline_state.h"
#include "gui/views/files/file_views.h"
#include "gui/views/panel_states.h"
#include "gui/widgets/draw.h"
#include "gui/widgets/ui.h"

namespace penstock::gui {

enum class ViewId : std::uint8_t {
  kOverview,
  kTimeline,
  kStages,
  kWhatIf,
  kWorkers,
  kIo,
  kGpu,
  kSweep,
  kCompare,
};
struct ViewInfo {
  ViewId id;
  std::string_view name;  // of --view
  Text title;
};
inline constexpr std::array kViews = {
    ViewInfo{ViewId::kOverview, "overview", Text::kOverview},
    ViewInfo{ViewId::kTimeline, "timeline", Text::kTimeline},
    ViewInfo{ViewId::kStages, "stages", Text::kStages},
    ViewInfo{ViewId::kWhatIf, "what-if", Text::kWhatIf},
    ViewInfo{ViewId::kWorkers, "workers", Text::kWorkers},
    ViewInfo{ViewId::kIo, "io", Text::kIo},
    ViewInfo{ViewId::kGpu, "gpu", Text::kGpu},
    ViewInfo{ViewId::kSweep, "sweep", Text::kSweep},
    ViewInfo{ViewId::kCompare, "compare", Text::kCompare},
};

// Whether a view is about the selected stretch only.
[[nodiscard]] bool ObeysRange(ViewId view);

struct SearchState {
  std::string text;
  std::string done;  // the text that `found` answers
  std::unique_ptr<Search> found;
  // Where in the whole trace its hits are, in pixels of a strip of `ticks_width`; they take a
  // millisecond to find.
  std::vector<float> ticks;
  double ticks_width = -1;  // -1: not asked for
  std::size_t hit = 0;
  bool focus = false;  // the field wants the keyboard
  // The longest spans of a finding's evidence, and the text that finds all of them: offered as long
  // as that is searched.
  std::vector<SpanRef> longest;
  std::string longest_of;

  // The text is asked anew.
  void Forget() {
    done.clear();
    found.reset();
    ticks.clear();
    ticks_width = -1;
  }
};

struct WhatIfState {
  bool ready = false;
  WhatIf chosen;
  WhatIfLimits limits;
  WhatIf asked;  // what `answer` answers
  std::optional<analyzer::Predicted<WhatIfAnswer>> answer;
};

// Where a drag of the mouse began.
enum class DragKind : std::uint8_t { kNone, kSelect, kPan, kMiniMap };
struct DragState {
  DragKind kind = DragKind::kNone;
  std::int64_t anchor = 0;  // ns
  float last_x = 0;
  float last_y = 0;
  bool moved = false;
  bool snapped = false;  // its end lies at the edge of a span
};

struct Workspace {
  Document document;
  ViewId view = ViewId::kOverview;
  TimelineState timeline;
  DragState drag;
  SearchState search;
  Derived<SumsKey, std::vector<StageSum>> sums;  // of the selection
  StagesState stages;
  WorkersState workers;
  IoState reading;
  GpuState gpu;
  WhatIfState whatif;
  SweepViewState sweep;
  CompareViewState compare;
  FileWish wish;               // taken by the App after the views have drawn
  std::function<void()> wake;  // as of App
  bool help = false;           // the keys are shown
  bool covered = false;        // something lies over the view that keys are for
  bool reveal = false;         // the timeline is to scroll to its span
  Wheel wheel = Wheel::kScroll;
  std::string copied;  // what was copied last, and when: the button says so for a moment
  double copied_at = -10;
  double build_ms = 0;   // own time of the last frame of the timeline
  bool at_once = false;  // a picture cannot wait for what a thread makes
  std::unique_ptr<RangeAnalyst> ranges = std::make_unique<RangeAnalyst>();
  const Document* part = nullptr;  // of the selected stretch; nullptr: not asked for, not ready
  // Evidence of a finding, to be shown as soon as there is a timeline.
  struct EvidenceWish {
    std::string rule;
    TimeRange range;
  };
  std::optional<EvidenceWish> evidence;

  // Everything that belongs to one document, as new.
  void Reset();
  // What was made for views that are not on the screen, of a trace that has grown since.
  void ForgetUnseen();
  // Opens the timeline at the evidence of a finding; where there is none yet, as soon as it comes:
  // at the longest of the spans concerned, with all of them found by the search. Selects nothing,
  // so that other views stay those of the whole run.
  void ShowEvidence(const analyzer::Finding& finding);
  // Chooses a span of the timeline and shows it with three times its length on either side.
  void ShowSpan(SpanRef span);
  // Opens the timeline at a call, or around a moment. Units: seconds since the trace began.
  void ShowCall(const Call& call);
  void ShowMoment(double at);
  // The timeline has come.
  void TimelineCame();
  // The stretch that is selected in the timeline; nullopt: views are about the whole trace.
  [[nodiscard]] std::optional<TimeRange> Range() const;
  // The same as a question to `of`: to Shown(), or to the whole trace, for views that pass over its
  // spans themselves.
  [[nodiscard]] Question question(const Document& of) const {
    return {of.trace, of.analysis, of.serial, Range()};
  }
  [[nodiscard]] Question question() const { return question(document); }
  // Prepares what `view` is to show. false: it is being made.
  [[nodiscard]] bool Prepare(ViewId of);
  // What a view draws: the whole document, or its selected stretch.
  [[nodiscard]] const Document& Shown() const { return part != nullptr ? *part : document; }
  void CopyText(const std::string& text);
  // Something changes by itself for a moment: draw on.
  [[nodiscard]] bool animating() const;
};

void DrawOverview(const Ui& ui, Workspace& workspace, Area area);
void DrawTimeline(const Ui& ui, Workspace& workspace, Area area);
void DrawStages(const Ui& ui, Workspace& workspace, Area area);
void DrawWhatIf(const Ui& ui, Workspace& workspace, Area area);
void DrawWorkers(const Ui& ui, Workspace& workspace, Area area);
void DrawIo(const Ui& ui, Workspace& workspace, Area area);
void DrawGpu(const Ui& ui, Workspace& workspace, Area area);
void DrawSweep(const Ui& ui, Workspace& workspace, Area area);
void DrawCompare(const Ui& ui, Workspace& workspace, Area area);

}  // namespace penstock::gui
