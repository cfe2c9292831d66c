// SPDX-License-Identifier: Apache-2.0
//
// A recording without a collector, and what its processes have not written to it yet: that lies in
// a System V shared memory segment of this host (wire::FileHeader::segment), also after all of them
// were killed. Functions; thread-safe.
#pragma once

#include <cstdint>
#include <filesystem>

#include "traces/base/file.h"
#include "traces/base/result.h"
#include "traces/wire.h"

namespace penstock::traces {

// Opens a file of any kind. An unfinished recording of this host and user comes with the chunks of
// its segment in their places, and with its header; it then counts as sealed. The file itself is
// not changed. Errors: those of MappedFile::Open().
[[nodiscard]] Result<MappedFile> OpenWithSegment(const std::filesystem::path& path);

enum class SegmentState : std::uint8_t {
  kNone,   // the recording has none, is finished, or it is not to be had here
  kInUse,  // a process has it attached
  kLeft,   // all processes have gone and left it
};
[[nodiscard]] SegmentState SegmentOf(const wire::FileHeader& header);

// Writes what was left in the segment to the file and removes the segment. The file is locked
// meanwhile. Errors: kInput if it is no recording with a segment that is left; kEnvironment if
// processes still write it; kOutput.
[[nodiscard]] Result<void> FinishFromSegment(const std::filesystem::path& path);

}  // namespace penstock::traces
