// SPDX-License-Identifier: Apache-2.0
#include "analyzer/report/source_lines.h"

#include <sys/stat.h>

#include <cstdint>
#include <fstream>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace penstock::analyzer {
namespace {

using Lines = std::vector<std::string>;

Lines ReadLines(const std::string& path, double started) {
  constexpr off_t kMost = 4 << 20;
  struct stat state {};
  if (::stat(path.c_str(), &state) != 0 || !S_ISREG(state.st_mode) || state.st_size > kMost) {
    return {};
  }
  const double changed =
      static_cast<double>(state.st_mtim.tv_sec) + static_cast<double>(state.st_mtim.tv_nsec) * 1e-9;
  if (changed > started) return {};
  std::ifstream file(path);
  Lines lines;
  for (std::string line; std::getline(file, line);) lines.push_back(std::move(line));
  return lines;
}

}  // namespace

LineReader SourceLines(double started) {
  auto files = std::make_shared<std::map<std::string, Lines>>();
  return
      [started, files](const std::string& file, std::uint32_t line) -> std::optional<std::string> {
        const auto [found, added] = files->try_emplace(file);
        if (added && file.substr(0, 1) == "/") found->second = ReadLines(file, started);
        if (line == 0 || line > found->second.size()) return std::nullopt;
        return found->second[line - 1];
      };
}

}  // namespace penstock::analyzer
