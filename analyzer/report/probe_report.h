// SPDX-License-Identifier: Apache-2.0
//
// Experiments inside the run, for people and for programs. Pure.
#pragma once

#include "analyzer/report/json_writer.h"
#include "analyzer/whatif/probes.h"

namespace penstock::analyzer {

// A line for each factor and for the check, or one line that says why no gain is known.
[[nodiscard]] Statements ProbesSaid(const Probes& probes);

// Writes the member "probe"; nothing if no experiments were asked for.
void WriteProbes(const Probes& probes, JsonWriter& json);

}  // namespace penstock::analyzer
