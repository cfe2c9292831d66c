// SPDX-License-Identifier: Apache-2.0
#include "gui/model/words/texts.h"

#include <array>
#include <cstddef>

namespace penstock::gui {
namespace {

struct TextPair {
  std::string_view english;
  std::string_view chinese;
};

// The type is written out because clang 14 deduces it for at most 256 elements.
constexpr std::array<TextPair, static_cast<std::size_t>(Text::kTextCount)> kEntries = {
#define PENSTOCK_TEXT_ENTRY(name, english, chinese) TextPair{english, chinese},
    PENSTOCK_TEXTS(PENSTOCK_TEXT_ENTRY) PENSTOCK_PANEL_TEXTS(PENSTOCK_TEXT_ENTRY)
        PENSTOCK_FILE_TEXTS(PENSTOCK_TEXT_ENTRY) PENSTOCK_PLAN_TEXTS(PENSTOCK_TEXT_ENTRY)
            PENSTOCK_FUNCTION_TEXTS(PENSTOCK_TEXT_ENTRY) PENSTOCK_TIMELINE_TEXTS(
                PENSTOCK_TEXT_ENTRY) PENSTOCK_PLACE_TEXTS(PENSTOCK_TEXT_ENTRY)
                PENSTOCK_QUERY_TEXTS(PENSTOCK_TEXT_ENTRY) PENSTOCK_WHATIF_TEXTS(PENSTOCK_TEXT_ENTRY)
#undef PENSTOCK_TEXT_ENTRY
};

}  // namespace

std::string_view TextOf(Text text, Language language) {
  const TextPair& entry = kEntries[static_cast<std::size_t>(text)];
  return language == Language::kChinese ? entry.chinese : entry.english;
}

}  // namespace penstock::gui
