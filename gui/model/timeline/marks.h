// SPDX-License-Identifier: Apache-2.0
//
// The marks that a person leaves in a trace: bookmarks, notes, pinned rows, folded processes. Each
// trace has a file for them beside the settings; the trace itself is not changed. The file is found
// by the identity of the trace, so it stays valid when the trace is moved or packed. Values; pure,
// except for loading and saving.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "gui/model/timeline/timeline_state.h"
#include "traces/base/result.h"

namespace penstock::gui {

// Times are on the clock of the recording (CLOCK_MONOTONIC), because the begin of a growing trace
// may move.
struct Marks {
  std::array<std::optional<TimeRange>, 9> bookmarks;
  std::vector<Note> notes;
  std::vector<Pin> pins;
  std::set<std::uint32_t> folded;  // pids; Row::kAllGroups
  bool operator==(const Marks&) const = default;

  [[nodiscard]] bool empty() const { return *this == Marks{}; }
};

[[nodiscard]] Marks MarksOf(const Timeline& timeline, const TimelineState& state);
// Adds the marks to a state that may already have marks. A bookmark that the state has stays.
void Restore(const Marks& marks, const Timeline& timeline, TimelineState& state);

// Reads lines "key=value"; unknown or wrong ones are skipped.
[[nodiscard]] Marks ParseMarks(const std::string& text);
[[nodiscard]] std::string MarksText(const Marks& marks);

// The name of the file for a trace: a hash of the host, its boot, the first process and the command
// of the run. If no process was recorded with its start, a hash of the path.
[[nodiscard]] std::string MarksName(const traces::Trace& trace, const std::filesystem::path& path);

// The folder of the files: $XDG_STATE_HOME/penstock/marks, else $HOME/.local/state/...; empty:
// none. `state` and `home` are the values of the variables, "" if unset.
[[nodiscard]] std::filesystem::path MarksFolder(const std::string& state, const std::string& home);

// The marks in a file; empty if there is no such file.
[[nodiscard]] Marks LoadMarks(const std::filesystem::path& path);
// Writes the file, or removes it if there are no marks. Errors: kOutput.
[[nodiscard]] Result<void> SaveMarks(const std::filesystem::path& path, const Marks& marks);

}  // namespace penstock::gui
