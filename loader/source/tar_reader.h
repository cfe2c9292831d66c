// SPDX-License-Identifier: Apache-2.0
//
// Reads the headers of a tar: v7, ustar, GNU (long names, base-256 numbers) and pax (path, size).
// Skips the data. Does not own the descriptor. Not thread-safe.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "traces/base/result.h"

namespace penstock::loader {

struct TarMember {
  std::string name;
  std::uint64_t header_at = 0;
  std::uint64_t data_at = 0;
  std::uint64_t size = 0;
  bool regular = false;  // a regular file, whose data is in the archive
  bool link = false;     // a hard or symbolic link
  bool sparse = false;   // a sparse file, whose holes are not in the archive
};

// True if `block` (512 bytes or more) begins with a tar header whose checksum is right.
[[nodiscard]] bool LooksLikeTar(std::span<const std::byte> block);

class TarReader {
 public:
  // `name`: for messages. `size`: the size of the file `fd`.
  TarReader(int fd, std::uint64_t size, std::string name);

  // Reads the next member. False at the end marker.
  // Errors: kInput if a header is missing or damaged, if data or the end marker is missing (a
  // truncated file), or if data follows the end marker.
  Result<bool> Next(TarMember& member);

  // Offset of the next header to be read.
  [[nodiscard]] std::uint64_t position() const { return position_; }

  // Reads a few bytes at `offset`, mostly from the buffer that was read for the headers. False if
  // the file ends before them, or cannot be read.
  [[nodiscard]] bool Read(std::uint64_t offset, std::span<std::byte> out);

 private:
  static constexpr std::size_t kBlock = 512;
  static constexpr std::size_t kWindow = 8192;
  using Block = std::array<std::byte, kBlock>;

  struct Extended;  // data of pax and GNU extension headers for the next member
  Result<bool> NextHeader(TarMember& member, Extended& extended, bool& done);
  Result<std::string> ReadText(std::uint64_t size, std::string_view what);
  Result<void> ReadPax(std::uint64_t size, Extended& extended);
  Result<void> SkipSparseMaps(const Block& header);
  Result<bool> End();
  [[nodiscard]] tl::unexpected<Error> Damaged(std::uint64_t at, std::string_view what) const;
  [[nodiscard]] tl::unexpected<Error> Cut(std::string_view what) const;

  int fd_;
  std::uint64_t size_;
  std::string name_;
  std::uint64_t position_ = 0;
  std::string last_;  // name of the previous member, for error messages
  std::vector<std::byte> window_;
  std::uint64_t window_at_ = 0;
};

}  // namespace penstock::loader
