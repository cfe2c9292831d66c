// SPDX-License-Identifier: Apache-2.0
//
// Rules that a recording cannot answer, and what it would need. Values; pure.
#pragma once

#include <string_view>
#include <vector>

#include "analyzer/words/statement.h"

namespace penstock::analyzer {

struct NotChecked {
  std::vector<std::string_view> ids;  // of findings
  Statement needs;                    // "GPU kernels in the recording"
};

// Adds rule `id` to those that need `what`. Nothing happens if `what` is empty.
void AddNeed(std::string_view id, Statement what, std::vector<NotChecked>& all);

// Sorts the rules of each need as rule_names.h has them, and the needs as their
// table in not_checked.cc does.
void SortNeeds(std::vector<NotChecked>& all);

}  // namespace penstock::analyzer
