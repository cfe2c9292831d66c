// SPDX-License-Identifier: Apache-2.0
#include "agent/record/launch/warm.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <system_error>

namespace penstock::record {
namespace {

constexpr std::size_t kPart = 1u << 20;

// Whether no page of the file is in the page cache. Also false if the kernel does not say, since it
// says this only to the owner of a file.
bool IsCold(int fd, std::size_t size) {
  void* const mapped = mmap(nullptr, size, PROT_READ, MAP_SHARED, fd, 0);
  if (mapped == MAP_FAILED) return false;
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  std::vector<unsigned char> pages((size + page - 1) / page);
  const bool told = mincore(mapped, size, pages.data()) == 0;
  munmap(mapped, size);
  return told && std::none_of(pages.begin(), pages.end(), [](unsigned char p) { return p & 1; });
}

}  // namespace

bool WarmFiles::ReadFile(const std::string& path, Bytes room) {
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
  if (fd < 0) return true;
  struct stat st {};
  if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode) || st.st_size <= 0) {
    close(fd);
    return true;
  }
  const auto size = static_cast<std::uint64_t>(st.st_size);
  if (size > room.value - std::min(room.value, bytes_.value)) {
    close(fd);
    full_ = true;
    return false;
  }
  if (IsCold(fd, size)) cold_.push_back(path);
  part_.resize(kPart);
  ssize_t got = 0;
  std::uint64_t taken = 0;
  while (taken < size && (got = read(fd, part_.data(), part_.size())) > 0) {
    taken += static_cast<std::uint64_t>(got);
  }
  close(fd);
  bytes_.value += taken;
  if (taken > 0) ++files_;
  return true;
}

void WarmFiles::Read(const std::vector<std::string>& folders, Bytes room) {
  namespace fs = std::filesystem;
  for (const std::string& folder : folders) {
    std::error_code error;
    if (fs::is_regular_file(folder, error)) {
      if (!ReadFile(folder, room)) return;
      continue;
    }
    fs::recursive_directory_iterator at(folder, fs::directory_options::skip_permission_denied,
                                        error);
    std::vector<std::string> paths;
    for (; !error && at != fs::recursive_directory_iterator(); at.increment(error)) {
      std::error_code ignored;
      if (at->is_regular_file(ignored)) paths.push_back(at->path().string());
    }
    std::sort(paths.begin(), paths.end());
    for (const std::string& path : paths) {
      if (!ReadFile(path, room)) return;
    }
  }
}

void WarmFiles::GiveBack() {
  for (const std::string& path : cold_) {
    const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    if (fd < 0) continue;
    posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
    close(fd);
  }
  cold_.clear();
}

}  // namespace penstock::record
