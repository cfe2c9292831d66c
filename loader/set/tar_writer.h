// SPDX-License-Identifier: Apache-2.0
//
// A tar file (POSIX ustar) of small members, the same bytes each time: owner 0, time 0.
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

  // Requires: fewer than 8 GiB.
  // Errors:   kOutput; kInput for a name that is too long: its last part takes 100 bytes at most,
  //           what is before it 155.
  Result<void> Add(std::string_view name, std::span<const std::byte> bytes);

  // Writes the end of the archive and gives the file its name. Errors: kOutput.
  Result<void> Commit();
  void Discard() { file_.Discard(); }

 private:
  explicit TarWriter(OutputFile file) : file_(std::move(file)) {}

  OutputFile file_;
};

}  // namespace penstock::loader
