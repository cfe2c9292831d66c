// SPDX-License-Identifier: Apache-2.0
//
// Asks the rules about synthetic runs.
#pragma once

#include <algorithm>
#include <functional>
#include <optional>
#include <string_view>
#include <utility>

#include "analyzer/advice/rules.h"
#include "tests/analyzer/synthetic.h"

namespace penstock::analyzer::testing {

using Change = std::function<void(traces::TraceData&)>;

inline std::optional<Finding> FindingOf(std::string_view id, traces::TraceData data) {
  const auto trace = traces::MakeTrace(std::move(data));
  Findings findings = RunRules(*trace, Diagnose(*trace)).findings;
  const auto found = std::find_if(findings.begin(), findings.end(),
                                  [&](const Finding& finding) { return finding.id == id; });
  if (found == findings.end()) return std::nullopt;
  return std::move(*found);
}

inline bool Finds(std::string_view id, const Synthetic& run, const Change& change = {}) {
  traces::TraceData data = MakeSynthetic(run);
  if (change) change(data);
  return FindingOf(id, std::move(data)).has_value();
}

inline Synthetic WithCosts(const Costs& costs) {
  Synthetic run;
  run.costs = Always(costs);
  return run;
}

}  // namespace penstock::analyzer::testing
