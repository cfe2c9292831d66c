// SPDX-License-Identifier: Apache-2.0
//
// Files: a read-only map, and an output that appears under its name only when it is complete
// (output_file.cc).
// Each object owns its descriptor or map; not thread-safe, except that a MappedFile may be read
// from several threads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <ctime>
#include <filesystem>
#include <functional>
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

  // Errors: kInput if it is not a regular file or cannot be opened; kEnvironment if the machine
  // lacks descriptors or memory for that, or the device fails.
  static Result<MappedFile> Open(const std::filesystem::path& path);
  // Maps an open one; `fd` stays the caller's. Errors: likewise; `name` is for them.
  static Result<MappedFile> FromDescriptor(int fd, const std::string& name);

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

// What lies at a name, seen without following a link and without waiting for a FIFO's other end.
struct NameInUse {
  bool exists = false;
  // It cannot be looked at, then it is taken to exist; or, of a file of ours, it cannot be read.
  bool is_hidden = false;
  bool is_link = false;
  bool is_file = false;     // a regular one
  bool is_ours = false;     // belongs to this user
  bool has_names = false;   // more than this one: hard links
  bool is_written = false;  // another program holds its lock
  std::uint64_t size = 0;
  std::vector<std::byte> head;  // its first bytes, if it can be read

  // It may be opened for writing, or removed: nobody else has put it there.
  [[nodiscard]] bool IsOursAlone() const { return is_file && is_ours && !has_names; }
  // "is a symbolic link", or what else keeps us from writing it; "" if nothing does.
  [[nodiscard]] std::string WhyNot() const;
};
[[nodiscard]] NameInUse LookAtName(const std::filesystem::path& path);

// "run.penstock" -> "run.20261124-130501-4711.penstock" of that moment and this process; a name
// that is not in use.
[[nodiscard]] std::filesystem::path FreshName(const std::filesystem::path& path, std::time_t when);

// How a file is written, and what becomes of one that bears its name already.
struct OutputRules {
  // For its owner alone (0600); else as the umask says.
  bool private_to_owner = false;
  // Commit() returns when contents and name are on the disk, not only in the page cache.
  bool durable = false;
  // Asked at Commit() about a file that bears the final name. Empty: it is replaced.
  std::function<bool(const std::filesystem::path&)> may_replace{};
  // The name that is taken where it must not be.
  std::filesystem::path otherwise{};
};

// Writes `final_path` + `suffix` and renames it in Commit(). The file under the temporary name is
// new: nothing that was there is opened for writing, no link is followed. It is locked (flock) as
// long as its writer lives, and changes or loses its name under that lock.
class OutputFile {
 public:
  OutputFile() = default;
  ~OutputFile();  // closes; without Commit() the temporary file stays unless Discard() was called
  OutputFile(OutputFile&& other) noexcept;
  OutputFile& operator=(OutputFile&& other) noexcept;
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  // Errors: kOutput; also if another program is writing it, if a link, a FIFO or another user's
  // file bears the temporary name, and if what bears the final name is no file: a device or a
  // folder would be replaced, /dev/null by root for the whole machine.
  static Result<OutputFile> Create(const std::filesystem::path& final_path,
                                   const std::string& suffix, OutputRules rules = {});
  // Appends all of `bytes`. Errors: kOutput; the file is then cut back to its former size.
  Result<void> Append(std::span<const std::byte> bytes);
  // Errors: kOutput; the file then bears its temporary name still.
  Result<void> Commit();
  void Discard();
  // Takes the temporary name of `other`, which is closed. Errors: kOutput; nothing has changed.
  Result<void> TakePlaceOf(OutputFile& other);

  // Sees to it that the file has a name: one that was moved is followed, one that was removed or
  // replaced is written again, in the nearest folder that is left. note() tells. True if something
  // had to be done. Errors: kOutput.
  Result<bool> KeepName();
  // Hands what was appended to the disk, without waiting for it.
  void StartWriting();
  // The contents, whatever has become of the name. Errors: kInput.
  [[nodiscard]] Result<MappedFile> Map() const;

  // Forgets what lies behind the first `size` bytes. Requires: size <= size().
  void CutBack(std::uint64_t size);

  // The last Append() failed because the disk, or somebody's share of it, was full.
  [[nodiscard]] bool no_room() const { return no_room_; }
  // Where Commit() puts it, or has put it.
  [[nodiscard]] const std::filesystem::path& final_path() const { return final_; }
  [[nodiscard]] std::uint64_t size() const { return size_; }
  [[nodiscard]] const std::filesystem::path& temporary() const { return temporary_; }
  [[nodiscard]] const std::string& suffix() const { return suffix_; }
  [[nodiscard]] const OutputRules& rules() const { return rules_; }
  // What was unexpected about the names, in one sentence; "" as a rule.
  [[nodiscard]] const std::string& note() const { return note_; }

 private:
  static Result<OutputFile> CreateAt(const std::filesystem::path& temporary,
                                     const OutputRules& rules);
  [[nodiscard]] bool IsAt(const std::filesystem::path& path) const;
  Result<void> WriteAgain();
  Result<void> CopyTo(OutputFile& copy) const;
  [[nodiscard]] int Rename();

  int fd_ = -1;
  std::uint64_t size_ = 0;
  std::uint64_t started_ = 0;  // so much of it was handed to the disk
  bool no_room_ = false;
  std::filesystem::path final_;
  std::filesystem::path temporary_;
  std::string suffix_;
  OutputRules rules_;
  std::string note_;
};

// Writes `bytes` as the whole of `path`, which appears when it is complete, for its owner alone.
// Errors: kOutput.
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

  // Errors: kEnvironment if another program is writing it; kInput if it cannot be opened, is a
  // link, no file, or another user's.
  static Result<FileLock> Take(const std::filesystem::path& path);

 private:
  FileLock() = default;
  int fd_ = -1;
};

}  // namespace penstock
