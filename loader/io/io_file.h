// SPDX-License-Identifier: Apache-2.0
//
// What the readers share: opening files, errors in one line, a buffer that grows, and a few shards
// that stay open. Each object belongs to one thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "loader/io/object_reader.h"
#include "loader/source/descriptor.h"
#include "loader/source/sample.h"
#include "traces/base/result.h"

namespace penstock::loader {

inline constexpr std::size_t kDirectAlign = 4096;  // of offsets, lengths and memory for O_DIRECT

// Memory that is aligned for O_DIRECT. It is never cleared and only grows.
class IoBuffer {
 public:
  // Makes room for at least `size` bytes with undefined contents. False if there is no memory.
  [[nodiscard]] bool Reserve(std::size_t size);
  [[nodiscard]] std::byte* data() const { return data_.get(); }
  [[nodiscard]] std::size_t capacity() const { return capacity_; }

 private:
  struct Free {
    void operator()(std::byte* memory) const;
  };
  std::unique_ptr<std::byte, Free> data_;
  std::size_t capacity_ = 0;
};

// A SampleRef that owns its texts. Assign() allocates only for texts longer than all before.
// It is not copied, since its reference points to the texts inside of it.
class OwnedRef {
 public:
  OwnedRef() = default;
  OwnedRef(const OwnedRef&) = delete;
  OwnedRef& operator=(const OwnedRef&) = delete;

  void Assign(const SampleRef& ref);
  [[nodiscard]] const SampleRef& ref() const { return ref_; }
  [[nodiscard]] const char* path() const { return path_.c_str(); }

 private:
  SampleRef ref_;
  std::string path_;
  std::string name_;
};

// Errors about one sample, in one line. They name the file, and also the sample if it is only a
// part of the file.
[[nodiscard]] tl::unexpected<Error> OpenFailed(const SampleRef& ref, int error);
[[nodiscard]] tl::unexpected<Error> ReadFailed(const SampleRef& ref, int error);
[[nodiscard]] tl::unexpected<Error> TooShort(const SampleRef& ref, std::uint64_t wanted,
                                             std::uint64_t got);
[[nodiscard]] tl::unexpected<Error> NoMemory(const SampleRef& ref, std::uint64_t size);

// Opens a file for reading. Never blocks on a FIFO. Returns the descriptor, or -errno.
[[nodiscard]] int OpenForReading(const char* path, int extra_flags);

// The number of bytes to read: that of the reference, or what fstat says if the reference has none.
// Errors: kInput: larger than `limit`; no regular file, which is checked only where fstat is asked.
Result<std::uint64_t> ObjectSize(int fd, const SampleRef& ref, std::uint64_t limit);

// Calls pread until `size` bytes are there or the file ends. Returns the number of bytes, or
// -errno.
[[nodiscard]] std::int64_t ReadAll(int fd, std::byte* to, std::uint64_t size, std::uint64_t offset);

// Keeps the shards open that were read last, so that a sample of a tar costs one pread.
class OpenShards {
 public:
  // The descriptor of the file of `ref`, which stays valid until the next call; or -errno.
  // Requires: the same `extra_flags` in each call.
  [[nodiscard]] int Get(const OwnedRef& ref, int extra_flags);

 private:
  // With 16 of them in each of 32 threads, half of the usual 1024 descriptors are left.
  static constexpr std::size_t kOpen = 16;
  struct Entry {
    std::string path;
    Descriptor fd;
    std::uint64_t used = 0;
  };
  std::vector<Entry> entries_;
  std::uint64_t clock_ = 0;
};

// The readers, for MakeObjectReader().
std::unique_ptr<ObjectReader> MakeBufferedReader(const IoOptions& options);
std::unique_ptr<ObjectReader> MakeDirectReader(const IoOptions& options);
std::unique_ptr<ObjectReader> MakeMmapReader(const IoOptions& options);
Result<std::unique_ptr<ObjectReader>> MakeUringReader(const IoOptions& options);

}  // namespace penstock::loader
