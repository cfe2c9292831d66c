// SPDX-License-Identifier: Apache-2.0
//
// Sections of a packed trace: compression, checks, finding them in a file, damaged or not.
// Objects are not thread-safe; functions are.
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

// A section in the file: its header and where that lies.
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

  // Header and compressed payload, valid until the next call.
  // Requires: payload.size() <= kMaxSectionBytes. Errors: kOutput if zstd fails.
  Result<std::span<const std::byte>> Encode(const SectionMeta& meta,
                                            std::span<const std::byte> payload);
  // Of the section made last.
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

  // The payload before compression, valid until the next call; false if it is damaged.
  [[nodiscard]] bool Decode(std::span<const std::byte> file, const SectionRef& section,
                            std::span<const std::byte>* payload);

 private:
  struct Context;
  std::unique_ptr<Context> context_;
  std::vector<std::byte> buffer_;
};

// Gives a header that was changed the check that it then needs.
void SealHeader(SectionHeader& header);

// Whether the stored payload is what was written.
[[nodiscard]] bool PayloadIsSound(std::span<const std::byte> file, const SectionRef& section);

// Gives back the memory of a section that was read: the file need not stay in memory as well as
// what was made of it. See MappedFile::Release.
void ReleaseSection(const MappedFile& file, const SectionRef& section);

struct SectionList {
  std::vector<SectionRef> sections;  // in the order of the file, without the contents
  bool complete = false;             // a footer and a sound table of contents were there
};

// The last kMark of an unfinished file.
struct LastMark {
  std::uint64_t number = 0;  // 0: there is none
  std::uint64_t tail_bytes = 0;
  std::uint64_t end = 0;  // where its section ends
};
[[nodiscard]] LastMark FindLastMark(std::span<const std::byte> file);

// Whether the file ends as a finished one does.
[[nodiscard]] bool HasContents(std::span<const std::byte> file);

// Adds what one section of the contents lists. False: it is damaged.
[[nodiscard]] bool ReadContentsPart(std::span<const std::byte> file, const SectionRef& part,
                                    std::vector<SectionRef>& sections);

// Finds the sections by the table of contents, or else by scanning from the start.
// Requires: the file begins with a PackedHeader. What is skipped goes to `losses`.
// Cost: proportional to the number of sections, or to the size of the file if it is damaged.
[[nodiscard]] SectionList FindSections(std::span<const std::byte> file, Losses& losses);

}  // namespace penstock::traces::packed
