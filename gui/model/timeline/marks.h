// SPDX-License-Identifier: Apache-2.0
//
// What a person leaves in a trace: bookmarks, notes, pinned rows, folded processes. Kept in a file
// of its own for each trace, beside the settings and never in the trace; found again by what the
// trace is, wherever it lies and whether it is packed yet. Values; pure, but for loading and
// saving.
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

// Times are on the clock of the recording (CLOCK_MONOTONIC): a trace that grows may begin earlier.
struct Marks {
  std::array<std::optional<TimeRange>, 9> bookmarks;
  std::vector<Note> notes;
  std::vector<Pin> pins;
  std::set<std::uint32_t> folded;  // pids; Row::kAllGroups
  bool operator==(const Marks&) const = default;

  [[nodiscard]] bool empty() const { return *this == Marks{}; }
};

[[nodiscard]] Marks MarksOf(const Timeline& timeline, const TimelineState& state);
// Into a state that may have some of its own already: a bookmark that is set stays.
void Restore(const Marks& marks, const Timeline& timeline, TimelineState& state);

// A text of "key=value" lines; what is unknown or wrong in it is passed over.
[[nodiscard]] Marks ParseMarks(const std::string& text);
[[nodiscard]] std::string MarksText(const Marks& marks);

// The name of the file for a trace: by the machine's boot and the first process of the run; where
// those were not recorded, by its path.
[[nodiscard]] std::string MarksName(const traces::Trace& trace, const std::filesystem::path& path);

// The folder: $XDG_STATE_HOME/penstock/marks, else $HOME/.local/state/...; empty: nowhere. `state`
// and `home` are the values of the variables, "" if unset.
[[nodiscard]] std::filesystem::path MarksFolder(const std::string& state, const std::string& home);

// Empty where there is no such file.
[[nodiscard]] Marks LoadMarks(const std::filesystem::path& path);
// Without marks there is no file. Errors: kOutput.
[[nodiscard]] Result<void> SaveMarks(const std::filesystem::path& path, const Marks& marks);

}  // namespace penstock::gui
