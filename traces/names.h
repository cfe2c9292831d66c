// SPDX-License-Identifier: Apache-2.0
//
// Values for names: the inverse of StageName() and EventName(), and the names of counters and facts
// of devices. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "traces/event.h"

namespace penstock::traces {

// nullopt: no stage, or event, has the name.
[[nodiscard]] std::optional<StageId> StageNamed(std::string_view name);
[[nodiscard]] std::optional<EventType> EventNamed(std::string_view name);

// The name of a counter or fact of one device: "gpu.3.power_milliwatts".
struct GpuName {
  std::uint32_t device = 0;  // below 4096
  std::string_view rest;     // "power_milliwatts"
};
// nullopt for anything else, such as "gpu.driver".
[[nodiscard]] std::optional<GpuName> SplitGpuName(std::string_view name);
[[nodiscard]] std::string JoinGpuName(std::uint32_t device, std::string_view rest);

}  // namespace penstock::traces
