// SPDX-License-Identifier: Apache-2.0
//
// Writes files into one archive, .zip or .tar.gz, which appears under its name only when it is
// complete. Each file gets the time of Create() and no owner. Not thread-safe.
// Source: PKWARE's APPNOTE 6.3; POSIX.1-1988 (ustar); zlib's manual.
#pragma once

#include <cstddef>
#include <cstdint>
#include <ctime>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "traces/base/file.h"
#include "traces/base/result.h"

namespace penstock::analyzer {

enum class ArchiveKind { kZip, kTarGz };

// The kind that the end of the name asks for: .zip, .tar.gz or .tgz. Errors: kUsage.
[[nodiscard]] Result<ArchiveKind> ArchiveKindOf(const std::filesystem::path& path);

class Archive {
 public:
  // If neither Finish() nor Discard() was called, the temporary file stays.
  virtual ~Archive() = default;

  // The temporary name, which the file has until Finish(). It holds the number of this process.
  [[nodiscard]] static std::filesystem::path TemporaryName(const std::filesystem::path& path);
  // Also removes temporary files that killed processes left for `path`. Errors: kUsage, kOutput.
  [[nodiscard]] static Result<std::unique_ptr<Archive>> Create(const std::filesystem::path& path,
                                                               bool replace);

  // `name` is a relative path of at most 100 characters. Errors: kOutput, also if a .zip would
  // exceed 4 GB, or one file in a .tar.gz 8 GB; kEnvironment without memory to compress.
  virtual Result<void> Add(const std::string& name, std::span<const std::byte> bytes) = 0;
  // Gives the file its final name. Errors: kOutput.
  [[nodiscard]] Result<void> Finish();
  void Discard() { file_.Discard(); }
  // The file that Finish() has made, and its size.
  [[nodiscard]] const std::filesystem::path& path() const { return file_.final_path(); }
  [[nodiscard]] std::uint64_t size() const { return file_.size(); }

 protected:
  Archive(OutputFile file, std::time_t now) : file_(std::move(file)), now_(now) {}
  virtual Result<void> End() = 0;
  Result<void> Write(std::string_view bytes);

  OutputFile file_;
  std::time_t now_;
};

}  // namespace penstock::analyzer
