// SPDX-License-Identifier: Apache-2.0
#include "gui/model/commands.h"

#include <algorithm>

#include "gui/model/timeline/query.h"

namespace penstock::gui {
namespace {

bool HoldsAll(const std::string& name, std::string_view words) {
  while (!words.empty()) {
    const std::size_t end = std::min(words.find(' '), words.size());
    if (name.find(words.substr(0, end)) == std::string::npos) return false;
    words.remove_prefix(std::min(end + 1, words.size()));
  }
  return true;
}

}  // namespace

std::vector<std::size_t> MatchingCommands(const std::vector<std::string>& names,
                                          std::string_view filter) {
  const std::string wanted = Lowered(filter);
  std::vector<std::size_t> first;
  std::vector<std::size_t> others;
  for (std::size_t i = 0; i < names.size(); ++i) {
    const std::string name = Lowered(names[i]);
    if (!HoldsAll(name, wanted)) continue;
    (name.starts_with(wanted) ? first : others).push_back(i);
  }
  first.insert(first.end(), others.begin(), others.end());
  return first;
}

}  // namespace penstock::gui
