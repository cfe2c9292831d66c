// SPDX-License-Identifier: Apache-2.0
//
// Files: a read-only map, and an output that appears under its name only when it is complete.
// Each object owns its descriptor or map; not thread-safe, except that a MappedFile may be read
// from several threads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "traces/base/result.h"

namespace penstock {

// A whole file in memory. A file that is cut by another program while mapped raises SIGBUS on
// access, as with every map.
class MappedFile {
 public:
  MappedFile() = default;
  ~MappedFile();
  MappedFile(MappedFile&& other) noexcept;
  MappedFile& operator=(MappedFile&& other) noexcept;
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  // Errors: kInput if it is not a regular file or cannot be opened.
  static Result<MappedFile> Open(const std::filesystem::path& path);

  // The same face over memory that is given away.
  static MappedFile FromBytes(std::vector<std::byte> bytes);

  [[nodiscard]] std::span<const std::byte> bytes() const { return {data_, size_}; }
  // Gives back the memory of `part`, which is read from the file again when it is touched again.
  // Requires: `part` lies in bytes(), and nothing was written through writable().
  // Threads: others may read the same bytes meanwhile.
  void Release(std::span<const std::byte> part) const;
  // Makes it `size` bytes long in memory, zeros behind the file. False: no memory; it is as it was.
  // Requires: size >= bytes().size().
  [[nodiscard]] bool Grow(std::size_t size);
  // The same for RecordingDrain, which writes only in ring mode; the pages are private copies.
  [[nodiscard]] std::span<std::byte> writable() { return {data_, size_}; }

 private:
  std::byte* data_ = nullptr;
  std::size_t size_ = 0;
  std::vector<std::byte> owned_;  // empty: data_ is a map
};

// Writes `final_path` + `suffix` and renames it in Commit(). The file under the temporary name is
// locked (flock) as long as its writer lives, and changes or loses its name under that lock.
class OutputFile {
 public:
  OutputFile() = default;
  ~OutputFile();  // closes; without Commit() the temporary file stays unless Discard() was called
  OutputFile(OutputFile&& other) noexcept;
  OutputFile& operator=(OutputFile&& other) noexcept;
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  // Errors: kOutput; also if another program is writing it, and if what bears the name is no file:
  // a device or a folder would be replaced, /dev/null by root for the whole machine.
  static Result<OutputFile> Create(const std::filesystem::path& final_path,
                                   const std::string& suffix);
  // Appends all of `bytes`. Errors: kOutput; the file is then cut back to its former size.
  Result<void> Append(std::span<const std::byte> bytes);
  Result<void> Commit();
  void Discard();
  // Takes the temporary name of `other`, which is closed. Errors: kOutput; nothing has changed.
  Result<void> TakePlaceOf(OutputFile& other);

  // Forgets what lies behind the first `size` bytes. Requires: size <= size().
  void CutBack(std::uint64_t size);

  // The last Append() failed because the disk, or somebody's share of it, was full.
  [[nodiscard]] bool no_room() const { return no_room_; }
  [[nodiscard]] const std::filesystem::path& final_path() const { return final_; }
  [[nodiscard]] std::uint64_t size() const { return size_; }
  [[nodiscard]] const std::filesystem::path& temporary() const { return temporary_; }

 private:
  int fd_ = -1;
  std::uint64_t size_ = 0;
  bool no_room_ = false;
  std::filesystem::path final_;
  std::filesystem::path temporary_;
};

// Writes `bytes` as the whole of `path`, which appears when it is complete. Errors: kOutput.
[[nodiscard]] Result<void> WriteWhole(const std::filesystem::path& path,
                                      std::span<const std::byte> bytes);

// The lock of a file that nobody is writing, to keep it so.
class FileLock {
 public:
  FileLock(FileLock&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  FileLock& operator=(FileLock&&) = delete;
  FileLock(const FileLock&) = delete;
  FileLock& operator=(const FileLock&) = delete;
  ~FileLock();

  // Errors: kEnvironment if another program is writing it; kInput if it cannot be opened.
  static Result<FileLock> Take(const std::filesystem::path& path);

 private:
  FileLock() = default;
  int fd_ = -1;
};

}  // namespace penstock
