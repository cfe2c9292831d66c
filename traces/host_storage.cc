// SPDX-License-Identifier: Apache-2.0
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include <algorithm>
#include <array>
#include <system_error>

#include <fmt/format.h>

#include "traces/base/small_file.h"
#include "traces/host_facts.h"

namespace penstock::traces {
namespace {

// Mount points in mountinfo have blanks and backslashes in octal.
std::string Unescaped(std::string_view text) {
  std::string plain;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\\' && i + 3 < text.size()) {
      const int value = (text[i + 1] - '0') * 64 + (text[i + 2] - '0') * 8 + (text[i + 3] - '0');
      plain += static_cast<char>(value);
      i += 3;
    } else {
      plain += text[i];
    }
  }
  return plain;
}

std::vector<std::string_view> Words(std::string_view line) {
  std::vector<std::string_view> words;
  while (!line.empty()) {
    const auto space = line.find(' ');
    if (space != 0) words.push_back(line.substr(0, space));
    if (space == std::string_view::npos) break;
    line.remove_prefix(space + 1);
  }
  return words;
}

bool Contains(std::string_view path, std::string_view folder) {
  if (folder == "/") return true;
  return path.substr(0, folder.size()) == folder &&
         (path.size() == folder.size() || path[folder.size()] == '/');
}

bool IsOneOf(std::string_view word, std::initializer_list<std::string_view> list) {
  return std::find(list.begin(), list.end(), word) != list.end();
}

// The kind of a block device. Device mapper and RAID have the kind of their first part.
std::string DeviceKind(std::filesystem::path sys, int depth = 0) {
  std::error_code error;
  sys = std::filesystem::canonical(sys, error);
  if (error || depth > 4) return "unknown";
  for (std::filesystem::directory_iterator it(sys / "slaves", error), end; !error && it != end;
       it.increment(error)) {
    return DeviceKind(it->path(), depth + 1);
  }
  // A partition has the queue of its disk, the directory above.
  const std::filesystem::path disk =
      std::filesystem::exists(sys / "queue", error) ? sys : sys.parent_path();
  const auto rotational = ReadFile(disk / "queue" / "rotational");
  if (!rotational) return "unknown";
  if (Trimmed(*rotational) == "1") return "rotational";
  return disk.filename().string().rfind("nvme", 0) == 0 ? "nvme" : "ssd";
}

std::string BlockKind(dev_t device) {
  return DeviceKind(fmt::format("/sys/dev/block/{}:{}", major(device), minor(device)));
}

}  // namespace

std::optional<Mount> FindMount(std::string_view mountinfo, std::string_view path) {
  std::optional<Mount> best;
  std::size_t best_size = 0;
  for (const std::string_view line : SplitLines(mountinfo)) {
    const auto words = Words(line);
    const auto dash = std::find(words.begin(), words.end(), "-");
    if (words.size() < 6 || words.end() - dash < 3) continue;
    const std::string point = Unescaped(words[4]);
    // A later mount on the same point hides the earlier one.
    if (!Contains(path, point) || point.size() < best_size) continue;
    best_size = point.size();
    best = Mount{std::string(*(dash + 1)), Unescaped(*(dash + 2))};
  }
  return best;
}

Storage StorageOf(const std::filesystem::path& folder) {
  Storage storage{"unknown", "unknown"};
  std::error_code error;
  std::filesystem::path at = std::filesystem::weakly_canonical(folder, error);
  if (error || !at.is_absolute()) return storage;
  struct stat info {};
  while (stat(at.c_str(), &info) != 0) {
    if (at == at.root_path()) return storage;
    at = at.parent_path();
  }
  const auto mountinfo = ReadFile("/proc/self/mountinfo", 4u << 20);
  const auto mount = mountinfo ? FindMount(*mountinfo, at.string()) : std::nullopt;
  if (!mount) return storage;
  storage.filesystem = mount->filesystem;
  const std::string_view type = mount->filesystem;
  if (IsOneOf(type, {"tmpfs", "ramfs", "hugetlbfs"})) {
    storage.device = "memory";
  } else if (IsOneOf(type, {"nfs", "nfs4", "cifs", "smb3", "lustre", "ceph", "gpfs", "beegfs", "9p",
                            "afs", "glusterfs", "orangefs", "virtiofs"}) ||
             type.rfind("fuse.", 0) == 0) {
    storage.device = "network";
  } else if (major(info.st_dev) != 0) {
    storage.device = BlockKind(info.st_dev);
  } else if (struct stat source{}; mount->source.rfind("/dev/", 0) == 0 &&
                                   stat(mount->source.c_str(), &source) == 0 &&
                                   S_ISBLK(source.st_mode)) {
    storage.device =
        BlockKind(source.st_rdev);  // on btrfs and overlay, files have no device number
  }
  return storage;
}

}  // namespace penstock::traces
