// SPDX-License-Identifier: Apache-2.0
#include "traces/without_secrets.h"

#include <algorithm>

#include "traces/hide_secrets.h"

namespace penstock::traces {

std::vector<std::string> WithoutSecrets(const std::vector<std::string>& words) {
  constexpr std::size_t kMostGrowth = 3;  // a value of one character becomes "***"
  std::string text;
  for (const std::string& word : words) {
    text += word.substr(0, word.find('\0'));
    text += '\0';
  }
  const std::size_t size = text.size();
  text.resize(kMostGrowth * size + 1);  // HideSecrets() requires more memory than text
  text.resize(HideSecrets(text.data(), size, text.size()));
  std::vector<std::string> shown;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\0', at), text.size());
    shown.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return shown;
}

}  // namespace penstock::traces
