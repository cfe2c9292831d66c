// SPDX-License-Identifier: Apache-2.0
//
// A finding: what a rule reports. Values.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "analyzer/predict/scenario.h"
#include "analyzer/predict/suggest.h"
#include "analyzer/words/statement.h"

namespace penstock::analyzer {

enum class Severity { kInfo, kWarning, kCritical };

struct Finding {
  std::string id;  // docs/design.md 6; stable
  Severity severity = Severity::kInfo;
  Statement seen;
  std::vector<std::pair<std::string, std::variant<double, std::string>>> evidence;
  Statement action;
  std::optional<Prediction> predicted;  // nullopt: the simulator cannot predict a gain
  std::optional<Setting> setting;       // of `predicted`; nullopt: plans do not use it
  double from = 0;                      // seconds since the trace began
  double to = 0;                        // seconds since the trace began; 0: the whole run
  std::vector<std::uint32_t> pids;
};

}  // namespace penstock::analyzer
