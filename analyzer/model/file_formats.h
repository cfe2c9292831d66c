// SPDX-License-Identifier: Apache-2.0
//
// The formats of the picture files that a run reads, by the extensions of their names. Filled while
// a trace is read; not thread-safe.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <unordered_map>

#include "traces/trace.h"

namespace penstock::analyzer {

// "jpeg" for "a/B.JPG"; "" if the extension is not one of a picture file. Likewise for "png",
// "webp", "tiff", "avif", "heic", "gif" and "bmp".
[[nodiscard]] std::string_view PictureFormat(std::string_view path);

class FileFormats {
 public:
  explicit FileFormats(const traces::Trace& trace) : trace_(trace) {}

  // Counts reads of the first 16,384 files. Reads of further files count until 1,024 pictures were
  // seen.
  void Add(const traces::Span& read);
  // The format that has at least 80 % of the bytes in picture files; "mixed" if no format has. ""
  // if picture files have less than half of all bytes that were read.
  [[nodiscard]] std::string_view Main() const;

 private:
  static constexpr std::size_t kFormats = 8;

  const traces::Trace& trace_;
  std::unordered_map<std::uint32_t, std::uint8_t> of_path_;  // the number of the format, by path
  std::array<std::uint64_t, kFormats> bytes_{};
  std::uint64_t all_ = 0;     // bytes of all files
  std::size_t pictures_ = 0;  // paths of pictures that were looked up
};

}  // namespace penstock::analyzer
