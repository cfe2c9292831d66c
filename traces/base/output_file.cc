// SPDX-License-Identifier: Apache-2.0
//
// An output that appears under its name only when it is complete, and the names on the way there.
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <ctime>
#include <system_error>
#include <utility>
#include <vector>

#include "traces/base/file.h"

namespace penstock {
namespace {

constexpr unsigned kNoReplace = 1;  // RENAME_NOREPLACE of linux/fs.h
constexpr std::size_t kCopied = std::size_t{1} << 20;

std::string OutputError(int error) {
  return std::generic_category().message(error);
}

// Renames unless `to` exists. Returns 0 or errno.
int RenameToNew(const char* from, const char* to) {
  if (::syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, kNoReplace) == 0) return 0;
  if (errno != EINVAL && errno != ENOSYS) return errno;
  // This file system cannot do it in one step: add a second name, then remove the first.
  if (::link(from, to) == 0) return ::unlink(from) == 0 ? 0 : errno;
  if (errno == EEXIST) return EEXIST;
  struct stat there {};
  if (::lstat(to, &there) == 0) return EEXIST;
  return ::rename(from, to) == 0 ? 0 : errno;
}

// A new name is on disk when its folder is synced. Not every file system can sync a folder.
void SyncFolder(const std::filesystem::path& file) {
  const std::filesystem::path folder = file.has_parent_path() ? file.parent_path() : ".";
  const int fd = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) return;
  static_cast<void>(::fsync(fd));
  ::close(fd);
}

bool IsFolder(const std::filesystem::path& path) {
  struct stat info {};
  return ::stat(path.c_str(), &info) == 0 && S_ISDIR(info.st_mode);
}

}  // namespace

OutputFile::~OutputFile() {
  if (fd_ >= 0) {
    ::close(fd_);
  }
}

OutputFile::OutputFile(OutputFile&& other) noexcept {
  *this = std::move(other);
}

OutputFile& OutputFile::operator=(OutputFile&& other) noexcept {
  std::swap(fd_, other.fd_);
  std::swap(size_, other.size_);
  std::swap(started_, other.started_);
  std::swap(no_room_, other.no_room_);
  std::swap(final_, other.final_);
  std::swap(temporary_, other.temporary_);
  std::swap(suffix_, other.suffix_);
  std::swap(rules_, other.rules_);
  std::swap(note_, other.note_);
  return *this;
}

// Makes a new, locked file of that name. A file that a killed writer of ours left there is removed.
Result<OutputFile> OutputFile::CreateAt(const std::filesystem::path& temporary,
                                        const OutputRules& rules) {
  const auto fail = [&](const std::string& why) {
    return Fail(ErrorKind::kOutput,
                fmt::format("{}: {}; choose another name", temporary.string(), why));
  };
  OutputFile file;
  file.temporary_ = temporary;
  file.rules_ = rules;
  const mode_t mode = rules.private_to_owner ? 0600 : 0666;
  for (;;) {
    file.fd_ = ::open(temporary.c_str(),
                      O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, mode);
    if (file.fd_ < 0 && errno != EEXIST) {
      return Fail(ErrorKind::kOutput, fmt::format("{}: cannot be written: {}; choose another place",
                                                  temporary.string(), OutputError(errno)));
    }
    if (file.fd_ >= 0) {
      // On a file system without locks, the file counts as locked. Until it is locked, another
      // writer may take it for a leftover and remove it, so IsAt() looks whether it is still there.
      const bool locked = ::flock(file.fd_, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK;
      if (locked && file.IsAt(temporary)) return file;
      ::close(std::exchange(file.fd_, -1));
      continue;
    }
    const NameInUse there = LookAtName(temporary);
    if (const std::string why = there.WhyNot(); !why.empty()) return fail(why);
    if (!there.exists) continue;
    const Result<FileLock> lock = FileLock::Take(temporary);
    if (!lock && lock.error().kind == ErrorKind::kEnvironment) {
      return fail("is being written by another program");
    }
    if (lock && ::unlink(temporary.c_str()) != 0) return fail(OutputError(errno));
    if (!lock && LookAtName(temporary).exists) {
      return Fail(ErrorKind::kOutput, lock.error().message);
    }
  }
}

Result<OutputFile> OutputFile::Create(const std::filesystem::path& final_path,
                                      const std::string& suffix, OutputRules rules) {
  struct stat there {};
  if (::stat(final_path.c_str(), &there) == 0 && !S_ISREG(there.st_mode)) {
    return Fail(ErrorKind::kOutput,
                fmt::format("{}: is {} and would be replaced; give the name of a file",
                            final_path.string(), S_ISDIR(there.st_mode) ? "a folder" : "no file"));
  }
  std::filesystem::path temporary = final_path;
  temporary += suffix;
  Result<OutputFile> file = CreateAt(temporary, rules);
  if (file) {
    file->final_ = final_path;
    file->suffix_ = suffix;
  }
  return file;
}

bool OutputFile::IsAt(const std::filesystem::path& path) const {
  struct stat ours {};
  struct stat there {};
  return ::fstat(fd_, &ours) == 0 && ::lstat(path.c_str(), &there) == 0 &&
         ours.st_ino == there.st_ino && ours.st_dev == there.st_dev;
}

Result<void> OutputFile::Append(std::span<const std::byte> bytes) {
  std::size_t done = 0;
  while (done < bytes.size()) {
    const ssize_t wrote = ::write(fd_, bytes.data() + done, bytes.size() - done);
    if (wrote < 0 && errno == EINTR) {
      continue;
    }
    if (wrote <= 0) {
      const int error = wrote < 0 ? errno : ENOSPC;
      no_room_ = error == ENOSPC || error == EDQUOT;
      CutBack(size_);
      return Fail(ErrorKind::kOutput, fmt::format("{}: cannot be written: {}; free some space",
                                                  temporary_.string(), OutputError(error)));
    }
    done += static_cast<std::size_t>(wrote);
  }
  size_ += bytes.size();
  return {};
}

void OutputFile::CutBack(std::uint64_t size) {
  if (::ftruncate(fd_, static_cast<off_t>(size)) == 0) {
    size_ = size;
    started_ = std::min(started_, size);
  }
  // If the file cannot be cut, the next Append() overwrites what a failed one has left.
  ::lseek(fd_, static_cast<off_t>(size_), SEEK_SET);
}

void OutputFile::StartWriting() {
  if (size_ <= started_) return;
  static_cast<void>(::sync_file_range(fd_, static_cast<off_t>(started_),
                                      static_cast<off_t>(size_ - started_), SYNC_FILE_RANGE_WRITE));
  started_ = size_;
}

Result<MappedFile> OutputFile::Map() const {
  return MappedFile::FromDescriptor(fd_, temporary_.string());
}

// Returns 0 or errno.
int OutputFile::Rename() {
  const int error = RenameToNew(temporary_.c_str(), final_.c_str());
  if (error != EEXIST) return error;
  if (!rules_.may_replace || rules_.may_replace(final_)) {
    return ::rename(temporary_.c_str(), final_.c_str()) == 0 ? 0 : errno;
  }
  const std::filesystem::path other =
      rules_.otherwise.empty() ? FreshName(final_, std::time(nullptr)) : rules_.otherwise;
  const int again = RenameToNew(temporary_.c_str(), other.c_str());
  if (again != 0) return again;
  note_ += fmt::format("{}{} exists; what was written is in {}", note_.empty() ? "" : "; ",
                       final_.string(), other.string());
  final_ = other;
  return 0;
}

Result<void> OutputFile::Commit() {
  if (const Result<bool> kept = KeepName(); !kept) return tl::unexpected<Error>(kept.error());
  // If the file system or a system call filter does not allow fsync(), there is nothing to wait
  // for.
  const bool synced =
      !rules_.durable || ::fsync(fd_) == 0 || (errno != EIO && errno != ENOSPC && errno != EDQUOT);
  // A network file system reports write errors at close. The lock ends with the last descriptor, so
  // a copy of the descriptor keeps it until the new name exists.
  const int copy = synced ? ::dup(fd_) : -1;
  const bool closed = synced && (copy < 0 || ::close(copy) == 0);
  const int error = closed ? Rename() : errno;
  if (error != 0) {
    ::close(std::exchange(fd_, -1));
    return Fail(ErrorKind::kOutput,
                fmt::format("{}: cannot be given its final name: {}; it is complete as {}",
                            final_.string(), OutputError(error), temporary_.string()));
  }
  if (rules_.durable) SyncFolder(final_);
  ::close(std::exchange(fd_, -1));
  return {};
}

Result<void> OutputFile::TakePlaceOf(OutputFile& other) {
  const bool is_there = other.IsAt(other.temporary_);
  if (!is_there || ::rename(temporary_.c_str(), other.temporary_.c_str()) != 0) {
    return Fail(ErrorKind::kOutput,
                fmt::format("{}: cannot be replaced: {}", other.temporary_.string(),
                            is_there ? OutputError(errno) : "it was moved"));
  }
  temporary_ = other.temporary_;
  final_ = other.final_;
  suffix_ = other.suffix_;
  note_ = other.note_;
  ::close(std::exchange(other.fd_, -1));
  return {};
}

void OutputFile::Discard() {
  if (fd_ >= 0) {
    if (IsAt(temporary_)) ::unlink(temporary_.c_str());  // it is still ours while it is locked
    ::close(std::exchange(fd_, -1));
  }
}

Result<bool> OutputFile::KeepName() {
  if (fd_ < 0 || IsAt(temporary_)) return false;
  std::array<char, 4096> place{};
  const std::string link = fmt::format("/proc/self/fd/{}", fd_);
  const ssize_t size = ::readlink(link.c_str(), place.data(), place.size());
  const std::filesystem::path moved(place.data(), place.data() + std::max<ssize_t>(size, 0));
  if (moved.is_absolute() && IsAt(moved)) {
    note_ =
        fmt::format("{} was moved to {} while it was written", temporary_.string(), moved.string());
    final_ = moved.parent_path() / final_.filename();
    temporary_ = moved;
    return true;
  }
  PENSTOCK_TRY(WriteAgain());
  return true;
}

// Copies the contents, which the descriptor still has, into a new file: a file that has lost its
// name cannot be given another one.
Result<void> OutputFile::WriteAgain() {
  std::filesystem::path folder = final_.has_parent_path() ? final_.parent_path() : ".";
  const bool has_folder = IsFolder(folder);
  while (!IsFolder(folder) && folder.has_relative_path()) folder = folder.parent_path();
  if (folder.empty()) folder = ".";  // the nearest folder of a relative path
  std::error_code none;
  Result<OutputFile> copy = Fail(ErrorKind::kOutput, "no folder is left");
  for (const std::filesystem::path& place : {folder, std::filesystem::temp_directory_path(none)}) {
    if (place.empty() || (copy && copy->fd_ >= 0)) continue;
    std::filesystem::path name = place / final_.filename();
    // Another file that has the name now stays untouched. In another folder the name is always new.
    std::filesystem::path part = name;
    part += suffix_;
    if (!has_folder || place != folder || LookAtName(part).exists) {
      name = FreshName(name, std::time(nullptr));
    }
    part = name;
    part += suffix_;
    copy = CreateAt(part, rules_);
    if (!copy) continue;
    copy->final_ = name;
    copy->suffix_ = suffix_;
    if (const Result<void> copied = CopyTo(*copy); !copied) {
      copy->Discard();
      copy = tl::unexpected<Error>(copied.error());
    }
  }
  if (!copy) {
    return Fail(ErrorKind::kOutput, fmt::format("{} was removed while it was written: {}",
                                                temporary_.string(), copy.error().message));
  }
  copy->note_ =
      fmt::format("{} was removed or replaced while it was written; {}", temporary_.string(),
                  copy->final_ == final_ ? std::string("it was written again, whole")
                                         : "all of it is in " + copy->final_.string());
  *this = std::move(*copy);
  return {};
}

Result<void> OutputFile::CopyTo(OutputFile& copy) const {
  std::vector<std::byte> bytes(kCopied);
  for (std::uint64_t at = 0; at < size_;) {
    const auto want = static_cast<std::size_t>(std::min<std::uint64_t>(kCopied, size_ - at));
    const ssize_t got = ::pread(fd_, bytes.data(), want, static_cast<off_t>(at));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) {  // 0: another program has cut the file
      return Fail(ErrorKind::kOutput,
                  fmt::format("{}: cannot be read again: {}", temporary_.string(),
                              OutputError(got < 0 ? errno : EIO)));
    }
    const auto part = std::span(bytes).first(static_cast<std::size_t>(got));
    if (const Result<void> done = copy.Append(part); !done) return done;
    at += part.size();
  }
  return {};
}

Result<void> WriteWhole(const std::filesystem::path& path, std::span<const std::byte> bytes) {
  Result<OutputFile> file =
      OutputFile::Create(path, fmt::format(".{}.tmp", ::getpid()), {.private_to_owner = true});
  PENSTOCK_TRY(file);
  Result<void> done = file->Append(bytes);
  if (done) done = file->Commit();
  if (!done) file->Discard();
  return done;
}

}  // namespace penstock
