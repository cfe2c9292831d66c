// SPDX-License-Identifier: Apache-2.0
//
// Index bytes that lie on disk instead of in memory: RecordFile collects them in a nameless
// temporary file (what fits into its buffer stays there), FileRange reads them back by offset.
// A FileRange may be read from any thread.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <vector>

#include "loader/source/descriptor.h"
#include "traces/base/result.h"

namespace penstock::loader {

// All of `out` from `offset` of `fd`; false at the end of the file or on an error.
// Goes to the kernel directly: what libc's pread delivers is data of samples to a profiler, and a
// look-up of eight bytes in an index is not that.
[[nodiscard]] bool ReadFully(int fd, std::uint64_t offset, std::span<std::byte> out);

// Bytes that are there, up to out.size(); -1 on an error.
[[nodiscard]] std::int64_t ReadSome(int fd, std::uint64_t offset, std::span<std::byte> out);

// A part of an open file, or bytes in memory with the same face; shares either.
class FileRange {
 public:
  FileRange() = default;
  explicit FileRange(std::vector<std::byte> bytes)
      : size_(bytes.size()),
        memory_(std::make_shared<const std::vector<std::byte>>(std::move(bytes))) {}
  FileRange(std::shared_ptr<const Descriptor> fd, std::uint64_t base, std::uint64_t size)
      : fd_(std::move(fd)), base_(base), size_(size) {}

  // False outside of the range too.
  [[nodiscard]] bool Read(std::uint64_t offset, std::span<std::byte> out) const;
  template <class T>
  [[nodiscard]] bool ReadValue(std::uint64_t offset, T& value) const {
    return Read(offset, std::as_writable_bytes(std::span(&value, 1)));
  }
  [[nodiscard]] std::uint64_t size() const { return size_; }

 private:
  std::shared_ptr<const Descriptor> fd_;
  std::uint64_t base_ = 0;
  std::uint64_t size_ = 0;
  std::shared_ptr<const std::vector<std::byte>> memory_;
};

// Hands all of `range` to `take(bytes)` in large pieces; false if a read or `take` fails.
template <class Take>
[[nodiscard]] bool StreamRange(const FileRange& range, Take&& take) {
  constexpr std::uint64_t kPiece = 256 << 10;
  std::vector<std::byte> buffer(static_cast<std::size_t>(std::min(kPiece, range.size())));
  for (std::uint64_t at = 0; at < range.size();) {
    const std::span<std::byte> bytes = std::span(buffer).first(
        static_cast<std::size_t>(std::min<std::uint64_t>(buffer.size(), range.size() - at)));
    if (!range.Read(at, bytes) || !take(std::span<const std::byte>(bytes))) {
      return false;
    }
    at += bytes.size();
  }
  return true;
}

class RecordFile {
 public:
  // The file will be in `folder`, else in /var/tmp or /tmp, else a memfd.
  explicit RecordFile(std::filesystem::path folder = {}) : folder_(std::move(folder)) {}

  // Errors: kEnvironment: no place for a temporary file; kOutput: no space there.
  Result<void> Append(std::span<const std::byte> bytes);
  template <class T>
  Result<void> AppendValue(const T& value) {
    return Append(std::as_bytes(std::span(&value, 1)));
  }
  [[nodiscard]] std::uint64_t size() const { return written_ + buffer_.size(); }

  // Everything appended, for reading; the RecordFile is empty afterwards. Errors: as Append().
  Result<FileRange> Finish();

 private:
  Result<void> Flush();

  std::filesystem::path folder_;
  Descriptor fd_;  // none until the buffer is full for the first time
  std::uint64_t written_ = 0;
  std::vector<std::byte> buffer_;
};

// A checksum of a stream, the same however it is cut into Add() calls.
class StreamChecksum {
 public:
  void Add(std::span<const std::byte> bytes);
  [[nodiscard]] std::uint64_t Value() const;

 private:
  std::uint64_t chained_ = 0;
  std::vector<std::byte> chunk_;
};

}  // namespace penstock::loader
