// SPDX-License-Identifier: Apache-2.0
#include <string>

#include "gui/model/overview.h"

namespace penstock::gui {

std::string_view UnitText(std::string_view unit, Language language) {
  const Text text = unit == "batches/s"  ? Text::kBatchesPerSecond
                    : unit == "images/s" ? Text::kImagesPerSecond
                                         : Text::kSamplesPerSecond;
  return TextOf(text, language);
}

std::string Typeset(std::string text) {
  const std::string_view first = std::string_view(text).substr(0, text.find(' '));
  const bool name = first.find_first_of("_./=()0123456789") != std::string_view::npos;
  if (!text.empty() && !name && text.front() >= 'a' && text.front() <= 'z') {
    text.front() = static_cast<char>(text.front() - 'a' + 'A');
  }
  for (std::size_t at = text.find(" -> "); at != std::string::npos; at = text.find(" -> ", at)) {
    text.replace(at, 4, " → ");
  }
  return text;
}

std::string VerdictText(const analyzer::Report& report, Language language) {
  return Render(report.diagnosis.summary, language);
}

}  // namespace penstock::gui
