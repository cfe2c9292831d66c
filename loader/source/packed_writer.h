// SPDX-License-Identifier: Apache-2.0
//
// Writes a packed file: samples back to back, then an index and its checksum (packed_layout.h
// describes the format). The file gets its name in Finish(); a writer that is destroyed before that
// leaves nothing behind. Memory does not grow with the number of samples. Not thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string_view>

#include "traces/base/result.h"

namespace penstock::loader {

class PackedWriter {
 public:
  // Errors: kOutput if `path`'s folder cannot be written.
  static Result<PackedWriter> Create(const std::filesystem::path& path);
  ~PackedWriter();
  PackedWriter(PackedWriter&& other) noexcept;
  PackedWriter& operator=(PackedWriter&& other) noexcept;

  // Appends one sample. A label of -1 means none.
  // Errors: kInput if the name is empty or longer than 4095 bytes; kOutput if the disk is full.
  // After an error the file still holds the samples added before, and may be finished.
  Result<void> Add(std::string_view name, std::int64_t label, std::span<const std::byte> bytes);

  // Writes the index, flushes to disk and renames. Call once, last.
  // Errors: kInput if no sample was added; kOutput.
  Result<void> Finish();

  [[nodiscard]] std::uint64_t count() const;
  [[nodiscard]] std::uint64_t bytes() const;  // written so far, without the index

 private:
  struct State;
  explicit PackedWriter(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace penstock::loader
