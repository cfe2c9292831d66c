// SPDX-License-Identifier: Apache-2.0
//
// Whether a trace is being written at this moment, and which file holds what there is of it.
// Functions; thread-safe.
#pragma once

#include <cstdint>
#include <filesystem>

namespace penstock::traces {

enum class LiveState : std::uint8_t {
  kComplete,  // nobody writes it any more
  kWriting,
  kDied,  // its collector is gone and never finished it: `penstock recover`
};

struct LiveFile {
  std::filesystem::path file;  // to be read; may be missing
  LiveState state = LiveState::kComplete;
};

// `path`: a trace that was asked for (T), the part of it that is on disk (T.part), or a recording
// written without a collector. A T.part that is being written goes before an older T.
// Writers of T.part are known by their lock; those of a recording by their processes, as far as
// they are in our pid namespace.
[[nodiscard]] LiveFile LookAt(const std::filesystem::path& path);

}  // namespace penstock::traces
