// SPDX-License-Identifier: Apache-2.0
//
// What a report says of its own limits, in the language of the window: what was lost, what was
// seen, what was not, what could not be checked. English is the analyzer's own. Pure.
#pragma once

#include <string>
#include <string_view>

#include "analyzer/report/report.h"
#include "gui/model/texts.h"

namespace penstock::gui {

// "" where nothing was lost.
[[nodiscard]] std::string LossText(const traces::Losses& losses, Language language);
// "" where what is missing is too little to speak of.
[[nodiscard]] std::string BlindText(const analyzer::Coverage& coverage, Language language);
[[nodiscard]] std::string SeenText(const analyzer::Coverage& coverage, Language language);
// One of Coverage::blind.
[[nodiscard]] std::string NotSeenText(std::string_view blind, Language language);
[[nodiscard]] std::string NotCheckedText(const analyzer::NotChecked& missing, Language language);

}  // namespace penstock::gui
