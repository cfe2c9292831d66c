// SPDX-License-Identifier: Apache-2.0
//
// The memory between agents and collector: a recording in ring mode, created before the command
// starts. System V shared memory, which nobody can cut and which outlives the SIGKILL of everybody;
// elsewhere a file whose pages are all allocated beforehand, so that no store into it can raise
// SIGBUS unless its owner cuts it. An Arena owns its mapping, and its file or segment if it made
// one.
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
  Bytes buffer;                                   // whole size; made smaller if it must be
  bool use_segment = true;                        // System V shared memory
  std::filesystem::path shm_folder = "/dev/shm";  // used if there is plenty of room
  std::filesystem::path beside;                   // last resort: a file here
  bool use_memfd = true;
};

class Arena {
 public:
  // Tries, in this order: a segment, a file in shm_folder, a memfd reached through /proc/PID/fd of
  // this process, a file named `beside`. Each with `buffer` bytes first, then with less.
  // Errors: kEnvironment if nothing is left.
  [[nodiscard]] static Result<Arena> Create(const ArenaRequest& request, const Clock& clock);
  // Maps one that exists and is this user's. Errors: kInput.
  [[nodiscard]] static Result<Arena> Open(const std::string& path);

  Arena(Arena&& other) noexcept;
  Arena& operator=(Arena&& other) noexcept;
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;
  ~Arena();  // unmaps; the file stays until Unlink()

  [[nodiscard]] std::span<std::byte> memory() const { return memory_; }
  [[nodiscard]] wire::FileHeader& header() const;
  [[nodiscard]] wire::ChunkHeader& chunk(std::uint32_t index) const;
  // What goes into PENSTOCK_ARENA: a path, or "sysv:ID:UUID".
  [[nodiscard]] const std::string& path() const { return path_; }
  // It outlives us: whoever has path() can open it.
  [[nodiscard]] bool HasName() const { return unlink_; }
  // Takes its name away; processes that mapped it keep it.
  void Unlink();

 private:
  Arena() = default;
  static Result<Arena> Map(int fd, std::string path, bool unlink, std::size_t size);
  // A file of our own making: gone again if it cannot be mapped.
  static Result<Arena> MapNew(int fd, const std::string& path, std::size_t size);
  static Result<Arena> MakeSegment(std::size_t size);
  static Result<Arena> OpenSegment(const std::string& path);

  std::span<std::byte> memory_;
  std::string path_;
  bool unlink_ = false;
  int fd_ = -1;  // held open: agents come through a memfd's, and a file's carries a lock
  int segment_ = -1;
};

// Number of chunks that fit into `buffer`.
[[nodiscard]] std::uint32_t ChunksIn(Bytes buffer);

// Formats `memory` (zeros, a multiple of the chunk size behind the header) as an empty ring.
void FormatRing(std::span<std::byte> memory, const Clock& clock);

}  // namespace penstock::record
