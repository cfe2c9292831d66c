// SPDX-License-Identifier: Apache-2.0
//
// Rules that a recording cannot answer, and the needs that it does not meet. Values; pure.
#pragma once

#include <string_view>
#include <vector>

#include "analyzer/words/statement.h"

namespace penstock::analyzer {

struct NotChecked {
  std::vector<std::string_view> ids;  // of the findings of these rules
  Statement needs;                    // "GPU kernels in the recording"
};

// Adds rule `id` to those that need `what`. Nothing happens if `what` is empty.
void AddNeed(std::string_view id, Statement what, std::vector<NotChecked>& all);

// Puts the rules of each need in the order of rule_names.h, and the needs in the order of the table
// in not_checked.cc.
void SortNeeds(std::vector<NotChecked>& all);

}  // namespace penstock::analyzer
