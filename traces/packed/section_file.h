// SPDX-License-Identifier: Apache-2.0
//
// A packed file while it is written, section by section. Owns the file. If the disk is full,
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

// A section in the file, with its writer's knowledge about it.
struct WrittenSection {
  SectionRef section;
  TimeNs arrived{};         // the newest time known when it was written
  bool unfinished = false;  // it has spans that ended with the death of their thread
};

class SectionFile {
 public:
  // Writes the header of the file.
  explicit SectionFile(OutputFile file);

  void Write(const SectionMeta& meta, const ByteWriter& payload, TimeNs arrived = {},
             bool unfinished = false);
  // Writes a section that is already encoded: header and payload. Requires: a sealed header.
  void Append(const SectionHeader& header, std::span<const std::byte> section, TimeNs arrived,
              bool unfinished);
  // Writes the table of contents and the footer. A long file has parts of its contents in the
  // middle, so neither this table nor its memory grows with the file.
  void WriteContents();

  // Errors: kOutput. After a lasting error, everything further is dropped.
  [[nodiscard]] const Result<void>& status() const { return status_; }
  // Whether the error is a full disk. Then up to 64 MiB wait until TryAgain() finds room. Further
  // spans and events are counted in given_up().
  [[nodiscard]] bool WaitsForRoom() const { return !status_ && no_room_; }
  void TryAgain();
  // Marks that everything written so far stays. With `forget`, written() may leave it out from now
  // on. If the disk turns out to be full, everything written since the mark is removed from the
  // file and waits too. Its writer may still have it elsewhere until the next Mark().
  void Mark(bool forget = true);
  // See OutputFile. Returns true if the file has another name now, or is another file. A failure is
  // not an error yet: the written part can be read, and another call may succeed.
  bool KeepName() { return file_.KeepName().value_or(false); }
  [[nodiscard]] std::uint64_t given_up() const { return given_up_; }

  // The sections that are on disk and not forgotten, in order.
  [[nodiscard]] const std::vector<WrittenSection>& written() const { return written_; }
  // All sections on disk. `file`: the contents of the file.
  [[nodiscard]] std::vector<SectionRef> Sections(std::span<const std::byte> file) const;
  [[nodiscard]] const OutputFile& file() const { return file_; }

  // Makes an empty file next to this one, to replace it. Errors: kOutput.
  [[nodiscard]] Result<SectionFile> Beside() const;
  // Takes the place and the name of `other`, which is closed. Errors: kOutput; then nothing has
  // changed.
  [[nodiscard]] Result<void> TakePlaceOf(SectionFile& other);

  Result<void> Commit() { return file_.Commit(); }
  void Discard() { file_.Discard(); }

 private:
  // A section that could not be written because there was no room.
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
  bool waits_ = true;  // wait for room; false for a file that is to replace another
  bool no_room_ = false;
  std::uint64_t marked_ = 0;  // size of the file at the last Mark()
  std::vector<WrittenSection> written_;
  std::vector<SectionRef> parts_;  // parts of the contents that are on disk
  std::vector<Waiting> waiting_;
  std::uint64_t waiting_bytes_ = 0;
  std::uint64_t given_up_ = 0;
  std::unique_ptr<SectionEncoder> encoder_ = std::make_unique<SectionEncoder>();
};

}  // namespace penstock::traces::packed
