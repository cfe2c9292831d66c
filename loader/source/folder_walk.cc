// SPDX-License-Identifier: Apache-2.0
#include "loader/source/folder_walk.h"

#include <dirent.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <memory>
#include <string_view>
#include <utility>

#include "loader/source/descriptor.h"
#include "loader/source/tar_index.h"

namespace penstock::loader {
namespace {

struct CloseDirectory {
  void operator()(DIR* directory) const { ::closedir(directory); }
};

bool IsFolder(int directory, const dirent& entry) {
  if (entry.d_type != DT_LNK && entry.d_type != DT_UNKNOWN) {
    return entry.d_type == DT_DIR;
  }
  struct stat info {};
  return ::fstatat(directory, entry.d_name, &info, 0) == 0 && S_ISDIR(info.st_mode);
}

}  // namespace

Result<FolderEntries> ListFolder(const std::filesystem::path& folder) {
  const std::unique_ptr<DIR, CloseDirectory> directory(::opendir(folder.c_str()));
  if (directory == nullptr) {
    return Fail(ErrorKind::kInput, fmt::format("{}: cannot be read: {}; check its permissions",
                                               Printable(folder.native()), ErrnoText(errno)));
  }
  FolderEntries out;
  for (;;) {
    errno = 0;
    const dirent* entry = ::readdir(directory.get());
    if (entry == nullptr) {
      break;
    }
    const std::string_view name = entry->d_name;
    if (name != "." && name != "..") {
      const bool is_folder = IsFolder(::dirfd(directory.get()), *entry);
      (is_folder ? out.folders : out.files).emplace_back(name);
    }
  }
  if (errno != 0) {
    return Fail(ErrorKind::kInput, fmt::format("{}: cannot be read to its end: {}; check the disk",
                                               Printable(folder.native()), ErrnoText(errno)));
  }
  std::sort(out.folders.begin(), out.folders.end());
  std::sort(out.files.begin(), out.files.end());
  return out;
}

std::string_view FileExtension(std::string_view name) {
  const std::size_t dot = name.rfind('.');
  return dot == std::string_view::npos ? std::string_view() : name.substr(dot + 1);
}

Result<std::vector<FolderFiles>> WalkImages(const std::filesystem::path& root) {
  constexpr std::size_t kNone = ~std::size_t{0};
  struct Visit {
    std::string folder;  // relative
    std::size_t parent;  // index of a Visit
    dev_t device = 0;
    ino_t inode = 0;
  };
  std::vector<Visit> visits{{"", kNone}};
  std::vector<FolderFiles> out;
  for (std::size_t at = 0; at < visits.size(); ++at) {
    const std::filesystem::path whole = visits[at].folder.empty() ? root : root / visits[at].folder;
    struct stat info {};
    if (::stat(whole.c_str(), &info) == 0) {
      visits[at].device = info.st_dev;
      visits[at].inode = info.st_ino;
    }
    for (std::size_t above = visits[at].parent; above != kNone; above = visits[above].parent) {
      if (visits[above].device == info.st_dev && visits[above].inode == info.st_ino) {
        return Fail(ErrorKind::kInput,
                    fmt::format("{}: is a link to a folder above itself; remove it",
                                Printable(whole.native())));
      }
    }
    Result<FolderEntries> entries = ListFolder(whole);
    PENSTOCK_TRY(entries);
    for (const std::string& name : entries->folders) {
      const std::string& above = visits[at].folder;
      visits.push_back({above.empty() ? name : above + "/" + name, at});
    }
    std::erase_if(entries->files,
                  [](const std::string& name) { return !IsImageExtension(FileExtension(name)); });
    if (!entries->files.empty()) {
      out.push_back({visits[at].folder, std::move(entries->files)});
    }
  }
  std::sort(out.begin(), out.end(),
            [](const FolderFiles& a, const FolderFiles& b) { return a.folder < b.folder; });
  return out;
}

}  // namespace penstock::loader
