// SPDX-License-Identifier: Apache-2.0
//
// Where a new trace goes if its name is taken: what was recorded before is never lost. No state.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "traces/base/file.h"
#include "traces/base/result.h"

namespace penstock::traces {

// Begins as a packed trace or a recording does.
[[nodiscard]] bool IsTrace(const NameInUse& name);

// What may bear the name of a trace when that is finished, and be replaced: an empty file of ours,
// with `force` also a trace of ours.
[[nodiscard]] bool MayBeReplaced(const std::filesystem::path& path, bool force);

// Renames `output`.part, which a killed writer has left, so that `output` is free; the ring beside
// it comes along. Returns what `penstock recover` is given then. Errors: kOutput.
[[nodiscard]] Result<std::filesystem::path> MoveAside(const std::filesystem::path& output);

// Removes `output`.PID.tmp of processes that were killed while they wrote `output`. Whoever still
// writes one holds its lock.
void RemoveAbandoned(const std::filesystem::path& output);

struct OutputPlace {
  std::filesystem::path path;
  std::vector<std::string> notes;  // one line each: what was in the way, and what became of it
};

// The name for a recording that was asked to be `asked`, or a fresh one beside it. `force`: a trace
// of ours is replaced when the new one is complete. `named`: the user chose the name.
// Errors: kUsage: a file that is no trace bears it; kOutput.
[[nodiscard]] Result<OutputPlace> PlaceFor(const std::filesystem::path& asked, bool force,
                                           bool named);

}  // namespace penstock::traces
