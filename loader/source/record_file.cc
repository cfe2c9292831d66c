// SPDX-License-Identifier: Apache-2.0
#include "loader/source/record_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "traces/base/xxh64.h"

namespace penstock::loader {
namespace {

constexpr std::size_t kBuffer = 256 << 10;
constexpr std::size_t kChecksumChunk = 64 << 10;  // part of the formats, so it never changes

int OpenNameless(const std::filesystem::path& folder) {
  if (folder.empty()) {
    return -1;
  }
  const int fd = ::open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
  if (fd >= 0) {
    return fd;
  }
  // NFS, and overlayfs of old kernels, have no O_TMPFILE.
  std::string name = (folder / ".penstock-index-XXXXXX").string();
  const int named = ::mkostemp(name.data(), O_CLOEXEC);
  if (named >= 0) {
    ::unlink(name.c_str());
  }
  return named;
}

Result<Descriptor> OpenTemporary(const std::filesystem::path& folder) {
  for (const std::filesystem::path& place :
       {folder, std::filesystem::path("/var/tmp"), std::filesystem::path("/tmp")}) {
    if (const int fd = OpenNameless(place); fd >= 0) {
      return Descriptor(fd);
    }
  }
  const int fd = ::memfd_create("penstock-index", MFD_CLOEXEC);
  if (fd < 0) {
    return Fail(
        ErrorKind::kEnvironment,
        fmt::format("/var/tmp: no temporary file for an index: {}; make room there, or name "
                    "another folder",
                    ErrnoText(errno)));
  }
  return Descriptor(fd);
}

}  // namespace

std::int64_t ReadSome(int fd, std::uint64_t offset, std::span<std::byte> out) {
  std::size_t done = 0;
  while (done < out.size()) {
    const long got = ::syscall(SYS_pread64, fd, out.data() + done, out.size() - done,
                               static_cast<off_t>(offset + done));
    if (got < 0 && errno == EINTR) {
      continue;
    }
    if (got < 0) {
      return -1;
    }
    if (got == 0) {
      break;
    }
    done += static_cast<std::size_t>(got);
  }
  return static_cast<std::int64_t>(done);
}

bool ReadFully(int fd, std::uint64_t offset, std::span<std::byte> out) {
  return ReadSome(fd, offset, out) == static_cast<std::int64_t>(out.size());
}

bool FileRange::Read(std::uint64_t offset, std::span<std::byte> out) const {
  if (offset > size_ || out.size() > size_ - offset) {
    return false;
  }
  if (memory_ != nullptr) {
    const auto from = memory_->begin() + static_cast<std::ptrdiff_t>(offset);
    std::copy_n(from, out.size(), out.begin());
    return true;
  }
  if (fd_ == nullptr) {
    return out.empty();
  }
  return ReadFully(fd_->get(), base_ + offset, out);
}

Result<void> RecordFile::Append(std::span<const std::byte> bytes) {
  if (buffer_.capacity() == 0) {
    buffer_.reserve(kBuffer);
  }
  if (buffer_.size() + bytes.size() > kBuffer) {
    if (Result<void> flushed = Flush(); !flushed) {
      return flushed;
    }
  }
  buffer_.insert(buffer_.end(), bytes.begin(), bytes.end());
  return {};
}

Result<void> RecordFile::Flush() {
  if (!fd_) {
    Result<Descriptor> opened = OpenTemporary(folder_);
    PENSTOCK_TRY(opened);
    fd_ = std::move(*opened);
  }
  std::size_t done = 0;
  while (done < buffer_.size()) {
    const ssize_t put = ::pwrite(fd_.get(), buffer_.data() + done, buffer_.size() - done,
                                 static_cast<off_t>(written_ + done));
    if (put < 0 && errno == EINTR) {
      continue;
    }
    if (put <= 0) {
      return Fail(ErrorKind::kOutput,
                  fmt::format("temporary index: cannot be written: {}; make room in /var/tmp, or "
                              "name another folder for indexes",
                              ErrnoText(put < 0 ? errno : ENOSPC)));
    }
    done += static_cast<std::size_t>(put);
  }
  written_ += done;
  buffer_.clear();
  return {};
}

Result<FileRange> RecordFile::Finish() {
  if (!fd_) {
    buffer_.shrink_to_fit();
    return FileRange(std::exchange(buffer_, {}));
  }
  PENSTOCK_TRY(Flush());
  buffer_ = {};
  return FileRange(std::make_shared<const Descriptor>(std::move(fd_)), 0,
                   std::exchange(written_, 0));
}

void StreamChecksum::Add(std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    if (chunk_.empty() && bytes.size() >= kChecksumChunk) {
      chained_ = Xxh64(bytes.data(), kChecksumChunk, chained_);
      bytes = bytes.subspan(kChecksumChunk);
      continue;
    }
    const std::size_t part = std::min(bytes.size(), kChecksumChunk - chunk_.size());
    chunk_.insert(chunk_.end(), bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(part));
    bytes = bytes.subspan(part);
    if (chunk_.size() == kChecksumChunk) {
      chained_ = Xxh64(chunk_.data(), chunk_.size(), chained_);
      chunk_.clear();
    }
  }
}

std::uint64_t StreamChecksum::Value() const {
  return Xxh64(chunk_.data(), chunk_.size(), chained_);
}

}  // namespace penstock::loader
