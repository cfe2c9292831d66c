// SPDX-License-Identifier: Apache-2.0
#include "traces/base/file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>
#include <utility>

namespace penstock {
namespace {

std::string ErrorText(int error) {
  return std::generic_category().message(error);
}

// Opens the file that lies at `path`, locked. -1: errno; EWOULDBLOCK: another program's.
int OpenLocked(const char* path, int flags) {
  for (;;) {
    const int fd = ::open(path, flags | O_CLOEXEC, 0666);
    if (fd < 0) {
      return -1;
    }
    if (::flock(fd, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
      ::close(fd);
      errno = EWOULDBLOCK;
      return -1;
    }
    // A file system without locks: then without. Between opening and locking the writer before us
    // may have renamed or removed the file: what we hold is not what lies there.
    struct stat ours {};
    struct stat there {};
    if (::fstat(fd, &ours) == 0 && ::stat(path, &there) == 0 && ours.st_ino == there.st_ino &&
        ours.st_dev == there.st_dev) {
      return fd;
    }
    ::close(fd);
  }
}

}  // namespace

MappedFile::~MappedFile() {
  if (data_ != nullptr && owned_.empty()) {
    ::munmap(data_, size_);
  }
}

MappedFile::MappedFile(MappedFile&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)),
      size_(std::exchange(other.size_, 0)),
      owned_(std::move(other.owned_)) {}

MappedFile& MappedFile::operator=(MappedFile&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(size_, other.size_);
  std::swap(owned_, other.owned_);
  return *this;
}

MappedFile MappedFile::FromBytes(std::vector<std::byte> bytes) {
  MappedFile file;
  file.owned_ = std::move(bytes);
  file.data_ = file.owned_.empty() ? nullptr : file.owned_.data();
  file.size_ = file.owned_.size();
  return file;
}

void MappedFile::Release(std::span<const std::byte> part) const {
  if (part.empty() || !owned_.empty()) {
    return;
  }
  static const auto kPage = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  const auto offset = static_cast<std::size_t>(part.data() - data_);
  const std::size_t from = offset / kPage * kPage;
  static_cast<void>(::madvise(data_ + from, offset + part.size() - from, MADV_DONTNEED));
}

bool MappedFile::Grow(std::size_t size) {
  if (!owned_.empty() || data_ == nullptr) {
    owned_.resize(size);
    data_ = owned_.empty() ? nullptr : owned_.data();
    size_ = size;
    return true;
  }
  void* room = ::mmap(nullptr, size, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (room == MAP_FAILED) {
    return false;
  }
  void* moved = ::mremap(data_, size_, size_, MREMAP_MAYMOVE | MREMAP_FIXED, room);
  if (moved == MAP_FAILED) {
    ::munmap(room, size);
    return false;
  }
  data_ = static_cast<std::byte*>(moved);
  size_ = size;
  return true;
}

Result<MappedFile> MappedFile::Open(const std::filesystem::path& path) {
  // O_NONBLOCK: a FIFO must not hang us; it is refused below.
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0) {
    return Fail(ErrorKind::kInput, fmt::format("{}: cannot be opened: {}; check the path",
                                               path.string(), ErrorText(errno)));
  }
  struct stat info {};
  const int status = ::fstat(fd, &info);
  MappedFile file;
  if (status != 0 || !S_ISREG(info.st_mode)) {
    ::close(fd);
    return Fail(ErrorKind::kInput,
                fmt::format("{}: is not a regular file; give a trace file", path.string()));
  }
  if (info.st_size > 0) {
    const auto size = static_cast<std::size_t>(info.st_size);
    void* map = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_NORESERVE, fd, 0);
    if (map == MAP_FAILED) {
      const int error = errno;
      ::close(fd);
      return Fail(ErrorKind::kInput,
                  fmt::format("{}: cannot be mapped: {}; copy it to a local disk", path.string(),
                              ErrorText(error)));
    }
    file.data_ = static_cast<std::byte*>(map);
    file.size_ = size;
  }
  ::close(fd);
  return file;
}

OutputFile::~OutputFile() {
  if (fd_ >= 0) {
    ::close(fd_);
  }
}

OutputFile::OutputFile(OutputFile&& other) noexcept
    : fd_(std::exchange(other.fd_, -1)),
      size_(other.size_),
      no_room_(other.no_room_),
      final_(std::move(other.final_)),
      temporary_(std::move(other.temporary_)) {}

OutputFile& OutputFile::operator=(OutputFile&& other) noexcept {
  std::swap(fd_, other.fd_);
  std::swap(size_, other.size_);
  std::swap(no_room_, other.no_room_);
  std::swap(final_, other.final_);
  std::swap(temporary_, other.temporary_);
  return *this;
}

Result<OutputFile> OutputFile::Create(const std::filesystem::path& final_path,
                                      const std::string& suffix) {
  struct stat there {};
  if (::stat(final_path.c_str(), &there) == 0 && !S_ISREG(there.st_mode)) {
    return Fail(ErrorKind::kOutput,
                fmt::format("{}: is {} and would be replaced; give the name of a file",
                            final_path.string(), S_ISDIR(there.st_mode) ? "a folder" : "no file"));
  }
  OutputFile file;
  file.final_ = final_path;
  file.temporary_ = final_path;
  file.temporary_ += suffix;
  file.fd_ = OpenLocked(file.temporary_.c_str(), O_RDWR | O_CREAT);
  if (file.fd_ < 0 && errno == EWOULDBLOCK) {
    return Fail(ErrorKind::kOutput,
                fmt::format("{}: is being written by another program; choose another name",
                            file.temporary_.string()));
  }
  if (file.fd_ < 0 || ::ftruncate(file.fd_, 0) != 0) {
    return Fail(ErrorKind::kOutput, fmt::format("{}: cannot be written: {}; choose another place",
                                                file.temporary_.string(), ErrorText(errno)));
  }
  return file;
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
                                                  temporary_.string(), ErrorText(error)));
    }
    done += static_cast<std::size_t>(wrote);
  }
  size_ += bytes.size();
  return {};
}

void OutputFile::CutBack(std::uint64_t size) {
  if (::ftruncate(fd_, static_cast<off_t>(size)) == 0) {
    ::lseek(fd_, static_cast<off_t>(size), SEEK_SET);
    size_ = size;
  }
}

Result<void> OutputFile::Commit() {
  // A network file system says at a close what it could not write. The lock goes with the last
  // descriptor, so after the new name is there.
  const int copy = ::dup(fd_);
  const bool closed = copy < 0 || ::close(copy) == 0;
  const bool renamed = closed && ::rename(temporary_.c_str(), final_.c_str()) == 0;
  const int error = errno;
  ::close(std::exchange(fd_, -1));
  if (!renamed) {
    return Fail(ErrorKind::kOutput,
                fmt::format("{}: cannot be given its final name: {}; it is complete as {}",
                            final_.string(), ErrorText(error), temporary_.string()));
  }
  return {};
}

Result<void> OutputFile::TakePlaceOf(OutputFile& other) {
  if (::rename(temporary_.c_str(), other.temporary_.c_str()) != 0) {
    return Fail(ErrorKind::kOutput, fmt::format("{}: cannot be replaced: {}",
                                                other.temporary_.string(), ErrorText(errno)));
  }
  temporary_ = other.temporary_;
  ::close(std::exchange(other.fd_, -1));
  return {};
}

void OutputFile::Discard() {
  if (fd_ >= 0) {
    ::unlink(temporary_.c_str());  // while it is locked: it is still ours
    ::close(std::exchange(fd_, -1));
  }
}

FileLock::~FileLock() {
  if (fd_ >= 0) {
    ::close(fd_);
  }
}

Result<FileLock> FileLock::Take(const std::filesystem::path& path) {
  FileLock lock;
  lock.fd_ = OpenLocked(path.c_str(), O_RDONLY);
  if (lock.fd_ < 0 && errno == EWOULDBLOCK) {
    return Fail(ErrorKind::kEnvironment,
                fmt::format("{}: is being written by another program", path.string()));
  }
  if (lock.fd_ < 0) {
    return Fail(ErrorKind::kInput,
                fmt::format("{}: cannot be read: {}", path.string(), ErrorText(errno)));
  }
  return lock;
}

Result<void> WriteWhole(const std::filesystem::path& path, std::span<const std::byte> bytes) {
  Result<OutputFile> file = OutputFile::Create(path, fmt::format(".{}.tmp", ::getpid()));
  if (!file) return tl::unexpected<Error>(file.error());
  Result<void> done = file->Append(bytes);
  if (done) done = file->Commit();
  if (!done) file->Discard();
  return done;
}

}  // namespace penstock
