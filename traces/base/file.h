// SPDX-License-Identifier: Apache-2.0
//
// Files: a read-only map, and an output that appears under its name only when it is complete
// (output_file.cc). Each object owns its descriptor or map. Not thread-safe, except that several
// threads may read a MappedFile.
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

// A whole file in memory. If another program cuts the file while it is mapped, access raises
// SIGBUS, as with every map.
class MappedFile {
 public:
  MappedFile() = default;
  ~MappedFile();
  MappedFile(MappedFile&& other) noexcept;
  MappedFile& operator=(MappedFile&& other) noexcept;
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  // Errors: kInput if it is not a regular file or cannot be opened; kEnvironment if the machine
  //         lacks descriptors or memory for it, or if the device fails.
  static Result<MappedFile> Open(const std::filesystem::path& path);
  // Maps an open file; the caller keeps `fd`. `name` is for errors. Errors: as Open().
  static Result<MappedFile> FromDescriptor(int fd, const std::string& name);

  // The same interface over memory that is handed over.
  static MappedFile FromBytes(std::vector<std::byte> bytes);

  [[nodiscard]] std::span<const std::byte> bytes() const { return {data_, size_}; }
  // Frees the memory of `part`, unless FromBytes() got it. Its bytes are read from the file again
  // at the next access. Requires: `part` lies in bytes(), and nothing was written through
  // writable(). Threads: others may read the same bytes meanwhile.
  void Release(std::span<const std::byte> part) const;
  // Makes bytes() `size` bytes long, with zeros after the end of the file. Returns false, and
  // changes nothing, if there is no place for a larger map. Requires: size >= bytes().size().
  [[nodiscard]] bool Grow(std::size_t size);
  // The same bytes for RecordingDrain, which writes to them only in ring mode. The pages are
  // private copies.
  [[nodiscard]] std::span<std::byte> writable() { return {data_, size_}; }

 private:
  std::byte* data_ = nullptr;
  std::size_t size_ = 0;
  std::vector<std::byte> owned_;  // empty: data_ is a map
};

// What a name refers to, without following a link and without waiting for the other end of a FIFO.
struct NameInUse {
  bool exists = false;
  // The name cannot be inspected (it then counts as existing), or its file cannot be read.
  bool is_hidden = false;
  bool is_link = false;
  bool is_file = false;     // a regular file
  bool is_ours = false;     // belongs to this user
  bool has_names = false;   // it has further names: hard links
  bool is_written = false;  // another program holds its lock
  std::uint64_t size = 0;
  std::vector<std::byte> head;  // its first bytes, if it can be read

  // Whether it may be opened for writing, or removed: nobody else has put it there.
  [[nodiscard]] bool IsOursAlone() const { return is_file && is_ours && !has_names; }
  // Why we cannot write it, such as "is a symbolic link"; "" if we can.
  [[nodiscard]] std::string WhyNot() const;
};
[[nodiscard]] NameInUse LookAtName(const std::filesystem::path& path);

// "run.penstock" -> "run.20261124-130501-4711.penstock": a name that is not in use, with the time
// `when` and the id of this process.
[[nodiscard]] std::filesystem::path FreshName(const std::filesystem::path& path, std::time_t when);

// How a file is written, and what happens to a file that has its name already.
struct OutputRules {
  // Only the owner may access it (0600); otherwise the umask decides.
  bool private_to_owner = false;
  // Commit() returns when contents and name are on the disk, not only in the page cache.
  bool durable = false;
  // Called at Commit() with a file that has the final name: may it be replaced? If empty, it is.
  std::function<bool(const std::filesystem::path&)> may_replace{};
  // The name to take instead if it may not.
  std::filesystem::path otherwise{};
};

// Writes `final_path` + `suffix`, and renames it in Commit(). The file under the temporary name is
// new: no existing file is opened for writing, and no link is followed. The file is locked (flock)
// while its writer lives, and it changes or loses its name under that lock.
class OutputFile {
 public:
  OutputFile() = default;
  ~OutputFile();  // closes; without Commit() the temporary file stays unless Discard() was called
  OutputFile(OutputFile&& other) noexcept;
  OutputFile& operator=(OutputFile&& other) noexcept;
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  // Errors: kOutput. Also if another program is writing the file; if a link, a FIFO or another
  //         user's file has the temporary name; and if a folder, FIFO or device has the final name,
  //         because root would replace a device such as /dev/null for the whole machine.
  static Result<OutputFile> Create(const std::filesystem::path& final_path,
                                   const std::string& suffix, OutputRules rules = {});
  // Appends all of `bytes`. Errors: kOutput; the file then has its former size.
  Result<void> Append(std::span<const std::byte> bytes);
  // Gives the file its final name. Errors: kOutput; the file then still has its temporary name, and
  // Discard() does not remove it any more.
  Result<void> Commit();
  // Removes the temporary file.
  void Discard();
  // Takes the temporary name of `other`, which is closed. Errors: kOutput; then nothing has
  // changed.
  Result<void> TakePlaceOf(OutputFile& other);

  // Makes sure that the file has a name. A file that was moved keeps its new name; one that was
  // removed or replaced is written again, in the nearest folder that still exists. note() says so.
  // Returns true if something had to be done. Errors: kOutput.
  Result<bool> KeepName();
  // Passes what was appended to the disk, without waiting for it.
  void StartWriting();
  // Maps the contents, whatever has happened to the name. Errors: kInput.
  [[nodiscard]] Result<MappedFile> Map() const;

  // Removes what lies after the first `size` bytes. If that fails, size() stays as it is.
  // Requires: size <= size().
  void CutBack(std::uint64_t size);

  // Whether the last Append() that failed did so because the disk, or a quota, was full.
  [[nodiscard]] bool no_room() const { return no_room_; }
  // The name that Commit() gives, or has given, to the file.
  [[nodiscard]] const std::filesystem::path& final_path() const { return final_; }
  [[nodiscard]] std::uint64_t size() const { return size_; }
  [[nodiscard]] const std::filesystem::path& temporary() const { return temporary_; }
  [[nodiscard]] const std::string& suffix() const { return suffix_; }
  [[nodiscard]] const OutputRules& rules() const { return rules_; }
  // What was unexpected about the names, in one sentence; usually "".
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
  std::uint64_t started_ = 0;  // bytes that were passed to the disk
  bool no_room_ = false;
  std::filesystem::path final_;
  std::filesystem::path temporary_;
  std::string suffix_;
  OutputRules rules_;
  std::string note_;
};

// Writes `bytes` as the whole of `path`, readable only for its owner. The file appears when it is
// complete. Errors: kOutput.
[[nodiscard]] Result<void> WriteWhole(const std::filesystem::path& path,
                                      std::span<const std::byte> bytes);

// Locks a file that no program is writing, so that none begins to write it. On NFS two programs may
// hold this lock at the same time, but none can hold it while a writer has the file.
class FileLock {
 public:
  FileLock(FileLock&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  FileLock& operator=(FileLock&&) = delete;
  FileLock(const FileLock&) = delete;
  FileLock& operator=(const FileLock&) = delete;
  ~FileLock();

  // Errors: kEnvironment if another program is writing it; kInput if it cannot be opened, is a
  //         link, is not a file, or belongs to another user.
  static Result<FileLock> Take(const std::filesystem::path& path);

 private:
  FileLock() = default;
  int fd_ = -1;
};

}  // namespace penstock
