// SPDX-License-Identifier: Apache-2.0
//
// What analyzer/report/coverage.cc says of libraries, in the language of the window.
#pragma once

#include <string>
#include <string_view>

#include "gui/model/texts.h"

namespace penstock::gui {

// What a library does, as the beginnings of Coverage::blind name it: "video decoding (decord)".
[[nodiscard]] std::string LibraryText(std::string_view english, Language language);

}  // namespace penstock::gui
