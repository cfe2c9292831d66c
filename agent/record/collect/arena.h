// SPDX-License-Identifier: Apache-2.0
//
// The ring between agents and collector, created before the command starts. It is System V shared
// memory, which nobody can make shorter, and which stays when all processes are killed. If there is
// no such memory, the ring is a file whose pages are all allocated beforehand. A store into the
// file can raise SIGBUS only if the file's owner makes it shorter. An Arena owns its mapping. Its
// file or segment stays until Unlink().
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <string>

#include "agent/record/sample/clock.h"
#include "traces/base/result.h"
#include "traces/base/units.h"
#include "traces/wire.h"

namespace penstock::record {

struct ArenaRequest {
  Bytes buffer;                                   // size of the ring; halved until there is room
  bool use_segment = true;                        // System V shared memory
  std::filesystem::path shm_folder = "/dev/shm";  // used if it has enough room
  std::filesystem::path beside;                   // last resort: a file here
  bool use_memfd = true;
};

class Arena {
 public:
  // Tries in this order: a segment, a file in shm_folder, a memfd that is reached through
  // /proc/PID/fd of this process, and a file named `beside`. If all of them fail, tries them again
  // with half the bytes.
  // Errors: kEnvironment if all fail with the smallest size too.
  [[nodiscard]] static Result<Arena> Create(const ArenaRequest& request, const Clock& clock);
  // Maps an existing ring of this user. Errors: kInput if there is no ring of that name;
  // kEnvironment if it exists but cannot be opened or mapped now.
  [[nodiscard]] static Result<Arena> Open(const std::string& path);

  Arena(Arena&& other) noexcept;
  Arena& operator=(Arena&& other) noexcept;
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;
  ~Arena();  // unmaps; the ring stays until Unlink()

  [[nodiscard]] std::span<std::byte> memory() const { return memory_; }
  [[nodiscard]] wire::FileHeader& header() const;
  [[nodiscard]] wire::ChunkHeader& chunk(std::uint32_t index) const;
  // The value of PENSTOCK_ARENA: a path, or "sysv:ID:HALF" (agent/core/segment.h).
  [[nodiscard]] const std::string& path() const { return path_; }
  // Whether the ring outlives this process, so that whoever has path() can open it.
  [[nodiscard]] bool HasName() const { return unlink_; }
  // Removes the ring's name. Processes that have mapped the ring keep it.
  void Unlink();

 private:
  Arena() = default;
  static Result<Arena> Map(int fd, std::string path, bool unlink, std::size_t size);
  // Maps a file that we have made. Removes it if it cannot be mapped.
  static Result<Arena> MapNew(int fd, const std::string& path, std::size_t size);
  static Result<Arena> MakeSegment(std::size_t size);
  static Result<Arena> OpenSegment(const std::string& path);

  std::span<std::byte> memory_;
  std::string path_;
  bool unlink_ = false;
  int fd_ = -1;  // kept open: agents reach a memfd through it, and it holds the lock of a file
  int segment_ = -1;
};

// Number of chunks that fit into `buffer`.
[[nodiscard]] std::uint32_t ChunksIn(Bytes buffer);

// Formats `memory` (zeros, a multiple of the chunk size behind the header) as an empty ring.
void FormatRing(std::span<std::byte> memory, const Clock& clock);

}  // namespace penstock::record
