// SPDX-License-Identifier: Apache-2.0
#include "traces/section_file.h"

#include <cstring>
#include <utility>

#include "traces/base/xxh64.h"

namespace penstock::traces::packed {
namespace {

constexpr std::uint64_t kMaxWaiting = std::uint64_t{64} << 20;

// Without these what comes later cannot be understood.
bool IsTable(std::uint16_t kind) {
  return kind != kSpans && kind != kEvents && kind != kCounters && kind != kPreview;
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

void SectionFile::Mark() {
  marked_ = file_.size();
}

void SectionFile::TakeBack() {
  const auto bytes = MappedFile::Open(file_.temporary());
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
  file_.CutBack(marked_);
}

void SectionFile::Wait(const WrittenSection& section, std::span<const std::byte> bytes) {
  const SectionHeader& header = section.section.header;
  if (waiting_bytes_ + bytes.size() > kMaxWaiting && !IsTable(header.kind)) {
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
    if (header.kind != kContents) {
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
  const std::vector<Waiting> waiting = std::exchange(waiting_, {});
  waiting_bytes_ = 0;
  if (file_.size() == 0) {
    *this = SectionFile(std::move(file_));  // not even the header found room
  }
  for (const Waiting& one : waiting) {
    Append(one.section.section.header, one.bytes, one.section.arrived, one.section.unfinished);
  }
}

std::vector<SectionRef> SectionFile::Sections() const {
  std::vector<SectionRef> sections;
  sections.reserve(written_.size());
  for (const WrittenSection& written : written_) {
    sections.push_back(written.section);
  }
  return sections;
}

void SectionFile::WriteContents() {
  ByteWriter payload;
  for (const WrittenSection& written : written_) {
    payload.Raw(std::as_bytes(std::span(&written.section.offset, 1)));
    payload.Raw(std::as_bytes(std::span(&written.section.header, 1)));
  }
  PackedFooter footer{};
  footer.contents_offset = file_.size();
  footer.check = Xxh64(&footer.contents_offset, sizeof footer.contents_offset);
  std::memcpy(footer.magic, kEndMagic, sizeof footer.magic);
  if (payload.size() <= kMaxSectionBytes) {  // else the reader scans
    Write({.kind = kContents, .items = static_cast<std::uint32_t>(written_.size())}, payload);
  }
  AppendBytes(std::as_bytes(std::span(&footer, 1)));
}

Result<SectionFile> SectionFile::Beside() const {
  Result<OutputFile> file = OutputFile::Create(file_.final_path(), ".part.new");
  if (!file) {
    return tl::unexpected<Error>(file.error());
  }
  SectionFile beside(std::move(*file));
  beside.waits_ = false;
  return Result<SectionFile>(std::move(beside));
}

Result<void> SectionFile::TakePlaceOf(SectionFile& other) {
  waits_ = true;
  return file_.TakePlaceOf(other.file_);
}

}  // namespace penstock::traces::packed
