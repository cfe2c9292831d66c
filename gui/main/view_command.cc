// SPDX-License-Identifier: Apache-2.0
#include "gui/main/view_command.h"

#include <algorithm>
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

void AddPlace(const Workspace& workspace, std::vector<std::string>* words) {
  const Timeline& timeline = *workspace.document.timeline;
  const TimelineState& state = workspace.timeline;
  if (workspace.view != ViewId::kTimeline) {
    // Of the place in the timeline, the other views show only the selected interval.
    if (!ObeysRange(workspace.view)) return;
    if (const auto range = workspace.Range()) {
      words->insert(words->end(), {"--at", TimesText(*range)});
    }
    return;
  }
  const TimeRange visible = state.view.range();
  const TimeRange inside{std::max<std::int64_t>(visible.from, 0),
                         std::min(visible.to, timeline.length)};
  if (!inside.empty() && inside != TimeRange{0, timeline.length}) {
    words->insert(words->end(), {"--at", TimesText(inside)});
  }
  Place selected = SelectedIn(timeline, state);
  if (state.span && (timeline.start(*state.span) > inside.to ||
                     timeline.end(*state.span) < inside.from)) {  // it has scrolled out of sight
    const Times range = selected.range;
    selected = Place();
    selected.range = range;
  }
  if (!selected.NamesSpan()) selected.stage = StageOfWord(Lowered(workspace.search.text));
  for (const std::string& word : SelectedWords(selected)) {
    words->insert(words->end(), {"--select", word});
  }
}

}  // namespace

std::string ViewCommand(const Workspace& workspace) {
  std::vector<std::string> words = {"penstock", "gui"};
  const bool sweep = workspace.view == ViewId::kSweep;
  const Document& other = workspace.compare.other;
  if (workspace.document.open()) words.push_back(Absolute(workspace.document.path));
  if (workspace.view == ViewId::kCompare && other.open()) words.push_back(Absolute(other.path));
  if (sweep && workspace.sweep.file) words.push_back(Absolute(workspace.sweep.file->path));
  if (words.size() == 2) return "";
  for (const ViewInfo& view : kViews) {
    if (view.id != workspace.view) continue;
    const bool functions = view.id == ViewId::kStages && workspace.functions;
    words.insert(words.end(), {"--view", functions ? "functions" : std::string(view.name)});
  }
  if (workspace.document.timeline) AddPlace(workspace, &words);
  return traces::QuoteCommand(words);
}

}  // namespace penstock::gui
