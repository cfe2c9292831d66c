// SPDX-License-Identifier: Apache-2.0
#include "analyzer/report/program_name.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstddef>
#include <sstream>
#include <string_view>
#include <utility>
#include <vector>

namespace penstock::analyzer {
namespace {

// Whether the module runs a program that follows it.
bool IsLauncher(std::string_view module) {
  constexpr std::array<std::string_view, 4> kLaunchers = {"torch.distributed.run",
                                                          "torch.distributed.launch",
                                                          "accelerate.commands.launch", "coverage"};
  return std::find(kLaunchers.begin(), kLaunchers.end(), module) != kLaunchers.end();
}

}  // namespace

std::string ProgramOf(const std::string& command) {
  std::vector<std::string> words;
  std::istringstream stream(command);
  for (std::string word; stream >> word;) words.push_back(std::move(word));
  const auto base = [](const std::string& word) { return word.substr(word.rfind('/') + 1); };
  // After Python's -m comes the name of a module; after numactl's -m, the number of a node.
  const auto is_module = [](const std::string& word) {
    return word.front() == '_' || std::isalpha(static_cast<unsigned char>(word.front())) != 0;
  };
  for (std::size_t i = 0; i < words.size(); ++i) {
    const bool script = words[i].size() > 3 && words[i].rfind(".py") == words[i].size() - 3;
    if (script) return base(words[i]);
    const bool named = words[i] == "-m" && i + 1 < words.size() && is_module(words[i + 1]) &&
                       !IsLauncher(words[i + 1]);
    if (named) return words[i + 1];
  }
  // Neither a script with ".py" nor a module was found. The interpreter's name is not that of the
  // program.
  if (words.empty() || base(words.front()).rfind("python", 0) == 0) return "";
  return base(words.front());
}

}  // namespace penstock::analyzer
