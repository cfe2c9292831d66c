// SPDX-License-Identifier: Apache-2.0
//
// Where in a trace a finding can be seen: the spans that it is about, the longest first. Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "gui/model/timeline/query.h"

namespace penstock::gui {

struct Evidence {
  std::string search;            // a text of Search() that finds these spans and no others
  std::vector<SpanRef> longest;  // three of them at most
};

// nullopt: the rule is about no spans of one kind (memory, a setting, the machine), or none of them
// lies in `range`. Cost: that of a Search for each kind of span that the rule is about.
[[nodiscard]] std::optional<Evidence> FindEvidence(const Timeline& timeline,
                                                   const traces::Trace& trace,
                                                   std::string_view rule, TimeRange range);

}  // namespace penstock::gui
