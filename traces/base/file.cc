// SPDX-License-Identifier: Apache-2.0
#include "traces/base/file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <system_error>
#include <utility>

namespace penstock {
namespace {

std::string ErrorText(int error) {
  return std::generic_category().message(error);
}

constexpr std::size_t kHead = 64;

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

namespace {

// If the machine lacks descriptors or memory, or a device fails, the file itself may be fine.
ErrorKind KindOf(int error) {
  const bool lacking = error == EMFILE || error == ENFILE || error == ENOMEM || error == EIO;
  return lacking ? ErrorKind::kEnvironment : ErrorKind::kInput;
}

}  // namespace

Result<MappedFile> MappedFile::Open(const std::filesystem::path& path) {
  // O_NONBLOCK, so that a FIFO does not block us; it is refused below.
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0) {
    const int error = errno;
    return Fail(KindOf(error), fmt::format("{}: cannot be opened: {}; check the path",
                                           path.string(), ErrorText(error)));
  }
  Result<MappedFile> file = FromDescriptor(fd, path.string());
  ::close(fd);
  return file;
}

Result<MappedFile> MappedFile::FromDescriptor(int fd, const std::string& name) {
  struct stat info {};
  const int status = ::fstat(fd, &info);
  MappedFile file;
  if (status != 0 || !S_ISREG(info.st_mode)) {
    return Fail(ErrorKind::kInput,
                fmt::format("{}: is not a regular file; give a trace file", name));
  }
  if (info.st_size > 0) {
    const auto size = static_cast<std::size_t>(info.st_size);
    void* map = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_NORESERVE, fd, 0);
    if (map == MAP_FAILED) {
      const int error = errno;
      return Fail(KindOf(error), fmt::format("{}: cannot be mapped: {}; copy it to a local disk",
                                             name, ErrorText(error)));
    }
    file.data_ = static_cast<std::byte*>(map);
    file.size_ = size;
  }
  return file;
}

std::string NameInUse::WhyNot() const {
  if (!exists) return "";
  if (is_hidden && !is_file) return "cannot be looked at";
  if (is_link) return "is a symbolic link";
  if (!is_file) return "is no file";
  if (!is_ours) return "belongs to another user";
  if (has_names) return "has another name too (a hard link)";
  if (is_hidden) return "cannot be read";
  return is_written ? "is being written by another program" : "";
}

NameInUse LookAtName(const std::filesystem::path& path) {
  NameInUse name;
  struct stat info {};
  if (::lstat(path.c_str(), &info) != 0) {
    name.exists = name.is_hidden = errno != ENOENT && errno != ENOTDIR;
    return name;
  }
  name.exists = true;
  name.is_link = S_ISLNK(info.st_mode);
  name.is_file = S_ISREG(info.st_mode);
  name.is_ours = info.st_uid == ::geteuid();
  name.has_names = name.is_file && info.st_nlink > 1;
  name.size = static_cast<std::uint64_t>(info.st_size);
  if (!name.is_file) return name;
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
  struct stat opened {};
  ssize_t got = -1;
  if (fd >= 0 && ::fstat(fd, &opened) == 0 && opened.st_ino == info.st_ino &&
      opened.st_dev == info.st_dev) {
    if (::flock(fd, LOCK_SH | LOCK_NB) != 0) name.is_written = errno == EWOULDBLOCK;
    name.head.resize(kHead);
    do {
      got = ::pread(fd, name.head.data(), kHead, 0);
    } while (got < 0 && errno == EINTR);
    name.head.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
  }
  name.is_hidden = got < 0;
  if (fd >= 0) ::close(fd);
  return name;
}

std::filesystem::path FreshName(const std::filesystem::path& path, std::time_t when) {
  std::tm local{};
  ::localtime_r(&when, &local);
  std::array<char, 32> stamp{};
  std::strftime(stamp.data(), stamp.size(), "%Y%m%d-%H%M%S", &local);
  struct stat info {};
  for (int i = 1;; ++i) {
    std::filesystem::path fresh = path;
    fresh.replace_filename(fmt::format("{}.{}-{}{}{}", path.stem().string(), stamp.data(),
                                       ::getpid(), i > 1 ? fmt::format("-{}", i) : "",
                                       path.extension().string()));
    std::filesystem::path part = fresh;
    part += ".part";
    if (::lstat(fresh.c_str(), &info) != 0 && ::lstat(part.c_str(), &info) != 0) return fresh;
  }
}

namespace {

// Locks a file that is open for reading. Returns 0 or errno. NFS refuses an exclusive lock to such
// a descriptor (flock(2)). A shared lock also tells whether the file has a writer.
int LockForReader(int fd) {
  if (::flock(fd, LOCK_EX | LOCK_NB) == 0) return 0;
  if (errno != EBADF) return errno;
  return ::flock(fd, LOCK_SH | LOCK_NB) == 0 ? 0 : errno;
}

}  // namespace

FileLock::~FileLock() {
  if (fd_ >= 0) {
    ::close(fd_);
  }
}

Result<FileLock> FileLock::Take(const std::filesystem::path& path) {
  FileLock lock;
  for (int tries = 0;;) {
    const NameInUse name = LookAtName(path);
    if (name.exists && !name.IsOursAlone()) {
      return Fail(ErrorKind::kInput, fmt::format("{}: {}", path.string(), name.WhyNot()));
    }
    lock.fd_ = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (lock.fd_ < 0) {
      return Fail(ErrorKind::kInput,
                  fmt::format("{}: cannot be read: {}", path.string(), ErrorText(errno)));
    }
    // On a file system without locks, the file counts as locked. LookAtName() in another program
    // holds the lock for microseconds, so there are some tries.
    if (LockForReader(lock.fd_) == EWOULDBLOCK) {
      if (++tries < 4) {
        ::close(std::exchange(lock.fd_, -1));
        ::usleep(500);
        continue;
      }
      return Fail(ErrorKind::kEnvironment,
                  fmt::format("{}: is being written by another program", path.string()));
    }
    // The file may have been renamed or removed meanwhile by its writer. Then the name refers to
    // something else.
    struct stat ours {};
    struct stat there {};
    if (::fstat(lock.fd_, &ours) == 0 && ::lstat(path.c_str(), &there) == 0 &&
        ours.st_ino == there.st_ino && ours.st_dev == there.st_dev && ours.st_uid == ::geteuid() &&
        S_ISREG(ours.st_mode)) {
      return lock;
    }
    ::close(std::exchange(lock.fd_, -1));
  }
}

}  // namespace penstock
