// SPDX-License-Identifier: Apache-2.0
#include "analyzer/main/external.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <system_error>

#include <fmt/core.h>

namespace penstock::analyzer {
namespace {

constexpr std::string_view kPrefix = "penstock-";

}  // namespace

std::filesystem::path OwnFolder() {
  std::error_code error;
  const auto self = std::filesystem::read_symlink("/proc/self/exe", error);
  return error ? std::filesystem::path() : self.parent_path();
}

std::vector<std::string> FindExternals(const std::filesystem::path& folder) {
  std::vector<std::string> names;
  std::error_code error;
  for (std::filesystem::directory_iterator it(folder, error), end; !error && it != end;
       it.increment(error)) {
    const std::string file = it->path().filename().string();
    if (file.size() <= kPrefix.size() || file.compare(0, kPrefix.size(), kPrefix) != 0) continue;
    if (access(it->path().c_str(), X_OK) != 0 || it->is_directory(error)) continue;
    names.push_back(file.substr(kPrefix.size()));
  }
  std::sort(names.begin(), names.end());
  return names;
}

int RunExternal(const std::filesystem::path& folder, const std::string& name,
                const std::vector<std::string>& arguments) {
  const std::filesystem::path program = folder / (std::string(kPrefix) + name);
  std::vector<std::string> words = {program.string()};
  words.insert(words.end(), arguments.begin(), arguments.end());
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  // A name with a slash could lead out of the folder. If the folder is empty, the working directory
  // would be searched instead.
  const bool beside = !folder.empty() && name.find('/') == std::string::npos;
  if (beside && access(program.c_str(), F_OK) == 0) {
    execv(program.c_str(), argv.data());
    fmt::print(stderr, "penstock: {}: cannot be run: {}\n", program.string(), std::strerror(errno));
    return 3;
  }
  fmt::print(stderr, "penstock: '{}' is not a command; see: penstock help\n", name);
  return 2;
}

}  // namespace penstock::analyzer
