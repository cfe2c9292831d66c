// SPDX-License-Identifier: Apache-2.0
#include "loader/source/tar_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <optional>
#include <utility>

#include "loader/source/descriptor.h"
#include "loader/source/record_file.h"

namespace penstock::loader {
namespace {

constexpr std::uint64_t kMaxText = 1 << 20;  // bytes of a pax header or a long name

// Fields of a header block: POSIX.1-1988 (ustar) and GNU's tar.h.
struct Field {
  std::size_t at;
  std::size_t size;
};
constexpr Field kName{0, 100};
constexpr Field kSize{124, 12};
constexpr Field kChecksum{148, 8};
constexpr std::size_t kType = 156;
constexpr Field kMagic{257, 8};
constexpr Field kPrefix{345, 155};
constexpr std::size_t kSparseMore = 482;      // offset in the header of a GNU sparse file
constexpr std::size_t kSparseMoreNext = 504;  // offset in each further block of its map

std::string_view TextField(std::span<const std::byte> block, Field field) {
  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-reinterpret-cast): bytes as text
  const std::string_view all(reinterpret_cast<const char*>(block.data()) + field.at, field.size);
  return all.substr(0, all.find('\0'));
}

// Reads octal text, or GNU's base-256, which has the highest bit set.
std::optional<std::uint64_t> NumberField(std::span<const std::byte> block, Field field) {
  const auto first = std::to_integer<unsigned>(block[field.at]);
  if ((first & 0x80U) != 0) {
    std::uint64_t value = first & 0x7fU;
    for (std::size_t i = 1; i < field.size; ++i) {
      if (value >> 56 != 0) {
        return std::nullopt;  // negative, or larger than any file
      }
      value = value << 8 | std::to_integer<std::uint64_t>(block[field.at + i]);
    }
    return value;
  }
  std::string_view text = TextField(block, field);
  text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
  text = text.substr(0, text.find(' '));
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, 8);
  if (text.empty()) {
    return 0;
  }
  if (error != std::errc{} || end != text.data() + text.size()) {
    return std::nullopt;
  }
  return value;
}

bool AllZero(std::span<const std::byte> bytes) {
  return std::all_of(bytes.begin(), bytes.end(), [](std::byte b) { return b == std::byte{0}; });
}

bool ChecksumHolds(std::span<const std::byte> block) {
  const std::optional<std::uint64_t> stored = NumberField(block, kChecksum);
  if (!stored) {
    return false;
  }
  std::int64_t with_unsigned = 0;
  std::int64_t with_signed = 0;  // some old tars used signed bytes
  for (std::size_t i = 0; i < 512; ++i) {
    const bool in_field = i >= kChecksum.at && i < kChecksum.at + kChecksum.size;
    const auto byte = in_field ? std::uint8_t{' '} : std::to_integer<std::uint8_t>(block[i]);
    with_unsigned += byte;
    with_signed += static_cast<std::int8_t>(byte);
  }
  const auto want = static_cast<std::int64_t>(*stored);
  return want == with_unsigned || want == with_signed;
}

}  // namespace

struct TarReader::Extended {
  std::optional<std::string> name;
  std::optional<std::uint64_t> size;
  bool sparse = false;
};

bool LooksLikeTar(std::span<const std::byte> block) {
  return block.size() >= 512 && !AllZero(block.first(512)) && ChecksumHolds(block.first(512));
}

TarReader::TarReader(int fd, std::uint64_t size, std::string name)
    : fd_(fd), size_(size), name_(std::move(name)) {}

tl::unexpected<Error> TarReader::Damaged(std::uint64_t at, std::string_view what) const {
  const std::string after = last_.empty() ? "" : fmt::format(", after member {}", Printable(last_));
  return Fail(ErrorKind::kInput, fmt::format("{}: byte {}{}: {}; make or copy the tar again",
                                             Printable(name_), at, after, what));
}

tl::unexpected<Error> TarReader::Cut(std::string_view what) const {
  return Fail(ErrorKind::kInput, fmt::format("{}: is cut at byte {}: {}; copy it again",
                                             Printable(name_), size_, what));
}

bool TarReader::Read(std::uint64_t offset, std::span<std::byte> out) {
  if (offset < window_at_ || offset + out.size() > window_at_ + window_.size()) {
    window_.resize(std::max(kWindow, out.size()));
    window_at_ = offset;
    const std::int64_t got = ReadSome(fd_, offset, window_);
    window_.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
    if (window_.size() < out.size()) {
      return false;
    }
  }
  std::memcpy(out.data(), window_.data() + (offset - window_at_), out.size());
  return true;
}

Result<bool> TarReader::Next(TarMember& member) {
  Extended extended;
  for (;;) {
    bool done = false;
    Result<bool> header = NextHeader(member, extended, done);
    if (!header || done) {
      return header;
    }
  }
}

// Reads one header block, and the data behind it if it is an extended header. Sets `done` if it
// found a member or the end; the result is then that of Next().
Result<bool> TarReader::NextHeader(TarMember& member, Extended& extended, bool& done) {
  Block block;
  const std::uint64_t at = position_;
  if (!Read(at, block)) {
    return Cut(at >= size_ ? "the end marker (two blocks of zeros) is missing"
                           : fmt::format("the header at byte {} is incomplete", at));
  }
  if (AllZero(block)) {
    done = true;
    return End();
  }
  if (!ChecksumHolds(block)) {
    return Damaged(at, at == 0 ? "is not a tar" : "no tar header where one must be");
  }
  const std::optional<std::uint64_t> size = NumberField(block, kSize);
  if (!size) {
    return Damaged(at, "the size of a member cannot be read");
  }
  position_ += kBlock;
  const char type = static_cast<char>(block[kType]);
  Result<void> taken;
  switch (type) {
    case 'x':
    case 'X':
      taken = ReadPax(*size, extended);
      break;
    case 'L': {
      Result<std::string> text = ReadText(*size, "a long name");
      PENSTOCK_TRY(text);
      extended.name = text->substr(0, text->find('\0'));
      break;
    }
    case 'K':
    case 'g': {  // a long link target, or data for all members: skipped
      Result<std::string> text = ReadText(*size, "an extended header");
      PENSTOCK_TRY(text);
      break;
    }
    default:
      done = true;
  }
  PENSTOCK_TRY(taken);
  if (!done) {
    return true;
  }

  member.header_at = at;
  member.link = type == '1' || type == '2';
  member.sparse = type == 'S' || extended.sparse;
  // Links, devices, folders and FIFOs have no data, even if their size field says so.
  const bool has_data = type < '1' || type > '6';
  member.regular = type == '\0' || type == '0' || type == '7' || type == 'S';
  if (extended.name) {
    member.name = *extended.name;
  } else {
    member.name.clear();
    const std::string_view prefix = TextField(block, kPrefix);
    // GNU's header ("ustar ") has times in the place of POSIX's prefix.
    if (TextField(block, kMagic) == "ustar" && !prefix.empty()) {
      member.name.append(prefix).append("/");
    }
    member.name.append(TextField(block, kName));
  }
  member.size = has_data ? extended.size.value_or(*size) : 0;
  if (type == 'S') {
    PENSTOCK_TRY(SkipSparseMaps(block));
  }
  member.data_at = position_;
  last_ = member.name;
  if (member.size > size_ - std::min(position_, size_)) {
    return Cut(fmt::format("member {} at byte {} has {} bytes, {} of them are missing",
                           Printable(member.name), at, member.size,
                           member.size - (size_ - std::min(position_, size_))));
  }
  position_ += (member.size + kBlock - 1) / kBlock * kBlock;
  return true;
}

// Reads the text of an extended header, which lies where a member's data would.
Result<std::string> TarReader::ReadText(std::uint64_t size, std::string_view what) {
  if (size > kMaxText) {
    return Damaged(position_ - kBlock, fmt::format("{} of {} bytes", what, size));
  }
  std::string text(static_cast<std::size_t>(size), '\0');
  if (!text.empty() && !Read(position_, std::as_writable_bytes(std::span(text)))) {
    return Cut(fmt::format("{} at byte {} is incomplete", what, position_ - kBlock));
  }
  position_ += (size + kBlock - 1) / kBlock * kBlock;
  return text;
}

// Reads records of the form "LENGTH key=value\n".
Result<void> TarReader::ReadPax(std::uint64_t size, Extended& extended) {
  const std::uint64_t header_at = position_ - kBlock;
  Result<std::string> text = ReadText(size, "a pax header");
  PENSTOCK_TRY(text);
  std::string_view left = *text;
  while (!left.empty() && left.front() != '\0') {
    std::size_t length = 0;
    const auto [end, error] = std::from_chars(left.data(), left.data() + left.size(), length);
    const auto digits = static_cast<std::size_t>(end - left.data());
    if (error != std::errc{} || length > left.size() || length < digits + 3 ||
        left[digits] != ' ' || left[length - 1] != '\n') {
      return Damaged(header_at, "a pax header that cannot be read");
    }
    const std::string_view record = left.substr(digits + 1, length - digits - 2);
    left.remove_prefix(length);
    const std::size_t equals = record.find('=');
    if (equals == std::string_view::npos) {
      return Damaged(header_at, "a pax header that cannot be read");
    }
    const std::string_view key = record.substr(0, equals);
    const std::string_view value = record.substr(equals + 1);
    if (key == "path") {
      extended.name = std::string(value.substr(0, value.find('\0')));
    } else if (key == "size") {
      std::uint64_t number = 0;
      const auto [stop, wrong] = std::from_chars(value.data(), value.data() + value.size(), number);
      if (wrong != std::errc{} || stop != value.data() + value.size()) {
        return Damaged(header_at, "a pax header with a size that cannot be read");
      }
      extended.size = number;
    } else if (key.starts_with("GNU.sparse.")) {
      extended.sparse = true;
    }
  }
  return {};
}

Result<void> TarReader::SkipSparseMaps(const Block& header) {
  bool more = header[kSparseMore] != std::byte{0};
  while (more) {
    Block block;
    if (!Read(position_, block)) {
      return Cut(fmt::format("the map of a sparse file at byte {} is incomplete", position_));
    }
    more = block[kSparseMoreNext] != std::byte{0};
    position_ += kBlock;
  }
  return {};
}

// Called after the first block of zeros. Only zeros may follow, since samples after it would be
// lost silently.
Result<bool> TarReader::End() {
  std::vector<std::byte> rest(256 << 10);
  for (std::uint64_t at = position_; at < size_; at += rest.size()) {
    const std::int64_t got = ReadSome(fd_, at, rest);
    if (got < 0 || !AllZero(std::span(rest).first(static_cast<std::size_t>(got)))) {
      return Damaged(position_, "bytes follow the end marker (two tars in one file, or a hole)");
    }
  }
  return false;
}

}  // namespace penstock::loader
