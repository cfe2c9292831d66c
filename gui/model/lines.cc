// SPDX-License-Identifier: Apache-2.0
#include "gui/model/lines.h"

#include <algorithm>
#include <fstream>
#include <span>

#include "traces/base/file.h"

namespace penstock::gui {

void ForEachSetting(std::string_view text,
                    const std::function<void(std::string_view key, std::string_view value)>& take) {
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    const std::size_t equals = line.find('=');
    if (equals != std::string_view::npos) take(line.substr(0, equals), line.substr(equals + 1));
  }
}

std::optional<std::string> ReadSmallFile(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return std::nullopt;
  std::string text(64 * 1024, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(file.gcount()));
  return text;
}

Result<void> WriteSmallFile(const std::filesystem::path& path, const std::string& text) {
  std::error_code error;
  std::filesystem::create_directories(path.parent_path(), error);
  return WriteWhole(path, std::as_bytes(std::span(text)));
}

}  // namespace penstock::gui
