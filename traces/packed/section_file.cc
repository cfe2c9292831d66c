// SPDX-License-Identifier: Apache-2.0
#include "traces/packed/section_file.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "traces/base/xxh64.h"

namespace penstock::traces::packed {
namespace {

constexpr std::uint64_t kMaxWaiting = std::uint64_t{64} << 20;  // bytes of sections
// The number of sections that one part of the contents lists. They take 3 MB of memory.
constexpr std::size_t kContentsPart = std::size_t{1} << 15;

// Whether readers need sections of this kind to understand others. Such sections are not given up.
bool IsTable(std::uint16_t kind) {
  return kind != kSpans && kind != kEvents && kind != kCounters && kind != kPreview &&
         kind != kUnits && kind != kCalls;
}

}  // namespace

SectionFile::SectionFile(OutputFile file) : file_(std::move(file)) {
  PackedHeader header{};
  std::memcpy(header.magic, kMagic, sizeof header.magic);
  header.major = kMajor;
  header.minor = kMinor;
  header.header_size = sizeof header;
  AppendBytes(std::as_bytes(std::span(&header, 1)));
}

void SectionFile::AppendBytes(std::span<const std::byte> bytes) {
  if (status_) {
    status_ = file_.Append(bytes);
    no_room_ = waits_ && !status_ && file_.no_room();
    if (no_room_) TakeBack();
  }
}

void SectionFile::Mark(bool forget) {
  marked_ = file_.size();
  file_.StartWriting();
  while (forget && status_ && written_.size() >= kContentsPart) {
    const std::size_t before = parts_.size();
    WritePart(0, kContentsPart);
    if (parts_.size() == before) return;  // the disk is full; try again later
    written_.erase(written_.begin(), written_.begin() + kContentsPart);
    marked_ = file_.size();
  }
}

// Moves the sections that were written since the mark from the file to those that wait.
void SectionFile::TakeBack() {
  const auto bytes = file_.Map();
  if (marked_ < sizeof(PackedHeader) || !bytes) {
    return;
  }
  auto first = written_.end();
  while (first != written_.begin() && (first - 1)->section.offset >= marked_) {
    --first;
  }
  for (auto it = first; it != written_.end(); ++it) {
    const std::size_t size = sizeof(SectionHeader) + it->section.header.stored_size;
    Wait(*it, bytes->bytes().subspan(it->section.offset, size));
  }
  written_.erase(first, written_.end());
  std::erase_if(parts_, [this](const SectionRef& part) { return part.offset >= marked_; });
  file_.CutBack(marked_);
}

void SectionFile::Wait(const WrittenSection& section, std::span<const std::byte> bytes) {
  const SectionHeader& header = section.section.header;
  if (waiting_bytes_ + bytes.size() > kMaxWaiting && !IsTable(header.kind)) {
    // A counter is sampled, so a missing value is no lost event.
    given_up_ += header.kind == kCounters ? 0 : header.items;
    return;
  }
  waiting_.push_back({section, {bytes.begin(), bytes.end()}});
  waiting_bytes_ += bytes.size();
}

void SectionFile::Write(const SectionMeta& meta, const ByteWriter& payload, TimeNs arrived,
                        bool unfinished) {
  if (!status_ && !no_room_) {
    return;
  }
  const auto section = encoder_->Encode(meta, payload.bytes());
  if (!section) {
    status_ = tl::unexpected<Error>(section.error());
    no_room_ = false;
    return;
  }
  Append(encoder_->header(), *section, arrived, unfinished);
}

void SectionFile::Append(const SectionHeader& header, std::span<const std::byte> section,
                         TimeNs arrived, bool unfinished) {
  const WrittenSection entry{{header, file_.size()}, arrived, unfinished};
  AppendBytes(section);
  if (status_) {
    if (header.kind == kContents) {
      parts_.push_back(entry.section);
    } else if (header.kind != kContentsList) {  // the footer refers to it
      written_.push_back(entry);
    }
  } else if (no_room_) {
    Wait(entry, section);
  }
}

void SectionFile::TryAgain() {
  if (!WaitsForRoom()) {
    return;
  }
  status_ = {};
  no_room_ = false;
  // What still finds no room waits again.
  const std::vector<Waiting> waiting = std::exchange(waiting_, {});
  waiting_bytes_ = 0;
  if (file_.size() == 0) {
    const std::uint64_t given_up = given_up_;
    *this = SectionFile(std::move(file_));  // there was no room even for the header
    given_up_ = given_up;
  }
  for (const Waiting& next : waiting) {
    const WrittenSection& written = next.section;
    Append(written.section.header, next.bytes, written.arrived, written.unfinished);
  }
}

std::vector<SectionRef> SectionFile::Sections(std::span<const std::byte> file) const {
  std::vector<SectionRef> sections;
  for (const SectionRef& part : parts_) {
    if (!ReadContentsPart(file, part, sections)) break;  // another program has changed the file
  }
  sections.reserve(sections.size() + written_.size());
  for (const WrittenSection& written : written_) {
    sections.push_back(written.section);
  }
  return sections;
}

// Writes `count` entries of written_, beginning at `from`, as a part of the contents. A part that
// finds no room does not wait, because written_ still has its entries for another call.
void SectionFile::WritePart(std::size_t from, std::size_t count) {
  ByteWriter payload;
  for (const WrittenSection& written : std::span(written_).subspan(from, count)) {
    payload.Raw(std::as_bytes(std::span(&written.section.offset, 1)));
    payload.Raw(std::as_bytes(std::span(&written.section.header, 1)));
  }
  Write({.kind = kContents, .items = static_cast<std::uint32_t>(count)}, payload);
  if (!status_ && !waiting_.empty() && waiting_.back().section.section.header.kind == kContents) {
    waiting_bytes_ -= waiting_.back().bytes.size();
    waiting_.pop_back();
  }
}

void SectionFile::WriteContents() {
  // A file without sections gets one empty part, so that the footer has something to refer to.
  for (std::size_t from = 0; status_ && (from < written_.size() || parts_.empty());
       from += kContentsPart) {
    WritePart(from, std::min(kContentsPart, written_.size() - from));
  }
  if (!status_) {
    return;
  }
  PackedFooter footer{};
  footer.contents_offset = parts_.back().offset;
  if (parts_.size() > 1) {
    footer.contents_offset = file_.size();
    ByteWriter payload;
    for (const SectionRef& part : parts_) {
      payload.Raw(std::as_bytes(std::span(&part.offset, 1)));
      payload.Raw(std::as_bytes(std::span(&part.header, 1)));
    }
    Write({.kind = kContentsList, .items = static_cast<std::uint32_t>(parts_.size())}, payload);
  }
  footer.check = Xxh64(&footer.contents_offset, sizeof footer.contents_offset);
  std::memcpy(footer.magic, kEndMagic, sizeof footer.magic);
  AppendBytes(std::as_bytes(std::span(&footer, 1)));
}

Result<SectionFile> SectionFile::Beside() const {
  Result<OutputFile> file =
      OutputFile::Create(file_.final_path(), file_.suffix() + ".new", file_.rules());
  PENSTOCK_TRY(file);
  SectionFile beside(std::move(*file));
  beside.waits_ = false;
  return Result<SectionFile>(std::move(beside));
}

Result<void> SectionFile::TakePlaceOf(SectionFile& other) {
  waits_ = true;
  return file_.TakePlaceOf(other.file_);
}

}  // namespace penstock::traces::packed
