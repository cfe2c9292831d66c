// SPDX-License-Identifier: Apache-2.0
//
// The words for stages. The English words are those of traces and reports. A search accepts the
// words of both languages. Pure.
#pragma once

#include <optional>
#include <string_view>

#include "gui/model/words/texts.h"
#include "traces/event.h"

namespace penstock::gui {

// Null-terminated.
[[nodiscard]] std::string_view WordOf(traces::StageId stage, Language language);

// What a stage of a device is, whose English word does not say it; nullopt for other stages.
[[nodiscard]] std::optional<Text> MeaningOf(traces::StageId stage);

// The stage that a word of either language names.
[[nodiscard]] std::optional<traces::StageId> StageOfWord(std::string_view word);

}  // namespace penstock::gui
