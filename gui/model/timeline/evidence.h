// SPDX-License-Identifier: Apache-2.0
//
// Finds the spans that a finding is about. Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "gui/model/timeline/query.h"

namespace penstock::gui {

struct Evidence {
  std::string search;            // the text with which Search() finds such spans
  std::vector<SpanRef> longest;  // three of them at most
};

// Returns nullopt if the rule is not about spans but about memory, a setting or the machine, or if
// no such span lies in `range`. Looks only at the hits that a Search keeps, at most a million.
// Cost: that of a few Searches.
[[nodiscard]] std::optional<Evidence> FindEvidence(const Timeline& timeline,
                                                   const traces::Trace& trace,
                                                   std::string_view rule, TimeRange range);

}  // namespace penstock::gui
