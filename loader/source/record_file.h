// SPDX-License-Identifier: Apache-2.0
//
// Index bytes that lie on disk instead of in memory. RecordFile collects them in a temporary file
// without a name, unless they fit into its buffer. FileRange reads them by offset, and may be read
// from any thread.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "loader/source/descriptor.h"
#include "traces/base/result.h"

namespace penstock::loader {

// Fills `out` from `offset` of `fd`. False at the end of the file or on an error. Makes the system
// call directly. A profiler would count a read by libc's pread as data of samples, but an index is
// not data.
[[nodiscard]] bool ReadFully(int fd, std::uint64_t offset, std::span<std::byte> out);

// Reads up to out.size() bytes, fewer only if the file ends before. Returns their number; -1 on an
// error.
[[nodiscard]] std::int64_t ReadSome(int fd, std::uint64_t offset, std::span<std::byte> out);

// A part of an open file, or bytes in memory with the same interface. Copies share the file or the
// bytes.
class FileRange {
 public:
  FileRange() = default;
  explicit FileRange(std::vector<std::byte> bytes)
      : size_(bytes.size()),
        memory_(std::make_shared<const std::vector<std::byte>>(std::move(bytes))) {}
  FileRange(std::shared_ptr<const Descriptor> fd, std::uint64_t base, std::uint64_t size)
      : fd_(std::move(fd)), base_(base), size_(size) {}

  // False on an error, and outside the range.
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

// Passes all of `range` to take(bytes) in large pieces. False if a read or `take` fails.
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

// The remedy if a temporary file cannot be read back: it has no name, so only its disk can be
// checked.
inline constexpr std::string_view kCheckTemporaryDisk =
    "check the disk of the folder for indexes, else of /var/tmp";

class RecordFile {
 public:
  // The file lies in `folder`, else in /var/tmp or /tmp. If no folder can hold it, it is a memfd.
  explicit RecordFile(std::filesystem::path folder = {}) : folder_(std::move(folder)) {}

  // Errors: kEnvironment: no place for a temporary file; kOutput: no space there.
  Result<void> Append(std::span<const std::byte> bytes);
  template <class T>
  Result<void> AppendValue(const T& value) {
    return Append(std::as_bytes(std::span(&value, 1)));
  }
  [[nodiscard]] std::uint64_t size() const { return written_ + buffer_.size(); }

  // Returns everything that was appended, for reading. The RecordFile is empty afterwards. Errors:
  // as Append().
  Result<FileRange> Finish();

 private:
  Result<void> Flush();

  std::filesystem::path folder_;
  Descriptor fd_;  // none until the buffer is full for the first time
  std::uint64_t written_ = 0;
  std::vector<std::byte> buffer_;
};

// A checksum of a stream. It does not depend on how the stream is divided into Add() calls.
class StreamChecksum {
 public:
  void Add(std::span<const std::byte> bytes);
  [[nodiscard]] std::uint64_t Value() const;

 private:
  std::uint64_t chained_ = 0;
  std::vector<std::byte> chunk_;
};

}  // namespace penstock::loader
