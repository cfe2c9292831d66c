// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>

#include "analyzer/words/format.h"
#include "gui/model/panels/io.h"

namespace penstock::gui {

std::string RatesTitle(const IoModel& io, Language language) {
  return Filled(Text::kIoOverTime, language, analyzer::DurationText(io.seen.width));
}

std::string SamplesText(const FileRow& file, std::size_t most) {
  if (file.sample_count == 0) return "–";
  const std::size_t shown = std::min<std::size_t>(most, file.sample_count);
  std::string text;
  for (std::size_t i = 0; i < shown; ++i) {
    text += (i > 0 ? ", " : "") + std::to_string(file.samples[i]);
  }
  if (shown == file.sample_count && !file.more_samples) return text;
  return text.empty() ? "…" : text + ", …";
}

std::string HowToKnowStorage(const IoModel& io, Language language) {
  const bool known = io.folder.size() > 1;  // "/" holds everything
  return Filled(Text::kIoStorageUnknown, language,
                known ? std::string_view(io.folder) : TextOf(Text::kIoAnyFolder, language));
}

}  // namespace penstock::gui
