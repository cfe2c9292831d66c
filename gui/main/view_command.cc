// SPDX-License-Identifier: Apache-2.0
#include "gui/main/view_command.h"

#include <filesystem>
#include <vector>

#include "gui/model/timeline/place.h"
#include "gui/model/words/stage_words.h"
#include "traces/host_facts.h"

namespace penstock::gui {
namespace {

std::string Absolute(const std::filesystem::path& path) {
  std::error_code error;
  const std::filesystem::path whole = std::filesystem::absolute(path, error);
  return (error ? path : whole).string();
}

Times TimesOf(TimeRange range) {
  return {static_cast<double>(range.from) * 1e-9, static_cast<double>(range.to) * 1e-9};
}

// Whether a window that opens at `place` chooses the same span and has the same search.
bool ChoosesAgain(const Workspace& workspace, const Place& place) {
  if (!place.NamesSpan()) return false;
  const bool alone = place.stage && !place.NamesOne();
  // A place that names only a stage also starts a search for that stage.
  if (alone && StageOfWord(Lowered(workspace.search.text)) != place.stage) return false;
  return FindSelected(*workspace.document.timeline, place) == workspace.timeline.span;
}

void ForgetSpan(Place* place) {
  Place times;
  times.at = place->at;
  times.range = place->range;
  *place = times;
}

// Puts the chosen row of the stages or workers view into `place`, unless the span of `place`
// already leads to that row.
void TakeRow(const Workspace& workspace, Place* place) {
  if (workspace.view == ViewId::kStages) {
    const auto& row = workspace.stages.chosen;
    if (workspace.functions || !row || row->part.value != 0 || place->stage == row->stage) return;
    ForgetSpan(place);
    place->stage = row->stage;
  }
  if (workspace.view == ViewId::kWorkers && workspace.workers.chosen) {
    for (const Group& group : workspace.document.timeline->groups) {
      if (group.process.value != *workspace.workers.chosen || group.worker_id < 0) continue;
      place->worker = static_cast<std::uint32_t>(group.worker_id);
      if (place->NamesOne() && !ChoosesAgain(workspace, *place)) ForgetSpan(place);
      place->worker = static_cast<std::uint32_t>(group.worker_id);
    }
  }
}

// The place of a view that is not the timeline: the selected interval, and the chosen span or row.
Place PlaceOfRows(const Workspace& workspace) {
  Place place;
  if (const auto range = workspace.Range()) place.at = TimesOf(*range);
  if (!ShowsChosen(workspace.view)) return place;
  if (workspace.ChosenSpan()) {
    Place chosen = SelectedIn(*workspace.document.timeline, workspace.timeline);
    chosen.at = place.at;
    chosen.range = {};
    if (chosen.NamesOne() && ChoosesAgain(workspace, chosen)) place = chosen;
  }
  TakeRow(workspace, &place);
  return place;
}

void AddWords(const Place& place, std::vector<std::string>* words) {
  for (const std::string& word : SelectedWords(place)) {
    words->insert(words->end(), {"--select", word});
  }
}

void AddPlace(const Workspace& workspace, std::vector<std::string>* words) {
  const Timeline& timeline = *workspace.document.timeline;
  const TimelineState& state = workspace.timeline;
  if (workspace.view != ViewId::kTimeline) {
    if (const auto range = workspace.Range()) {
      words->insert(words->end(), {"--at", TimesText(*range)});
    }
    return AddWords(PlaceOfRows(workspace), words);
  }
  const TimeRange inside = Inside(timeline, state.view.range());
  const TimeRange all{0, timeline.length};
  Place place = SelectedIn(timeline, state);
  place.at = TimesOf(inside.empty() ? all : inside);
  if (!ChoosesAgain(workspace, place)) ForgetSpan(&place);
  // Without times the window would open at the chosen span.
  const bool whole = inside.empty() || inside == all;
  if (!whole || place.NamesSpan()) {
    words->insert(words->end(), {"--at", TimesText(inside.empty() ? all : inside)});
  }
  AddWords(place, words);
  // A search that makes a table is part of what the timeline shows.
  if (AsksForTable(workspace.search.text)) {
    words->insert(words->end(), {"--search", workspace.search.text});
  }
}

}  // namespace

bool HasViewCommand(const Workspace& workspace) {
  const bool sweep = workspace.view == ViewId::kSweep && workspace.sweep.file;
  const bool other = workspace.view == ViewId::kCompare && workspace.compare.other.open();
  return workspace.document.open() || sweep || other;
}

std::string ViewCommand(const Workspace& workspace) {
  if (!HasViewCommand(workspace)) return "";
  std::vector<std::string> words = {"penstock", "gui"};
  const bool sweep = workspace.view == ViewId::kSweep;
  const Document& other = workspace.compare.other;
  if (workspace.document.open()) words.push_back(Absolute(workspace.document.path));
  if (workspace.view == ViewId::kCompare && other.open()) words.push_back(Absolute(other.path));
  if (sweep && workspace.sweep.file) words.push_back(Absolute(workspace.sweep.file->path));
  for (const ViewInfo& view : kViews) {
    if (view.id != workspace.view) continue;
    const bool functions = view.id == ViewId::kStages && workspace.functions;
    words.insert(words.end(), {"--view", functions ? "functions" : std::string(view.name)});
  }
  if (!workspace.loader.empty() && workspace.document.open()) {
    words.insert(words.end(), {"--loader", workspace.loader});
  }
  if (workspace.view == ViewId::kSql && !workspace.sql.asked.empty()) {
    words.insert(words.end(), {"--sql", workspace.sql.asked});
  }
  if (workspace.document.timeline) AddPlace(workspace, &words);
  return traces::QuoteCommand(words);
}

}  // namespace penstock::gui
