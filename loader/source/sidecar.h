// SPDX-License-Identifier: Apache-2.0
//
// An index that is kept beside the file that it describes, so that a second opening of the file
// need not read all of it. The index is written under another name and renamed. It is used only if
// its checksums are right and the described file still has the same size and modification time.
// Otherwise it is made anew.
//
//   header (80 bytes) | entries: count * entry size | names
//
// No state, so thread-safe.
#pragma once

#include <sys/stat.h>

#include <cstdint>
#include <filesystem>
#include <optional>

#include "loader/source/record_file.h"

namespace penstock::loader {

enum class SidecarKind : std::uint32_t {
  kList = 1,  // entry: offset of a line, 8 bytes; no names
  kTar = 2,   // entry: MemberEntry
};

// The file that an index describes, as it was when the index was made.
struct Described {
  SidecarKind kind{};
  std::uint64_t size = 0;
  std::int64_t mtime_ns = 0;

  static Described Of(SidecarKind kind, const struct stat& info);
  bool operator==(const Described&) const = default;
};

struct Sidecar {
  std::uint64_t count = 0;
  std::uint64_t classes = 0;
  FileRange entries;
  FileRange names;
};

// The path of the index: `file` + ".idx", or, if it goes into `index_folder`, a name made from the
// whole path.
[[nodiscard]] std::filesystem::path SidecarPath(const std::filesystem::path& file,
                                                const std::filesystem::path& index_folder);

// Opens an index. nullopt if there is none, or it is stale, damaged or of another version.
// Cost: one pass over its bytes for the checksum.
[[nodiscard]] std::optional<Sidecar> OpenSidecar(const std::filesystem::path& path,
                                                 const Described& described);

// Writes an index. False if that fails; the caller then goes on without a sidecar.
bool WriteSidecar(const std::filesystem::path& path, const Described& described,
                  const Sidecar& sidecar);

}  // namespace penstock::loader
