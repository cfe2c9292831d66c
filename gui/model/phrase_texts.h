// SPDX-License-Identifier: Apache-2.0
//
// Sentences that the analyzer makes in English with figures in them, in the language of the window:
// notes of a prediction, what a recording lacks, why two cannot be compared. Pure.
#pragma once

#include <string>
#include <string_view>

#include "gui/model/texts.h"

namespace penstock::gui {

// A sentence that is not known here stays English (tests/gui/phrase_test.cc makes the analyzer say
// them). In English: the sentence itself.
[[nodiscard]] std::string PhraseText(std::string_view english, Language language);

// What a library does, as the beginnings of Coverage::blind name it: "video decoding (decord)".
[[nodiscard]] std::string LibraryText(std::string_view english, Language language);

}  // namespace penstock::gui
