// SPDX-License-Identifier: Apache-2.0
//
// A packed file while it is written, section by section. Owns the file. Where the disk is full the
// sections wait in memory, in their order, until there is room again. Not thread-safe.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "traces/base/bytes.h"
#include "traces/base/file.h"
#include "traces/base/result.h"
#include "traces/packed/section.h"

namespace penstock::traces::packed {

// A section of the file, and what its writer knew besides.
struct WrittenSection {
  SectionRef section;
  TimeNs arrived{};         // the newest time that was known when it was written
  bool unfinished = false;  // holds spans that were cut off by the death of their thread
};

class SectionFile {
 public:
  // Writes the header of the file.
  explicit SectionFile(OutputFile file);

  void Write(const SectionMeta& meta, const ByteWriter& payload, TimeNs arrived = {},
             bool unfinished = false);
  // The same for a section that is encoded already: header and payload. Requires: a sealed header.
  void Append(const SectionHeader& header, std::span<const std::byte> section, TimeNs arrived,
              bool unfinished);
  // The table of contents and the footer. A long file has parts of its contents in its middle: what
  // is written here, and what was held in memory for it, does not grow with the file.
  void WriteContents();

  // Errors: kOutput. All that is written after one that stays is dropped.
  [[nodiscard]] const Result<void>& status() const { return status_; }
  // The error is a full disk: what is written waits, up to 64 MiB of it, until TryAgain() finds
  // room. Spans and events beyond that are counted in given_up().
  [[nodiscard]] bool WaitsForRoom() const { return !status_ && no_room_; }
  void TryAgain();
  // What is written up to here stays, and those who write it need not be able to look at it in
  // written() again if `forget`. When the disk turns out to be full, all that was written
  // since is taken back and waits as well: its writer may have it elsewhere until the next Mark().
  void Mark(bool forget = true);
  // See OutputFile; true if it has another name now, or is another file. An error is none yet: what
  // was written can be read, another call may succeed.
  bool KeepName() { return file_.KeepName().value_or(false); }
  [[nodiscard]] std::uint64_t given_up() const { return given_up_; }

  // Those that are on disk and not forgotten, in their order.
  [[nodiscard]] const std::vector<WrittenSection>& written() const { return written_; }
  // All that are on disk. `file`: what was written.
  [[nodiscard]] std::vector<SectionRef> Sections(std::span<const std::byte> file) const;
  [[nodiscard]] const OutputFile& file() const { return file_; }

  // An empty file beside this one, to take its place. Errors: kOutput.
  [[nodiscard]] Result<SectionFile> Beside() const;
  // Takes the place, and the name, of `other`, which is closed. Errors: kOutput; nothing has
  // changed then.
  [[nodiscard]] Result<void> TakePlaceOf(SectionFile& other);

  Result<void> Commit() { return file_.Commit(); }
  void Discard() { file_.Discard(); }

 private:
  // A section that could not be written for want of room.
  struct Waiting {
    WrittenSection section;
    std::vector<std::byte> bytes;
  };
  void AppendBytes(std::span<const std::byte> bytes);
  void WritePart(std::size_t from, std::size_t count);
  void TakeBack();
  void Wait(const WrittenSection& section, std::span<const std::byte> bytes);

  OutputFile file_;
  Result<void> status_;
  bool waits_ = true;  // for room; not while it is to take another's place
  bool no_room_ = false;
  std::uint64_t marked_ = 0;  // size of the file at the last Mark()
  std::vector<WrittenSection> written_;
  std::vector<SectionRef> parts_;  // of the contents, on disk
  std::vector<Waiting> waiting_;
  std::uint64_t waiting_bytes_ = 0;
  std::uint64_t given_up_ = 0;
  std::unique_ptr<SectionEncoder> encoder_ = std::make_unique<SectionEncoder>();
};

}  // namespace penstock::traces::packed
