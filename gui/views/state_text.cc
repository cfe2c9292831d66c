// SPDX-License-Identifier: Apache-2.0
#include "gui/views/state_text.h"

#include <algorithm>

#include <fmt/core.h>

namespace penstock::gui {
namespace {

class Fields {
 public:
  void Add(std::string_view name, const std::string& value) {
    text_ += fmt::format("{}\"{}\": {}", text_.empty() ? "" : ", ", name, value);
  }
  void Add(std::string_view name, bool value) { Add(name, std::string(value ? "true" : "false")); }
  void Add(std::string_view name, std::int64_t value) { Add(name, std::to_string(value)); }
  [[nodiscard]] std::string text() const { return "{" + text_ + "}"; }

 private:
  std::string text_;
};

// The text as a JSON string. Characters that would need escapes are left out; a search may hold any
// text.
std::string Quoted(std::string_view text) {
  std::string quoted = "\"";
  for (const char c : text) {
    if (c >= ' ' && c != '"' && c != '\\') quoted += c;
  }
  return quoted + "\"";
}

template <class Container>
std::int64_t Size(const Container& container) {
  return static_cast<std::int64_t>(container.size());
}

}  // namespace

std::string StateText(const Workspace& workspace) {
  const TimelineState& state = workspace.timeline;
  const Document& document = workspace.document;
  const TimeRange visible = state.view.range();
  Fields fields;
  for (const ViewInfo& view : kViews) {
    if (view.id == workspace.view) fields.Add("view", Quoted(view.name));
  }
  fields.Add("open", document.open());
  fields.Add("timeline", document.timeline != nullptr);
  fields.Add("analysis", document.analysis != nullptr);
  fields.Add("spans", document.timeline ? static_cast<std::int64_t>(document.timeline->spans) : 0);
  fields.Add("from", visible.from);
  fields.Add("to", visible.to);
  fields.Add("length", state.view.trace_length());
  fields.Add("selection", state.selection
                              ? fmt::format("[{}, {}]", state.selection->from, state.selection->to)
                              : "null");
  fields.Add("part", workspace.part != nullptr);
  fields.Add("functions", workspace.functions);
  fields.Add("span", state.span ? fmt::format("[{}, {}, {}]", state.span->lane, state.span->level,
                                              state.span->index)
                                : "null");
  const bool known = state.span && document.timeline;
  fields.Add("stage",
             known ? Quoted(traces::StageName(document.timeline->stage(*state.span))) : "null");
  const auto worker = workspace.ChosenWorker();
  fields.Add("worker", worker ? std::to_string(*worker) : "null");
  const auto& row = workspace.stages.chosen;
  fields.Add("row", row ? Quoted(traces::StageName(row->stage)) : "null");
  fields.Add("folded", Size(state.folded));
  fields.Add("pins", Size(state.pins));
  fields.Add("notes", Size(state.notes));
  fields.Add("marks", state.marks_open);
  fields.Add("bookmarks", static_cast<std::int64_t>(
                              std::count_if(state.bookmarks.begin(), state.bookmarks.end(),
                                            [](const auto& mark) { return mark.has_value(); })));
  fields.Add("hidden", static_cast<std::int64_t>(state.hidden_stages));
  fields.Add("scroll", static_cast<std::int64_t>(state.scroll));
  fields.Add("search", Quoted(workspace.search.text));
  fields.Add("hits", workspace.search.found ? Size(workspace.search.found->hits()) : 0);
  fields.Add("hit", static_cast<std::int64_t>(workspace.search.hit));
  fields.Add("panel_hidden", state.panel_hidden);
  fields.Add("help", workspace.help);
  return fields.text();
}

}  // namespace penstock::gui
