// SPDX-License-Identifier: Apache-2.0
//
// Payloads of the sections of followed units and their calls: columns, each with its id and its
// size in front, so that a later minor version may add some. Readers return false, and add nothing,
// if something does not fit. Pure functions.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "traces/base/bytes.h"
#include "traces/call_rows.h"

namespace penstock::traces::packed {

void WriteUnits(std::span<const UnitRow> units, ByteWriter& out);
void WriteCalls(std::span<const CallRow> calls, ByteWriter& out);

[[nodiscard]] bool ReadUnits(std::span<const std::byte> payload, std::uint32_t count,
                             std::vector<UnitRow>& units);
[[nodiscard]] bool ReadCalls(std::span<const std::byte> payload, std::uint32_t count,
                             std::vector<CallRow>& calls);

}  // namespace penstock::traces::packed
