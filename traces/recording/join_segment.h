// SPDX-License-Identifier: Apache-2.0
//
// Joins a recording without a collector with the records that its processes have not written to the
// file yet. These lie in a System V shared memory segment of this host
// (wire::FileHeader::segment), even after all processes were killed. Functions; thread-safe.
#pragma once

#include <cstdint>
#include <filesystem>

#include "traces/base/file.h"
#include "traces/base/result.h"
#include "traces/wire.h"

namespace penstock::traces {

// Opens a file of any kind. An unfinished recording of this host and user includes the chunks of
// its segment in their places, and its newer header; it then counts as sealed. The file itself is
// not changed. Errors: those of MappedFile::Open().
[[nodiscard]] Result<MappedFile> OpenWithSegment(const std::filesystem::path& path);

enum class SegmentState : std::uint8_t {
  kNone,   // the recording has no segment or is finished, or the segment is not on this host
  kInUse,  // a process is attached to it
  kLeft,   // all processes have ended and left it
};
[[nodiscard]] SegmentState SegmentOf(const wire::FileHeader& header);

// Writes to the file what is only in its segment, and removes the segment. The file is locked
// meanwhile. Errors: kInput if it is not a recording with such a segment; kEnvironment if processes
// still write it; kOutput.
[[nodiscard]] Result<void> FinishFromSegment(const std::filesystem::path& path);

}  // namespace penstock::traces
