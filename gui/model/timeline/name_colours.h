// SPDX-License-Identifier: Apache-2.0
//
// The colours of spans whose name says more than their stage: ranges of the program, such as the
// operators in a recording of another tool, and calls of a driver.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "gui/model/timeline/timeline.h"

namespace penstock::gui {

// The place of such a stage in a ColourCell; the size of a ColourCell for all other stages.
[[nodiscard]] constexpr std::size_t PlaceOfNamed(traces::StageId stage) {
  if (stage == traces::StageId::kMark) return 0;
  return stage == traces::StageId::kCall ? 1 : ColourCell{}.size();
}

// The number of the colour with the largest part; kColourOfStage if there is none.
using ColourParts = std::array<float, kNamedColours>;
[[nodiscard]] std::uint8_t LargestOf(const ColourParts& parts);

// Gives spans their colours while a timeline is built, and keeps how long each name took.
class NameColours {
 public:
  explicit NameColours(const traces::Trace& trace) : trace_(trace) {}

  // SpanDetail::colour of a span.
  [[nodiscard]] std::uint8_t Add(traces::StageId stage, StringId name, std::int64_t length);
  // The names of each stage that took most time, longest first.
  [[nodiscard]] std::vector<NamedPart> Longest() const;

 private:
  struct Found {
    std::uint8_t colour = kColourOfStage;
    std::int64_t time = 0;
  };
  const traces::Trace& trace_;
  std::array<std::unordered_map<std::uint32_t, Found>, ColourCell{}.size()> names_;
};

// Fills level.colours. Requires: level.density. Cost: O(spans + cells).
void FillColours(Level& level, std::int64_t trace_length);

}  // namespace penstock::gui
