// SPDX-License-Identifier: Apache-2.0
#include "traces/names.h"

#include <cstdint>

namespace penstock::traces {

std::optional<StageId> StageNamed(std::string_view name) {
  for (std::uint8_t i = 1; i < wire::kStageCount; ++i) {
    if (StageName(static_cast<StageId>(i)) == name) return static_cast<StageId>(i);
  }
  return std::nullopt;
}

std::optional<EventType> EventNamed(std::string_view name) {
  for (std::uint8_t i = 1; i <= static_cast<std::uint8_t>(EventType::kDigest); ++i) {
    if (EventName(static_cast<EventType>(i)) == name) return static_cast<EventType>(i);
  }
  return std::nullopt;
}

}  // namespace penstock::traces
