// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <string>
#include <vector>

#include "loader/source/descriptor.h"
#include "loader/source/folder_walk.h"
#include "loader/source/packed_layout.h"
#include "loader/source/record_file.h"
#include "loader/source/sources.h"
#include "loader/source/tar_index.h"
#include "loader/source/tar_reader.h"

namespace penstock::loader {
namespace {

// Formats that people give by mistake, by their first bytes.
struct Refused {
  std::string_view magic;
  std::string_view message;
  // A list may begin with the same letters, as "BZhang/1.jpg 0". Then `more` must follow at
  // `more_at`.
  std::size_t more_at = 0;
  std::string_view more = {};

  [[nodiscard]] bool Is(std::string_view text) const {
    return text.starts_with(magic) && text.substr(std::min(more_at, text.size())).starts_with(more);
  }
};
constexpr std::array<Refused, 8> kRefused = {{
    {"\x1f\x8b",
     "is compressed (gzip); unpack it once with gunzip, then samples can be found in it"},
    {"BZh", "is compressed (bzip2); unpack it once with bunzip2", 4, "1AY&SY"},
    {"\xfd"
     "7zXZ",
     "is compressed (xz); unpack it once with unxz"},
    {"\x28\xb5\x2f\xfd", "is compressed (zstd); unpack it once with unzstd"},
    {"PK\x03\x04", "is a zip; unpack it and give the folder, or make a tar of it"},
    {"\xff\xd8\xff", "is one image; give the folder above its class folder, or a list"},
    {"\x89PNG", "is one image; give the folder above its class folder, or a list"},
    {"RIFF", "is one image; give the folder above its class folder, or a list", 8, "WEBP"},
}};

bool EndsIn(std::string_view name, std::string_view end) {
  return name.size() > end.size() && name.ends_with(end);
}

// True if one of the first 200 subfolders directly holds an image.
bool HasClassFolders(const std::filesystem::path& folder, const FolderEntries& entries) {
  constexpr std::size_t kLookAt = 200;
  for (std::size_t i = 0; i < std::min(entries.folders.size(), kLookAt); ++i) {
    const Result<FolderEntries> inner = ListFolder(folder / entries.folders[i]);
    if (inner && std::any_of(inner->files.begin(), inner->files.end(), [](const std::string& name) {
          return IsImageExtension(FileExtension(name));
        })) {
      return true;
    }
  }
  return false;
}

Result<std::unique_ptr<Source>> OpenDirectory(const std::filesystem::path& path,
                                              const SourceOptions& options) {
  const Result<FolderEntries> entries = ListFolder(path);
  PENSTOCK_TRY(entries);
  std::vector<std::filesystem::path> tars;
  for (const std::string& name : entries->files) {
    if (EndsIn(name, ".tar")) {
      tars.push_back(path / name);
    }
  }
  if (tars.empty()) {
    return OpenFolder(path, options);
  }
  if (HasClassFolders(path, *entries)) {
    return Fail(ErrorKind::kInput,
                fmt::format("{}: holds tars and folders of images; keep one of them there",
                            Printable(path.native())));
  }
  return OpenTars(std::move(tars), options);
}

}  // namespace

Source::~Source() = default;

Result<std::string> Source::ClassName(std::uint64_t label) const {
  return std::to_string(label);
}

Result<std::unique_ptr<Source>> OpenSource(const std::filesystem::path& path,
                                           const SourceOptions& options) {
  const std::string shown = Printable(path.native());
  // O_NONBLOCK, since opening a FIFO would hang.
  const Descriptor fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  struct stat info {};
  if (!fd || ::fstat(fd.get(), &info) != 0) {
    return Fail(ErrorKind::kInput,
                fmt::format("{}: cannot be opened: {}; check path and permissions", shown,
                            ErrnoText(errno)));
  }
  if (S_ISDIR(info.st_mode)) {
    return OpenDirectory(path, options);
  }
  if (!S_ISREG(info.st_mode)) {
    return Fail(ErrorKind::kInput, fmt::format("{}: is neither file nor folder; give a folder, a "
                                               "tar, a packed file or a list",
                                               shown));
  }
  std::array<std::byte, 512> block{};
  const std::int64_t got = ReadSome(fd.get(), 0, block);
  if (got < 0) {
    return Fail(ErrorKind::kInput,
                fmt::format("{}: cannot be read: {}; check the disk", shown, ErrnoText(errno)));
  }
  const std::span<const std::byte> begin(block.data(), static_cast<std::size_t>(got));
  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-reinterpret-cast): bytes as text
  const std::string_view text(reinterpret_cast<const char*>(begin.data()), begin.size());
  if (text.starts_with(std::string_view(kPackMagic.data(), kPackMagic.size()))) {
    return OpenPacked(path, options);
  }
  if (EndsIn(path.native(), ".tar") || LooksLikeTar(begin)) {
    return OpenTars({path}, options);
  }
  for (const Refused& refused : kRefused) {
    if (refused.Is(text)) {
      return Fail(ErrorKind::kInput, fmt::format("{}: {}", shown, refused.message));
    }
  }
  if (text.empty()) {
    return Fail(ErrorKind::kInput,
                fmt::format("{}: is empty; give a list of \"path label\" lines", shown));
  }
  return OpenList(path, options);
}

}  // namespace penstock::loader
