// SPDX-License-Identifier: Apache-2.0
//
// Runs rules on synthetic runs and returns their findings.
#pragma once

#include <algorithm>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

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

// The evidence `key` of a finding; -1 if it has no such number.
inline double Evidence(const Finding& finding, std::string_view key) {
  for (const auto& [name, value] : finding.evidence) {
    if (name == key && std::holds_alternative<double>(value)) return std::get<double>(value);
  }
  return -1;
}

// A change that makes `one` first and then `other`.
inline Change And(Change one, Change other) {
  return [one = std::move(one), other = std::move(other)](traces::TraceData& data) {
    one(data);
    other(data);
  };
}

inline Change Fact(const std::string& key, const std::string& value) {
  return [=](traces::TraceData& data) { data.facts[key] = value; };
}

inline Change LoaderFact(const std::string& key, const std::string& value) {
  return [=](traces::TraceData& data) { data.processes[0].facts["loader.0." + key] = value; };
}

}  // namespace penstock::analyzer::testing
