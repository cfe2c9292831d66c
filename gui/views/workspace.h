// SPDX-License-Identifier: Apache-2.0
//
// What the views of one window share: the document, the person's place in it, and the requests of
// the views to the window. The App owns the Workspace; views change it while they draw.
//
// An interval selected in the timeline filters every other view. For this, a view draws
// workspace.Shown() instead of workspace.document. The trace and the analysis of Shown() are those
// of the interval. Its times still count from the begin of the whole trace, and its timeline is the
// whole one (call gui/model with workspace.Range()). The App draws a chip with the interval above
// the view, and calls the view only after the interval has been analysed. ObeysRange() is false for
// a view that ignores the selection.
#pragma once

#include <array>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "gui/model/document.h"
#include "gui/model/panels/thumbnail.h"
#include "gui/model/panels/whatif.h"
#include "gui/model/range_analysis.h"
#include "gui/model/settings.h"
#include "gui/model/timeline/evidence.h"
#include "gui/model/timeline/query.h"
#include "gui/model/timeline/span_context.h"
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
  kSql,
};
struct ViewInfo {
  ViewId id;
  std::string_view name;  // as in --view
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
    ViewInfo{ViewId::kSql, "sql", Text::kSql},
};

// Whether a view shows only the selected interval.
[[nodiscard]] bool ObeysRange(ViewId view);
// Whether a view shows the run as the chosen loader sees it. The other views of a trace show what
// was done for all loaders.
[[nodiscard]] bool ObeysLoader(ViewId view);
// Whether a view marks the rows that the chosen span belongs to. False for the timeline itself.
[[nodiscard]] bool ShowsChosen(ViewId view);

// The things for which the menu of the timeline's right button is opened.
struct TimelineMenu {
  bool asked = false;                        // it must open
  std::shared_ptr<const Timeline> timeline;  // the timeline that `span` and `row` refer to
  std::optional<SpanRef> span;
  std::optional<Row> row;
  bool selection = false;  // the click was inside the selection
};

struct Workspace {
  Document document;
  ViewId view = ViewId::kOverview;
  bool functions = false;  // the stages view is about functions, not durations
  TimelineState timeline;
  DragState drag;
  SearchState search;
  TimelineMenu menu;
  // The table below the timeline, of the selection or of the visible window.
  Derived<SumsKey, std::vector<StageSum>> sums;
  Derived<OwnTimesKey, std::shared_ptr<const OwnTimes>> own_times;
  GroupsState groups;  // the table that the search asks for
  struct KeptParts {
    std::shared_ptr<const OwnTimes> times;
    SpanRef span;
    std::optional<TimeParts> parts;
  };
  KeptParts parts;
  // What was read for the samples of the last two spans. A frame may show two: the chosen span, and
  // the span under the pointer.
  struct KeptSample {
    std::shared_ptr<const Timeline> timeline;
    SpanRef span;
    SampleData data;
  };
  std::array<KeptSample, 2> samples;  // the one shown last is first
  struct KeptMap {
    std::shared_ptr<const Timeline> timeline;
    double width = 0;  // pixels
    std::vector<std::vector<Box>> strips;
  };
  KeptMap map;                                // the small map above the rows
  Derived<std::string, Thumbnail> thumbnail;  // of the file that was asked for last
  std::string thumbnail_of;                   // that file
  bool panel_shown = false;  // the last frame of the timeline had a panel below its rows
  PlanState plan;
  StagesState stages;
  WorkersState workers;
  IoState reading;
  GpuState gpu;
  WhatIfState whatif;
  SweepViewState sweep;
  CompareViewState compare;
  SqlViewState sql;
  FileWish wish;               // taken by the App after the views have drawn
  std::function<void()> wake;  // as in App
  bool help = false;           // the list of keys is shown
  bool covered = false;        // a dialog or list over the view takes the keys
  bool walking = false;        // arrows move a frame from item to item, Space presses it (F6)
  bool reveal = false;         // the timeline must scroll to its span
  Wheel wheel = Wheel::kScroll;
  std::string copied;  // the text copied last; its button shows "Copied" for a moment
  double copied_at = -10;
  double build_ms = 0;   // CPU time of the timeline's last frame
  bool at_once = false;  // makes values before drawing, for a picture
  std::unique_ptr<RangeAnalyst> ranges = std::make_unique<RangeAnalyst>();
  // Analyses the whole run for the chosen loader. The result is kept while an interval is shown.
  std::unique_ptr<RangeAnalyst> of_loader = std::make_unique<RangeAnalyst>();
  std::string loader;              // the chosen loader, "train.py:88"; "": the main one
  const Document* part = nullptr;  // of the interval and loader; nullptr: the whole, or not ready
  // The evidence of a finding, shown as soon as there is a timeline.
  struct EvidenceWish {
    std::string rule;
    TimeRange range;
  };
  std::optional<EvidenceWish> evidence;

  // Resets everything that belongs to one document.
  void Reset();
  // Takes the values that have been made since the last frame, whichever view asked for them.
  void TakeFinished();
  // Forgets what was made from an earlier state of a growing trace for views that are not shown.
  void ForgetUnseen();
  // Opens the timeline at the longest span of a finding's evidence; the search finds the others. If
  // there is no timeline yet, TimelineCame() does this later. No interval is selected, so that
  // other views still show the whole run. For a finding about a function, calls ShowFunction().
  void ShowEvidence(const analyzer::Finding& finding);
  // Opens the stages view at a function.
  void ShowFunction(const FunctionId& id);
  // Chooses a span of the timeline and shows it with three times its length on either side.
  void ShowSpan(SpanRef span);
  // Opens the timeline at a call, or around a moment. `at`: seconds since the trace began.
  void ShowCall(const Call& call);
  void ShowMoment(double at);
  // The index of own times; nullptr until it is ready, and for a document without spans.
  [[nodiscard]] std::shared_ptr<const OwnTimes> Times();
  // The parts of a sample or fetch; nullopt for other spans, and until the index is ready. The
  // result for the last span is kept.
  [[nodiscard]] std::optional<TimeParts> PartsOf(SpanRef span);
  // What was read and decoded for the sample of a span. The results for the last two spans are
  // kept. Valid until the next call. Requires: the document has spans.
  [[nodiscard]] const SampleData& SampleOf(SpanRef span);
  // The span chosen in the timeline; nullopt if none is, and until the spans have been read.
  [[nodiscard]] std::optional<SpanRef> ChosenSpan() const;
  // The process of the worker that is chosen in the workers view, else that of the chosen span.
  [[nodiscard]] std::optional<std::uint32_t> ChosenWorker() const;
  // Whether a call belongs to the chosen span's batch. If the span has no batch, whether the call
  // is the span itself.
  [[nodiscard]] bool IsOfChosen(const Call& call) const;
  // Searches if the text of the search has changed.
  void RunSearch();
  // Keeps only the hits for which `words` hold too, until the text of the search changes.
  void NarrowSearch(const std::string& words);
  // What follows the word "batch" in the name of a span's batch: "12", or "12 of epoch 3".
  // `brief`: without the file of its loader.
  // Requires: the span has a batch, and the document has spans.
  [[nodiscard]] std::string BatchNameOf(const SpanDetail& detail, Language language,
                                        bool brief = false) const;
  // The names of loaders by their id in the facts; empty if the epochs belong to one loader.
  [[nodiscard]] std::vector<std::string> LoadersById() const;
  // To be called when the timeline has become ready.
  void TimelineCame();
  // The interval selected in the timeline; nullopt: views show the whole trace.
  [[nodiscard]] std::optional<TimeRange> Range() const;
  // The question about Range() in `of`. A view passes Shown(), or the whole document if it visits
  // the spans of the interval itself.
  [[nodiscard]] Question question(const Document& of) const {
    return {of.trace, of.analysis, of.serial, Range()};
  }
  [[nodiscard]] Question question() const { return question(document); }
  // The loaders to choose from; empty if there are fewer than two.
  [[nodiscard]] std::vector<std::string> Loaders() const;
  // Makes all views that obey the loader (ObeysLoader) show the run for this loader.
  void ChooseLoader(const std::string& name);
  // The part of the document that a view shows; nullopt: the whole document.
  [[nodiscard]] std::optional<RunPart> PartFor(ViewId of) const;
  // Sets `part` to the part that view `of` shows. Returns false until that part is ready.
  [[nodiscard]] bool Prepare(ViewId of);
  // The document that a view draws: the whole one, or a part of it.
  [[nodiscard]] const Document& Shown() const { return part != nullptr ? *part : document; }
  void CopyText(const std::string& text);
  // Whether keys go to the view: no dialog or menu lies over it, and no text field takes them.
  [[nodiscard]] bool TakesKeys() const;
  // Whether something will change by itself, so that further frames must be drawn.
  [[nodiscard]] bool animating() const;

 private:
  // Whether this is the main loader: the one that the loop waits for most, for which the whole run
  // is analysed.
  [[nodiscard]] bool IsMain(const std::string& name) const;
  void FindHits(const std::string& words);
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
void DrawSql(const Ui& ui, Workspace& workspace, Area area);

}  // namespace penstock::gui
