// SPDX-License-Identifier: Apache-2.0
//
// The texts in the table of the stages view. A figure that is not known, or that fits none of its
// calls, is a dash. Pure.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "gui/model/panels/stages.h"
#include "gui/model/words/texts.h"

namespace penstock::gui {

inline constexpr std::string_view kDash = "–";

// The title of a row: a stage in the window's language, with the number of its devices if there are
// several; a part under its own name of at most `most` characters.
[[nodiscard]] std::string TitleOf(const StageLine& line, std::size_t most, Language language);

// The same without devices, for a sentence: "How long one call of kernel takes".
[[nodiscard]] std::string NameOf(const StageLine& line, std::size_t most, Language language);

[[nodiscard]] std::string CellText(const StageLine& line, StageColumn column, Language language);

}  // namespace penstock::gui
