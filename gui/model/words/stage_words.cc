// SPDX-License-Identifier: Apache-2.0
#include "gui/model/words/stage_words.h"

#include "analyzer/words/names.h"

namespace penstock::gui {

std::string_view WordOf(traces::StageId stage, Language language) {
  return analyzer::NameIn(traces::StageName(stage), language);
}

std::optional<Text> MeaningOf(traces::StageId stage) {
  switch (stage) {
    case traces::StageId::kH2d:
      return Text::kH2dMeans;
    case traces::StageId::kCopy:
      return Text::kCopyMeans;
    case traces::StageId::kCall:
      return Text::kCallMeans;
    case traces::StageId::kSync:
      return Text::kSyncMeans;
    default:
      return std::nullopt;
  }
}

std::optional<traces::StageId> StageOfWord(std::string_view word) {
  for (std::uint8_t i = 0; i < wire::kStageCount; ++i) {
    const auto stage = static_cast<traces::StageId>(i);
    if (stage == traces::StageId::kNone) continue;
    for (const Language language : {Language::kEnglish, Language::kChinese}) {
      if (WordOf(stage, language) == word) return stage;
    }
  }
  return std::nullopt;
}

}  // namespace penstock::gui
