// SPDX-License-Identifier: Apache-2.0
//
// Reads the bytes of samples. An ObjectReader belongs to one thread, which may have several reads
// in flight, one in each slot: Start(slot) begins a read, Finish(slot) gets its bytes. Buffers grow
// to the largest object and are used again, so after a while a read no longer allocates.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

#include "loader/io/ram_cache.h"
#include "loader/source/sample.h"
#include "traces/base/result.h"

namespace penstock::loader {

enum class IoMethod {
  kBuffered,  // open, pread through the page cache
  kDirect,    // O_DIRECT; files that refuse it go through the page cache
  kUring,     // io_uring: opening and reading go on while the thread does something else
  kMmap,      // pages of the page cache without a copy; see mmap_reader.cc
};

[[nodiscard]] std::string_view IoMethodName(IoMethod method);  // "buffered", "direct", ...
// Errors: kUsage, with the known names.
Result<IoMethod> ParseIoMethod(std::string_view name);

struct IoOptions {
  IoMethod method = IoMethod::kBuffered;
  std::size_t depth = 1;      // slots; with more than one, Start() asks the kernel to read ahead
  RamCache* cache = nullptr;  // read before the file, and filled; outlives the reader
  std::uint64_t max_object = std::uint64_t{1} << 30;  // a larger object gives an error
};

struct IoStats {
  std::uint64_t bytes = 0;           // handed out, cached ones included
  std::uint64_t reads = 0;           // objects handed out
  std::uint64_t cache_hits = 0;      // objects that the RAM cache had
  std::uint64_t direct_refused = 0;  // read through the page cache in spite of kDirect
  std::uint64_t failed = 0;
};

class ObjectReader {
 public:
  ObjectReader() = default;
  virtual ~ObjectReader();
  ObjectReader(const ObjectReader&) = delete;
  ObjectReader& operator=(const ObjectReader&) = delete;

  // Begins to read. `ref` is copied. What the slot held before is dropped. Finish() reports errors.
  // Requires: slot < depth.
  virtual void Start(std::size_t slot, const SampleRef& ref) = 0;

  // Waits for the read that was begun last in `slot`. The bytes are valid until Start(slot) or the
  // reader's end.
  // Requires: one Start(slot) before each Finish(slot).
  // Errors: kInput: cannot be opened, is no regular file, is larger than max_object, is shorter
  // than the index says, shrank while it was read; kEnvironment: out of memory or descriptors, or
  // io_uring failed. The line names the file.
  virtual Result<std::span<const std::byte>> Finish(std::size_t slot) = 0;

  [[nodiscard]] virtual IoStats stats() const = 0;
};

// Errors: kUsage if the depth is 0 or more than an io_uring can hold; kEnvironment if this machine
// does not allow the method (io_uring under seccomp or kernel.io_uring_disabled). The line says
// what to use instead.
Result<std::unique_ptr<ObjectReader>> MakeObjectReader(const IoOptions& options);

}  // namespace penstock::loader
