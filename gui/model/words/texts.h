// SPDX-License-Identifier: Apache-2.0
//
// The window's texts in its languages. Pure; texts live as long as the program.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include <fmt/core.h>

#include "analyzer/words/statement.h"
#include "gui/model/words/texts_files_table.h"
#include "gui/model/words/texts_functions.h"
#include "gui/model/words/texts_panels.h"
#include "gui/model/words/texts_place.h"
#include "gui/model/words/texts_plan.h"
#include "gui/model/words/texts_query.h"
#include "gui/model/words/texts_table.h"
#include "gui/model/words/texts_timeline.h"
#include "gui/model/words/texts_whatif.h"

namespace penstock::gui {

using analyzer::Language;

enum class Text : std::uint16_t {
#define PENSTOCK_TEXT_NAME(name, english, chinese) name,
  PENSTOCK_TEXTS(PENSTOCK_TEXT_NAME) PENSTOCK_PANEL_TEXTS(PENSTOCK_TEXT_NAME)
      PENSTOCK_FILE_TEXTS(PENSTOCK_TEXT_NAME) PENSTOCK_PLAN_TEXTS(PENSTOCK_TEXT_NAME)
          PENSTOCK_FUNCTION_TEXTS(PENSTOCK_TEXT_NAME) PENSTOCK_TIMELINE_TEXTS(PENSTOCK_TEXT_NAME)
              PENSTOCK_PLACE_TEXTS(PENSTOCK_TEXT_NAME) PENSTOCK_QUERY_TEXTS(PENSTOCK_TEXT_NAME)
                  PENSTOCK_WHATIF_TEXTS(PENSTOCK_TEXT_NAME)
#undef PENSTOCK_TEXT_NAME
                      kTextCount
};

// Null-terminated.
[[nodiscard]] std::string_view TextOf(Text text, Language language);

// The text with values in place of {}.
template <class... Values>
[[nodiscard]] std::string Filled(Text text, Language language, const Values&... values) {
  return fmt::format(fmt::runtime(TextOf(text, language)), values...);
}

}  // namespace penstock::gui
