// SPDX-License-Identifier: Apache-2.0
//
// Whether a trace is being written at this moment, and which file has its contents. Functions;
// thread-safe.
#pragma once

#include <cstdint>
#include <filesystem>

namespace penstock::traces {

enum class LiveState : std::uint8_t {
  kComplete,  // nobody writes it
  kWriting,
  kDied,  // its collector ended without finishing it: `penstock recover`
};

struct LiveFile {
  std::filesystem::path file;  // the file to read; it may be missing
  LiveState state = LiveState::kComplete;
};

// `path`: a trace (T), its unfinished part on disk (T.part), or a recording without a collector. A
// T.part that is being written takes precedence over an older T. A T.part is being written if its
// writer holds the lock. A recording is being written if one of its processes lives; processes of
// other pid namespaces cannot be seen.
[[nodiscard]] LiveFile LookAt(const std::filesystem::path& path);

}  // namespace penstock::traces
