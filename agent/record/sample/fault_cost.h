// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "traces/base/units.h"

namespace penstock::record {

// Measures the CPU time for the first touch of a page of fresh memory on this machine: the smallest
// of a few tries. Machines differ by a factor of five and more: a virtual machine has to walk two
// page tables. nullopt if there is no memory. Cost: a millisecond, and 256 pages of memory during
// it.
[[nodiscard]] std::optional<TimeNs> MeasureFaultCost();

}  // namespace penstock::record
