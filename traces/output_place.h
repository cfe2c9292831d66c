// SPDX-License-Identifier: Apache-2.0
//
// Where a new trace goes if its name is taken; an earlier recording is never lost. No state.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "traces/base/file.h"
#include "traces/base/result.h"

namespace penstock::traces {

// Whether the file begins like a packed trace or a recording.
[[nodiscard]] bool IsTrace(const NameInUse& name);

// Whether a finished trace may replace the file that has its name: an empty file of ours, with
// `force` also a finished trace of ours.
[[nodiscard]] bool MayBeReplaced(const std::filesystem::path& path, bool force);

// Renames `output`.part, which a killed writer left, its tail and its ring, so that `output` is
// free. Returns the name to give to `penstock recover`. Errors: kOutput.
[[nodiscard]] Result<std::filesystem::path> MoveAside(const std::filesystem::path& output);

// Removes each `output`.NUMBER.tmp of a process that was killed while it wrote `output`. A process
// that still writes such a file holds its lock, so that file stays.
void RemoveAbandoned(const std::filesystem::path& output);

struct OutputPlace {
  std::filesystem::path path;
  std::vector<std::string> notes;  // one line each: what was in the way, and what was done about it
};

// The name for a recording: `asked`, or a fresh one next to it. `force`: a trace of ours is
// replaced when the new one is complete. `named`: the user chose the name.
// Errors: kUsage if a file that is not a trace has the name; kOutput.
[[nodiscard]] Result<OutputPlace> PlaceFor(const std::filesystem::path& asked, bool force,
                                           bool named);

}  // namespace penstock::traces
