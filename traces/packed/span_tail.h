// SPDX-License-Identifier: Apache-2.0
//
// Keeps on disk the spans that the writer of a packed trace has not put into blocks yet. They wait
// in memory until their thread has enough for a block: blocks of a few spans for each thread at
// every flush would cost more than the spans. Meanwhile they are also in NAME.part.tail, where a
// reader of the unfinished NAME.part finds them. Format: traces/FORMAT.md, "The tail". Not
// thread-safe.
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
  // Adds spans of one thread; Write() writes them. `before`: the number of the thread's earlier
  // spans, in blocks and in the tail. A reader that finds more than `before` spans of the thread in
  // blocks skips these spans: a block takes all spans of its thread that wait.
  void Add(std::uint32_t thread, std::uint64_t before, std::span<const Span> spans);
  // Writes the added spans to the tail of the file `part`. Returns false if the tail cannot be made
  // or there is no room; the added spans are then dropped.
  [[nodiscard]] bool Write(const OutputFile& part);
  // Empties the file of the tail. To be called when all of its spans are in blocks.
  void Empty();
  // Removes the file of the tail.
  void Discard();
  [[nodiscard]] std::uint64_t size() const { return file_ ? file_->size() : 0; }

 private:
  std::optional<OutputFile> file_;
  ByteWriter pending_;
};

// Spans that one Add() wrote.
struct TailSpans {
  std::uint32_t thread = 0;
  std::uint64_t before = 0;  // as in Add()
  std::vector<Span> spans;
};

// Reads the first `limit` bytes of the tail of `part`, in the order in which they were written.
// Empty if there is no tail, or if it belongs to another file. Adds the number of bytes that cannot
// be read to `*damaged`.
[[nodiscard]] std::vector<TailSpans> ReadTail(const std::filesystem::path& part,
                                              std::span<const std::byte> part_bytes,
                                              std::uint64_t limit, std::uint64_t* damaged);

}  // namespace penstock::traces::packed
