// SPDX-License-Identifier: Apache-2.0
//
// Shows the place that a command line asks for: times, what is selected, a loader, a search.
#include <utility>

#include <fmt/core.h>

#include "gui/main/app.h"
#include "gui/model/timeline/place.h"

namespace penstock::gui {

// Forgets the wanted place if it is in another trace.
void App::KeepPlaceFor(const std::filesystem::path& path) {
  if (!jobs_.wanted) return;
  if (jobs_.wanted->path.empty()) jobs_.wanted->path = path;
  if (jobs_.wanted->path != path) jobs_.wanted.reset();
}

// Called when the timeline of the document has become ready.
void App::ShowTimeline() {
  workspace_.TimelineCame();
  if (!jobs_.wanted) return;
  const Place& place = jobs_.wanted->place;
  if (!place.loader.empty()) workspace_.loader = place.loader;
  if (!place.sql.empty()) workspace_.sql.text = workspace_.sql.asked = place.sql;
  TimelineState& state = workspace_.timeline;
  const std::int64_t length = workspace_.document.timeline->length;
  const TimeRange at = place.at.Within(length);
  if (place.at.given() && !at.empty()) {
    state.view.Show(at);
    // A view without a time axis shows the interval as the selection.
    if (workspace_.view != ViewId::kTimeline) state.selection = at;
  }
  const TimeRange range = place.range.Within(length);
  if (place.range.given() && !range.empty()) state.selection = range;
  ShowPlace();
}

// Forgets a wanted loader that the run does not have, and says so.
void App::CheckLoader() {
  if (workspace_.loader.empty() || !workspace_.document.analysis) return;
  const analyzer::RunModel& run = workspace_.document.analysis->report.diagnosis.run;
  const analyzer::Statement unknown = analyzer::UnknownLoader(run, workspace_.loader);
  if (unknown.empty()) return;
  workspace_.loader.clear();
  notice_.Say(Render(unknown, ui_.language), true);
}

// Chooses the span that the wanted place names, as soon as there are spans.
void App::ShowPlace() {
  const Timeline& timeline = *workspace_.document.timeline;
  if (!jobs_.wanted || timeline.preview) return;
  const Place place = std::exchange(jobs_.wanted, std::nullopt)->place;
  TimelineState& state = workspace_.timeline;
  const auto missing = [this, &place] {
    notice_.Say(ui_.F(Text::kNotInTrace, PlaceText(place)), true);
  };
  for (const Times& times : {place.at, place.range}) {
    if (times.given() && times.Within(timeline.length).empty()) return missing();
  }
  if (!place.search.empty()) {
    workspace_.search.Forget();
    workspace_.search.text = place.search;
  }
  if (!place.NamesSpan()) return;
  const auto span = FindSelected(timeline, place);
  if (!span) return missing();
  ShowRows(place, *span);
  // Outside the timeline view, a stage or worker is a row. No single span is chosen for it.
  const bool rows = workspace_.view != ViewId::kTimeline;
  if (rows && !place.NamesOne()) return;
  if (!place.NamesOne() && place.search.empty()) {
    // The search marks all spans that the place names.
    workspace_.search.Forget();
    workspace_.search.text = place.stage ? traces::StageName(*place.stage) : "";
    if (place.worker) {
      if (place.stage) workspace_.search.text += ' ';
      workspace_.search.text += fmt::format("worker {}", *place.worker);
    }
  }
  if (place.at.given() || place.range.given()) {
    state.span = span;
    workspace_.reveal = true;
  } else {
    workspace_.ShowSpan(*span);
  }
}

// Chooses rows in the stages view and the workers view. `span`: the span that `place` names.
void App::ShowRows(const Place& place, SpanRef span) {
  const Timeline& timeline = *workspace_.document.timeline;
  if (place.stage || place.NamesOne()) {
    workspace_.stages.chosen = RowId{place.stage.value_or(timeline.stage(span)), {}};
    workspace_.stages.functions.stage = workspace_.stages.chosen->stage;
  }
  const Group* group = timeline.GroupOf(span.lane);
  if (place.worker && group != nullptr) workspace_.workers.chosen = group->process.value;
}

}  // namespace penstock::gui
