// SPDX-License-Identifier: Apache-2.0
//
// Keeps on disk the spans that the writer of a packed trace has not put into blocks yet. Otherwise
// each of many threads with few spans would cost a section at every flush. The spans wait in memory
// until they are worth a block. Meanwhile they are also in NAME.part.tail, where a reader of the
// unfinished NAME.part finds them. FORMAT.md, "The tail". Not thread-safe.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <vector>

#include "traces/base/bytes.h"
#include "traces/base/file.h"
#include "traces/event.h"

namespace penstock::traces::packed {

class SpanTail {
 public:
  // Adds spans of one thread, which has `before` earlier ones in blocks or in the tail. If the
  // blocks of the file contain more than `before`, readers skip those that they contain.
  void Add(std::uint32_t thread, std::uint64_t before, std::span<const Span> spans);
  // Writes the added spans. Returns false if there was no room or no file; then they are not in the
  // tail.
  // `part`: the file to which this is the tail.
  [[nodiscard]] bool Write(const OutputFile& part);
  // Empties the tail, because everything in it is in blocks of the file by now.
  void Empty();
  void Discard();
  [[nodiscard]] std::uint64_t size() const { return file_ ? file_->size() : 0; }

 private:
  std::optional<OutputFile> file_;
  ByteWriter pending_;
};

struct TailSpans {
  std::uint32_t thread = 0;
  std::uint64_t before = 0;
  std::vector<Span> spans;
};

// The contents of the tail of `part`, in the order in which they were written; nothing if there is
// no tail, or if it belongs to another file. Reads its first `limit` bytes. `damaged`: bytes that
// could not be read.
[[nodiscard]] std::vector<TailSpans> ReadTail(const std::filesystem::path& part,
                                              std::span<const std::byte> part_bytes,
                                              std::uint64_t limit, std::uint64_t* damaged);

}  // namespace penstock::traces::packed
