// SPDX-License-Identifier: Apache-2.0
//
// Writes a tar file (POSIX ustar) of small members. Owner and time are 0, so the bytes are the same
// each time.
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <string_view>

#include "traces/base/file.h"

namespace penstock::loader {

class TarWriter {
 public:
  // Errors: kOutput.
  static Result<TarWriter> Create(const std::filesystem::path& path);

  // Adds a member. Its name has at most 100 bytes, or has a slash with at most 155 bytes before and
  // 1 to 100 bytes after it. Errors: kOutput; kInput for another name, or for 8 GiB or more.
  Result<void> Add(std::string_view name, std::span<const std::byte> bytes);

  // Writes the end of the archive and gives the file its name. Errors: kOutput.
  Result<void> Commit();
  void Discard() { file_.Discard(); }

 private:
  explicit TarWriter(OutputFile file) : file_(std::move(file)) {}

  OutputFile file_;
};

}  // namespace penstock::loader
