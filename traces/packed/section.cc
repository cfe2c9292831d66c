// SPDX-License-Identifier: Apache-2.0
#include "traces/packed/section.h"

#include <fmt/format.h>
#include <zstd.h>

#include <algorithm>
#include <cstring>
#include <new>

#include "traces/base/xxh64.h"
#include "traces/packed/table_codec.h"

namespace penstock::traces::packed {
namespace {

// Times in nanoseconds hardly compress: a higher level takes twice as long and saves 1 % of the
// size.
constexpr int kLevel = 3;

std::uint64_t HeaderCheck(const SectionHeader& header) {
  return Xxh64(&header, offsetof(SectionHeader, header_check));
}

// Returns a context that zstd has made. zstd returns nullptr if memory is short; then this throws.
template <typename Context>
Context* NotNull(Context* context) {
  if (context == nullptr) throw std::bad_alloc();
  return context;
}

// Reads a header. Returns false if it is not sound or its payload exceeds the file.
bool ReadHeader(std::span<const std::byte> file, std::uint64_t offset, SectionHeader* header) {
  if (offset > file.size() || file.size() - offset < sizeof *header) {
    return false;
  }
  std::memcpy(header, file.data() + offset, sizeof *header);
  return header->magic == kSectionMagic && header->header_check == HeaderCheck(*header) &&
         header->stored_size <= file.size() - offset - sizeof *header;
}

// The first offset from `from` on at which a section may begin; file.size() if there is none.
std::uint64_t NextMagic(std::span<const std::byte> file, std::uint64_t from) {
  const auto first = static_cast<unsigned char>(kSectionMagic & 0xff);
  while (from + sizeof(SectionHeader) <= file.size()) {
    const void* hit = std::memchr(file.data() + from, first, file.size() - from);
    if (hit == nullptr) {
      break;
    }
    from = static_cast<std::uint64_t>(static_cast<const std::byte*>(hit) - file.data());
    if (file.size() - from >= 4 && std::memcmp(hit, &kSectionMagic, 4) == 0) {
      return from;
    }
    ++from;
  }
  return file.size();
}

bool HasFooter(std::span<const std::byte> file, std::uint64_t* contents) {
  PackedFooter footer;
  if (file.size() < sizeof(PackedHeader) + sizeof footer) {
    return false;
  }
  std::memcpy(&footer, file.data() + file.size() - sizeof footer, sizeof footer);
  *contents = footer.contents_offset;
  return std::memcmp(footer.magic, kEndMagic, sizeof kEndMagic) == 0 &&
         footer.check == Xxh64(&footer.contents_offset, sizeof footer.contents_offset);
}

// Whether a section from a table of contents lies within the file, header and payload.
bool LiesInside(std::span<const std::byte> file, const SectionRef& section) {
  return section.offset <= file.size() && file.size() - section.offset >= sizeof section.header &&
         section.header.stored_size <= file.size() - section.offset - sizeof section.header;
}

// Reads the entries of a kContents or kContentsList section.
bool ReadEntries(std::span<const std::byte> file, const SectionRef& table,
                 std::vector<SectionRef>& entries) {
  SectionDecoder decoder;
  std::span<const std::byte> payload;
  constexpr std::size_t kEntry = sizeof(SectionHeader) + sizeof(std::uint64_t);
  if (!decoder.Decode(file, table, &payload) || payload.size() != kEntry * table.header.items) {
    return false;
  }
  entries.reserve(entries.size() + table.header.items);
  for (std::size_t at = 0; at < payload.size(); at += kEntry) {
    SectionRef section;
    std::memcpy(&section.offset, payload.data() + at, sizeof section.offset);
    std::memcpy(&section.header, payload.data() + at + sizeof section.offset,
                sizeof section.header);
    if (!LiesInside(file, section)) {
      return false;
    }
    entries.push_back(section);
  }
  return true;
}

bool IsContents(std::uint16_t kind) {
  return kind == kContents || kind == kContentsList;
}

// Reads the contents from one or several tables; false if they are missing or damaged.
bool ReadContents(std::span<const std::byte> file, std::vector<SectionRef>& sections) {
  SectionRef contents;
  if (!HasFooter(file, &contents.offset) || !ReadHeader(file, contents.offset, &contents.header) ||
      !IsContents(contents.header.kind)) {
    return false;
  }
  if (contents.header.kind == kContents) {
    return ReadEntries(file, contents, sections);
  }
  std::vector<SectionRef> parts;
  if (!ReadEntries(file, contents, parts)) {
    return false;
  }
  std::uint64_t behind = 0;  // each table must come after the one before, so none is read twice
  for (const SectionRef& part : parts) {
    if (part.offset < behind || part.header.kind != kContents ||
        !ReadEntries(file, part, sections)) {
      return false;
    }
    behind = part.offset + sizeof part.header + part.header.stored_size;
    if (sections.size() > file.size() / sizeof(SectionHeader)) {
      return false;
    }
  }
  return true;
}

}  // namespace

struct SectionEncoder::Context {
  ZSTD_CCtx* zstd = NotNull(ZSTD_createCCtx());
  ~Context() { ZSTD_freeCCtx(zstd); }
};

SectionEncoder::SectionEncoder() : context_(std::make_unique<Context>()) {
  ZSTD_CCtx_setParameter(context_->zstd, ZSTD_c_compressionLevel, kLevel);
  ZSTD_CCtx_setParameter(context_->zstd, ZSTD_c_checksumFlag, 1);
}
SectionEncoder::~SectionEncoder() = default;

Result<std::span<const std::byte>> SectionEncoder::Encode(const SectionMeta& meta,
                                                          std::span<const std::byte> payload) {
  buffer_.resize(sizeof(SectionHeader) + ZSTD_compressBound(payload.size()));
  const std::size_t size =
      ZSTD_compress2(context_->zstd, buffer_.data() + sizeof(SectionHeader),
                     buffer_.size() - sizeof(SectionHeader), payload.data(), payload.size());
  if (ZSTD_isError(size) != 0) {
    return Fail(ErrorKind::kOutput, fmt::format("zstd: {}", ZSTD_getErrorName(size)));
  }
  header_ = SectionHeader{};
  header_.magic = kSectionMagic;
  header_.kind = meta.kind;
  header_.flags = kFlagZstd;
  header_.stored_size = static_cast<std::uint32_t>(size);
  header_.raw_size = static_cast<std::uint32_t>(payload.size());
  header_.items = meta.items;
  header_.thread = meta.thread;
  header_.first = meta.first.value;
  header_.last = meta.last.value;
  header_.payload_check = Xxh64(buffer_.data() + sizeof header_, size);
  SealHeader(header_);
  std::memcpy(buffer_.data(), &header_, sizeof header_);
  return std::span<const std::byte>(buffer_.data(), sizeof header_ + size);
}

struct SectionDecoder::Context {
  ZSTD_DCtx* zstd = NotNull(ZSTD_createDCtx());
  ~Context() { ZSTD_freeDCtx(zstd); }
};

SectionDecoder::SectionDecoder() : context_(std::make_unique<Context>()) {}
SectionDecoder::~SectionDecoder() = default;

void SealHeader(SectionHeader& header) {
  header.header_check = HeaderCheck(header);
}

bool PayloadIsSound(std::span<const std::byte> file, const SectionRef& section) {
  return Xxh64(file.data() + section.offset + sizeof(SectionHeader), section.header.stored_size) ==
         section.header.payload_check;
}

bool SectionDecoder::Decode(std::span<const std::byte> file, const SectionRef& section,
                            std::span<const std::byte>* payload) {
  const SectionHeader& header = section.header;
  if (header.raw_size > kMaxSectionBytes || !PayloadIsSound(file, section)) {
    return false;
  }
  const std::span<const std::byte> stored =
      file.subspan(section.offset + sizeof header, header.stored_size);
  if ((header.flags & kFlagZstd) == 0) {
    *payload = stored;
    return header.raw_size == header.stored_size;
  }
  // Checks the size that the frame claims before memory is taken for it.
  if (ZSTD_getFrameContentSize(stored.data(), stored.size()) != header.raw_size) {
    return false;
  }
  buffer_.resize(header.raw_size);
  const std::size_t size = ZSTD_decompressDCtx(context_->zstd, buffer_.data(), buffer_.size(),
                                               stored.data(), stored.size());
  *payload = buffer_;
  return ZSTD_isError(size) == 0 && size == header.raw_size;
}

void ReleaseSection(const MappedFile& file, const SectionRef& section) {
  file.Release(
      file.bytes().subspan(section.offset, sizeof(SectionHeader) + section.header.stored_size));
}

bool ReadContentsPart(std::span<const std::byte> file, const SectionRef& part,
                      std::vector<SectionRef>& sections) {
  return LiesInside(file, part) && ReadEntries(file, part, sections);
}

LastMark FindLastMark(std::span<const std::byte> file) {
  LastMark mark;
  Losses unused;
  const SectionList list = FindSections(file, unused);
  SectionDecoder decoder;
  for (auto it = list.sections.rbegin(); it != list.sections.rend(); ++it) {
    std::span<const std::byte> payload;
    if (it->header.kind == kMark && decoder.Decode(file, *it, &payload) &&
        ReadMark(payload, mark.number, mark.tail_bytes)) {
      mark.end = it->offset + sizeof(SectionHeader) + it->header.stored_size;
      return mark;
    }
  }
  return LastMark{};
}

bool HasContents(std::span<const std::byte> file) {
  std::uint64_t unused = 0;
  return HasFooter(file, &unused);
}

SectionList FindSections(std::span<const std::byte> file, Losses& losses) {
  SectionList list;
  if (ReadContents(file, list.sections)) {
    list.complete = true;
    return list;
  }
  list.sections.clear();
  std::uint64_t unused = 0;
  losses.unsealed = true;
  const bool has_footer = HasFooter(file, &unused);
  std::uint64_t at = sizeof(PackedHeader);
  while (at < file.size()) {
    SectionRef section;
    section.offset = at;
    if (ReadHeader(file, at, &section.header)) {
      if (!IsContents(section.header.kind)) {
        list.sections.push_back(section);
      }
      at += sizeof(SectionHeader) + section.header.stored_size;
      continue;
    }
    const std::uint64_t next = NextMagic(file, at + 1);
    const bool tail = next == file.size();
    if (!(tail && has_footer && file.size() - at == sizeof(PackedFooter))) {
      losses.damaged_bytes += next - at;
      losses.damaged_chunks += tail ? 0u : 1u;
      losses.truncated = losses.truncated || (tail && !has_footer);
    }
    at = next;
  }
  return list;
}

}  // namespace penstock::traces::packed
