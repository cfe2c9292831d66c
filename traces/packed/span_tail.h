// SPDX-License-Identifier: Apache-2.0
//
// The spans that the writer of a packed trace still gathers, on disk: many threads with few spans
// each would cost a section each at every flush. They wait in memory until they are worth a block,
// and meanwhile in NAME.part.tail, from where a reader of an unfinished NAME.part adds them.
// FORMAT.md, "The tail". Not thread-safe.
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
  // Spans of one thread, which has `before` others in blocks or in the tail: those of which the
  // blocks of the file turn out to have more are no longer read.
  void Add(std::uint32_t thread, std::uint64_t before, std::span<const Span> spans);
  // Writes what was added. False: there was no room for it, or no file, and it is not there.
  // `part`: the file that this is the tail of.
  [[nodiscard]] bool Write(const OutputFile& part);
  // Everything that was written is in blocks of the file now.
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

// What the tail of `part` holds, in the order in which it was written; nothing if it has none or
// one of another file. Reads the first `limit` bytes of it. `damaged`: bytes that could not be
// read.
[[nodiscard]] std::vector<TailSpans> ReadTail(const std::filesystem::path& part,
                                              std::span<const std::byte> part_bytes,
                                              std::uint64_t limit, std::uint64_t* damaged);

}  // namespace penstock::traces::packed
