// SPDX-License-Identifier: Apache-2.0
#include "tests/torture/failpoints/writes.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <climits>
#include <fstream>
#include <vector>

namespace failpoints {
namespace {

std::string LinkOf(const std::string& link) {
  std::array<char, PATH_MAX> path{};
  const ssize_t size = readlink(link.c_str(), path.data(), path.size());
  return size > 0 ? std::string(path.data(), static_cast<std::size_t>(size)) : "";
}

std::string DescriptorName(pid_t tid, std::uint64_t fd) {
  return "/proc/" + std::to_string(tid) + "/fd/" + std::to_string(static_cast<int>(fd));
}

std::string TextAt(pid_t tid, std::uint64_t address) {
  std::string text;
  std::array<char, 64> part{};
  while (text.size() < PATH_MAX) {
    const std::uint64_t at = address + text.size();
    const std::size_t size = std::min<std::size_t>(part.size(), 4096 - at % 4096);
    const iovec to{part.data(), size};
    const iovec from{reinterpret_cast<void*>(at), size};
    const ssize_t got = process_vm_readv(tid, &to, 1, &from, 1, 0);
    if (got <= 0) break;
    for (ssize_t i = 0; i < got; ++i) {
      if (part[static_cast<std::size_t>(i)] == 0) return text;
      text += part[static_cast<std::size_t>(i)];
    }
  }
  return text;
}

// Returns as an absolute path the path that a call has as its argument.
std::string PathAt(pid_t tid, std::uint64_t folder, std::uint64_t address) {
  const std::string path = TextAt(tid, address);
  if (!path.empty() && path[0] == '/') return path;
  const std::string base = static_cast<int>(folder) == AT_FDCWD
                               ? LinkOf("/proc/" + std::to_string(tid) + "/cwd")
                               : LinkOf(DescriptorName(tid, folder));
  return base + "/" + path;
}

unsigned long InodeOf(const std::string& path) {
  struct stat info {};
  return stat(path.c_str(), &info) == 0 ? static_cast<unsigned long>(info.st_ino) : 0;
}

std::uint64_t PositionOf(pid_t tid, std::uint64_t fd) {
  std::ifstream info("/proc/" + std::to_string(tid) + "/fdinfo/" +
                     std::to_string(static_cast<int>(fd)));
  std::string key;
  std::uint64_t position = 0;
  info >> key >> position;
  return position;
}

}  // namespace

WriteLog::WriteLog(std::string folder, const std::string& path)
    : folder_(std::move(folder)),
      lines_(std::fopen(path.c_str(), "w")),
      data_(std::fopen((path + ".data").c_str(), "w")) {}

WriteLog::~WriteLog() {
  if (lines_ != nullptr) std::fclose(lines_);
  if (data_ != nullptr) std::fclose(data_);
}

bool WriteLog::Inside(const std::string& path) const {
  return path == folder_ || path.rfind(folder_ + "/", 0) == 0;
}

void WriteLog::AddOpen(const Task& task, long result) {
  const std::string name = DescriptorName(task.tid, static_cast<std::uint64_t>(result));
  const std::string path = LinkOf(name);
  const std::uint64_t flags = task.arguments[task.call == SYS_openat ? 2 : 1];
  if (!Inside(path) || (flags & O_ACCMODE) == O_RDONLY) return;
  const unsigned long inode = InodeOf(name);
  std::fprintf(lines_, "open\t%lu\t%s\n", inode, path.c_str());
  if ((flags & O_TRUNC) != 0) std::fprintf(lines_, "truncate\t%lu\t0\n", inode);
}

void WriteLog::AddWrite(const Task& task, std::uint64_t offset, long result) {
  std::vector<char> bytes(static_cast<std::size_t>(result));
  const iovec to{bytes.data(), bytes.size()};
  const iovec from{reinterpret_cast<void*>(task.arguments[1]), bytes.size()};
  if (process_vm_readv(task.tid, &to, 1, &from, 1, 0) != result) return;
  std::fwrite(bytes.data(), 1, bytes.size(), data_);
  std::fprintf(lines_, "write\t%lu\t%lu\t%ld\t%lu\n",
               InodeOf(DescriptorName(task.tid, task.arguments[0])),
               static_cast<unsigned long>(offset), result, static_cast<unsigned long>(at_));
  at_ += bytes.size();
}

void WriteLog::Add(const Task& task, long result) {
  if (lines_ == nullptr || data_ == nullptr || result < 0) return;
  const auto& a = task.arguments;
  const pid_t tid = task.tid;
  const auto pair = [&](const char* what, const std::string& from, const std::string& to) {
    if (Inside(from) || Inside(to)) {
      std::fprintf(lines_, "%s\t%s\t%s\n", what, from.c_str(), to.c_str());
    }
  };
  const auto link = [&](const std::string& to) {
    if (Inside(to)) std::fprintf(lines_, "link\t%lu\t%s\n", InodeOf(to), to.c_str());
  };
  const auto unlink = [&](const std::string& path) {
    if (Inside(path)) std::fprintf(lines_, "unlink\t%s\n", path.c_str());
  };
  constexpr auto kHere = static_cast<std::uint64_t>(AT_FDCWD);
  switch (task.call) {
    case SYS_open:
    case SYS_openat:
    case SYS_creat:
      return AddOpen(task, result);
    case SYS_rename:
      return pair("rename", PathAt(tid, kHere, a[0]), PathAt(tid, kHere, a[1]));
    case SYS_renameat:
      return pair("rename", PathAt(tid, a[0], a[1]), PathAt(tid, a[2], a[3]));
    case SYS_renameat2:
      return pair((a[4] & 2) != 0 ? "exchange" : "rename", PathAt(tid, a[0], a[1]),
                  PathAt(tid, a[2], a[3]));
    case SYS_link:
      return link(PathAt(tid, kHere, a[1]));
    case SYS_linkat:
      return link(PathAt(tid, a[2], a[3]));
    case SYS_unlink:
      return unlink(PathAt(tid, kHere, a[0]));
    case SYS_unlinkat:
      return unlink(PathAt(tid, a[0], a[1]));
    default:
      break;
  }
  const std::uint64_t fd = task.call == SYS_mmap ? a[4] : a[0];
  if (fd > 1u << 20) return;
  const std::string name = DescriptorName(tid, fd);
  const std::string path = LinkOf(name);
  if (!Inside(path)) return;
  const unsigned long inode = InodeOf(name);
  switch (task.call) {
    case SYS_write:
      return AddWrite(task, PositionOf(tid, fd) - static_cast<std::uint64_t>(result), result);
    case SYS_pwrite64:
      return AddWrite(task, a[3], result);
    case SYS_writev:
    case SYS_pwritev:
    case SYS_pwritev2:
      std::fprintf(lines_, "unknown\t%lu\n", inode);
      return;
    case SYS_ftruncate:
      std::fprintf(lines_, "truncate\t%lu\t%lu\n", inode, static_cast<unsigned long>(a[1]));
      return;
    case SYS_fallocate:
      std::fprintf(lines_, "allocate\t%lu\t%lu\t%lu\t%lu\n", inode,
                   static_cast<unsigned long>(a[1]), static_cast<unsigned long>(a[2]),
                   static_cast<unsigned long>(a[3]));
      return;
    case SYS_fsync:
    case SYS_fdatasync: {
      struct stat info {};
      const bool folder = stat(name.c_str(), &info) == 0 && S_ISDIR(info.st_mode);
      if (folder) std::fprintf(lines_, "syncfolder\t%s\n", path.c_str());
      if (!folder) std::fprintf(lines_, "sync\t%lu\n", inode);
      return;
    }
    case SYS_mmap:
      if ((a[2] & PROT_WRITE) != 0 && (a[3] & MAP_SHARED) != 0) {
        std::fprintf(lines_, "map\t%lu\n", inode);
      }
      return;
    default:
      return;
  }
}

}  // namespace failpoints
