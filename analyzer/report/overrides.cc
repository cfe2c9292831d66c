// SPDX-License-Identifier: Apache-2.0
#include "analyzer/report/overrides.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "analyzer/model/host.h"
#include "analyzer/words/report.h"

namespace penstock::analyzer {
namespace {

// The first value among the facts of the run and of its processes.
std::string FactOfAny(const traces::Trace& trace, const std::string& key) {
  std::string value = TextFact(trace.facts(), key);
  for (const traces::ProcessInfo& process : trace.processes()) {
    if (!value.empty()) break;
    value = TextFact(process.facts, key);
  }
  return value;
}

OverrideNote NoteOf(const traces::Trace& trace, std::string change) {
  OverrideNote note;
  const std::string key = change.substr(0, change.find('='));
  note.change = std::move(change);
  note.found = FactOfAny(trace, "override.lost." + key);
  if (key == "malloc" && note.found.empty()) {
    // The preloaded allocator serves malloc() unless the program has an allocator of its own. In
    // that case the override did not hold.
    const std::string wanted = note.change.substr(std::min(key.size() + 1, note.change.size()));
    const std::string served = FactOfAny(trace, "allocator");
    if (wanted != "keep" && !served.empty() && served != wanted) note.found = served;
  }
  if (!note.found.empty()) {
    note.state = OverrideState::kLost;
  } else if (FactOfAny(trace, "override." + key).empty()) {
    note.state = OverrideState::kUnused;
  }
  return note;
}

}  // namespace

std::vector<OverrideNote> Overrides(const traces::Trace& trace) {
  std::vector<OverrideNote> notes;
  const std::string text = TextFact(trace.facts(), "record.override");
  for (std::size_t at = 0; at < text.size();) {
    const auto comma = std::min(text.find(',', at), text.size());
    notes.push_back(NoteOf(trace, text.substr(at, comma - at)));
    at = comma + 1;
  }
  const std::string stage = TextFact(trace.facts(), "record.stage");
  if (!stage.empty()) {
    OverrideNote note;
    note.change = "stage " + stage;
    const std::string trouble = TextFact(trace.facts(), "stage.trouble");
    if (!trouble.empty()) {
      note.state = OverrideState::kLost;
      note.found = trouble;
    } else if (TextFact(trace.facts(), "stage.files").empty() ||
               TextFact(trace.facts(), "stage.used") == "0") {
      note.state = OverrideState::kUnused;
    }
    notes.push_back(std::move(note));
  }
  return notes;
}

Statement OverridesSaid(const std::vector<OverrideNote>& notes) {
  if (notes.empty()) return {};
  std::string held, lost, unused;
  const auto add = [](std::string& list, const std::string& one) {
    list += (list.empty() ? "" : ", ") + one;
  };
  for (const OverrideNote& note : notes) {
    if (note.state == OverrideState::kHeld) add(held, note.change);
    if (note.state == OverrideState::kUnused) add(unused, note.change);
    if (note.state == OverrideState::kLost) add(lost, note.change + " (" + note.found + ")");
  }
  const auto some = [](std::string text) {
    return text.empty() ? std::nullopt : std::optional(std::move(text));
  };
  return Say<words::kOverrides>(Give<"held">(some(held)), Give<"lost">(some(lost)),
                                Give<"unused">(some(unused)));
}

}  // namespace penstock::analyzer
