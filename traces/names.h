// SPDX-License-Identifier: Apache-2.0
//
// From names back to values: the inverse of StageName() and EventName(). Pure.
#pragma once

#include <optional>
#include <string_view>

#include "traces/event.h"

namespace penstock::traces {

// Nothing for a name that is no stage's, or no event's.
[[nodiscard]] std::optional<StageId> StageNamed(std::string_view name);
[[nodiscard]] std::optional<EventType> EventNamed(std::string_view name);

}  // namespace penstock::traces
