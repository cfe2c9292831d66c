// SPDX-License-Identifier: Apache-2.0
//
// The words for stages: in English those of traces and reports, which a search takes in any
// language. Pure.
#pragma once

#include <optional>
#include <string_view>

#include "gui/model/words/texts.h"
#include "traces/event.h"

namespace penstock::gui {

// Null-terminated.
[[nodiscard]] std::string_view WordOf(traces::StageId stage, Language language);

// The stage of a word in either language.
[[nodiscard]] std::optional<traces::StageId> StageOfWord(std::string_view word);

}  // namespace penstock::gui
