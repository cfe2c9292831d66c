// SPDX-License-Identifier: Apache-2.0
//
// Experiments inside the run, for people and for programs. Pure.
#pragma once

#include "analyzer/report/json_writer.h"
#include "analyzer/whatif/probes.h"

namespace penstock::analyzer {

// A line for each factor that took time in the recording, and one for the check. If no gain is
// known, a single line that says why. Empty if no experiments were asked for.
[[nodiscard]] Statements ProbesSaid(const Probes& probes);

// Writes the report's key "probe"; nothing if no experiments were asked for.
void WriteProbes(const Probes& probes, JsonWriter& json);

}  // namespace penstock::analyzer
