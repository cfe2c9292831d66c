// SPDX-License-Identifier: Apache-2.0
//
// Sections of a packed trace: compresses them, checks them, and finds them in a file, damaged or
// not. Objects are not thread-safe; functions are.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "traces/base/bytes.h"
#include "traces/base/file.h"
#include "traces/base/result.h"
#include "traces/event.h"
#include "traces/packed/packed_layout.h"

namespace penstock::traces::packed {

struct SectionMeta {
  SectionKind kind = kSpans;
  std::uint32_t items = 0;
  std::uint32_t thread = 0;
  TimeNs first{};
  TimeNs last{};
};

// A section in the file: its header and the offset of that header.
struct SectionRef {
  SectionHeader header{};
  std::uint64_t offset = 0;
};

class SectionEncoder {
 public:
  SectionEncoder();
  ~SectionEncoder();
  SectionEncoder(const SectionEncoder&) = delete;
  SectionEncoder& operator=(const SectionEncoder&) = delete;

  // Returns the header and the compressed payload, valid until the next call.
  // Requires: payload.size() <= kMaxSectionBytes. Errors: kOutput if zstd fails.
  Result<std::span<const std::byte>> Encode(const SectionMeta& meta,
                                            std::span<const std::byte> payload);
  // The header of the section made last.
  [[nodiscard]] const SectionHeader& header() const { return header_; }

 private:
  struct Context;
  std::unique_ptr<Context> context_;
  std::vector<std::byte> buffer_;
  SectionHeader header_{};
};

class SectionDecoder {
 public:
  SectionDecoder();
  ~SectionDecoder();
  SectionDecoder(const SectionDecoder&) = delete;
  SectionDecoder& operator=(const SectionDecoder&) = delete;

  // Sets `*payload` to the decompressed payload, valid until the next call and as long as `file`.
  // Returns false if the section is damaged.
  [[nodiscard]] bool Decode(std::span<const std::byte> file, const SectionRef& section,
                            std::span<const std::byte>* payload);

 private:
  struct Context;
  std::unique_ptr<Context> context_;
  std::vector<std::byte> buffer_;
};

// Sets the check of a header whose fields have changed.
void SealHeader(SectionHeader& header);

// Whether the stored payload is as it was written.
[[nodiscard]] bool PayloadIsSound(std::span<const std::byte> file, const SectionRef& section);

// Frees the memory of a section that was read: the decoded section is in memory already. See
// MappedFile::Release.
void ReleaseSection(const MappedFile& file, const SectionRef& section);

struct SectionList {
  std::vector<SectionRef> sections;  // in the order of the file, without the tables of contents
  bool complete = false;             // the footer and a sound table of contents were found
};

// The last kMark of an unfinished file.
struct LastMark {
  std::uint64_t number = 0;  // 0: there is none
  std::uint64_t tail_bytes = 0;
  std::uint64_t end = 0;  // where its section ends
};
[[nodiscard]] LastMark FindLastMark(std::span<const std::byte> file);

// Whether the file ends like a finished one.
[[nodiscard]] bool HasContents(std::span<const std::byte> file);

// Adds the sections that one part of the contents lists. Returns false if it is damaged.
[[nodiscard]] bool ReadContentsPart(std::span<const std::byte> file, const SectionRef& part,
                                    std::vector<SectionRef>& sections);

// Finds the sections by the table of contents, otherwise by scanning from the start.
// Requires: the file begins with a PackedHeader. A scan sets `losses.unsealed` and adds the bytes
// that it skips.
// Cost: proportional to the number of sections, or to the size of the file if it is damaged.
[[nodiscard]] SectionList FindSections(std::span<const std::byte> file, Losses& losses);

}  // namespace penstock::traces::packed
