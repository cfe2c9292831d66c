// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "traces/base/units.h"

namespace penstock::record {

// CPU time for the first touch of a page of fresh memory on this machine: the least of a few tries.
// Differs by five and more between machines: a virtual one walks two page tables. nullopt: no
// memory. Cost: a millisecond and 1 MB for as long as it takes.
[[nodiscard]] std::optional<TimeNs> MeasureFaultCost();

}  // namespace penstock::record
