// SPDX-License-Identifier: Apache-2.0
#include "tests/torture/failpoints/tasks.h"

#include <sys/uio.h>
#include <unistd.h>

#include <array>
#include <climits>
#include <cstdio>
#include <fstream>

namespace failpoints {
namespace {

constexpr std::size_t kStackWords = 2048;
constexpr std::size_t kFrames = 6;

struct Range {
  std::uint64_t from = 0;
  std::uint64_t to = 0;
  std::uint64_t offset = 0;
  bool code = false;
  std::string path;
};

std::string BaseName(const std::string& path) {
  return path.substr(path.rfind('/') + 1);
}

std::vector<Range> MapsOf(pid_t pid) {
  std::vector<Range> ranges;
  std::ifstream maps("/proc/" + std::to_string(pid) + "/maps");
  for (std::string line; std::getline(maps, line);) {
    Range range;
    std::array<char, 8> access{};
    int path = 0;
    unsigned long from = 0;
    unsigned long to = 0;
    unsigned long offset = 0;
    if (std::sscanf(line.c_str(), "%lx-%lx %7s %lx %*s %*s %n", &from, &to, access.data(), &offset,
                    &path) < 4) {
      continue;
    }
    range.from = from;
    range.to = to;
    range.offset = offset;
    range.code = access[2] == 'x';
    if (path > 0) range.path = line.substr(static_cast<std::size_t>(path));
    ranges.push_back(std::move(range));
  }
  return ranges;
}

const Range* Find(const std::vector<Range>& ranges, std::uint64_t at) {
  for (const Range& range : ranges) {
    if (at >= range.from && at < range.to && range.code) return &range;
  }
  return nullptr;
}

}  // namespace

std::string ProgramOf(pid_t pid) {
  std::array<char, PATH_MAX> path{};
  const std::string link = "/proc/" + std::to_string(pid) + "/exe";
  const ssize_t size = readlink(link.c_str(), path.data(), path.size());
  return size > 0 ? BaseName(std::string(path.data(), static_cast<std::size_t>(size))) : "?";
}

pid_t ProcessOf(pid_t tid) {
  std::ifstream status("/proc/" + std::to_string(tid) + "/status");
  for (std::string line; std::getline(status, line);) {
    if (line.rfind("Tgid:", 0) == 0) return static_cast<pid_t>(std::stol(line.substr(5)));
  }
  return tid;
}

const std::string& CodeAt(Task& task, std::uint64_t instruction) {
  const auto known = task.image->by.find(instruction);
  if (known != task.image->by.end()) return known->second;
  const std::vector<Range> maps = MapsOf(task.tid);
  const Range* range = Find(maps, instruction);
  const std::string module = range != nullptr ? BaseName(range->path) : "";
  std::string by = task.image->program;
  if (module == "libpenstock_agent.so") by = "agent";
  if (module.rfind("ld-linux", 0) == 0 || module.rfind("ld-2", 0) == 0) by += "/ld";
  return task.image->by[instruction] = by;
}

std::vector<std::string> StackOf(pid_t tid, std::uint64_t instruction, std::uint64_t stack) {
  const std::vector<Range> maps = MapsOf(tid);
  std::vector<std::uint64_t> words(kStackWords);
  const iovec to{words.data(), words.size() * sizeof(std::uint64_t)};
  const iovec from{reinterpret_cast<void*>(stack), to.iov_len};
  const ssize_t got = process_vm_readv(tid, &to, 1, &from, 1, 0);
  words.resize(got > 0 ? static_cast<std::size_t>(got) / sizeof(std::uint64_t) : 0);
  words.insert(words.begin(), instruction);
  std::vector<std::string> frames;
  for (const std::uint64_t word : words) {
    const Range* range = Find(maps, word);
    if (range == nullptr || range->path.find("penstock") == std::string::npos) continue;
    std::array<char, 32> offset{};
    std::snprintf(offset.data(), offset.size(), "+0x%lx",
                  static_cast<unsigned long>(word - range->from + range->offset));
    frames.push_back(range->path + offset.data());
    if (frames.size() == kFrames) break;
  }
  return frames;
}

}  // namespace failpoints
