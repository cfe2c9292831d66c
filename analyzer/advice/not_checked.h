// SPDX-License-Identifier: Apache-2.0
//
// Rules that this recording cannot answer, and what it would need. Values; pure.
#pragma once

#include <string_view>
#include <vector>

#include "analyzer/diagnosis/diagnosis.h"
#include "analyzer/words/statement.h"
#include "traces/trace.h"

namespace penstock::analyzer {

struct NotChecked {
  std::vector<std::string_view> ids;  // of findings
  Statement needs;                    // "GPU kernels in the recording"
};

[[nodiscard]] std::vector<NotChecked> NotCheckedRules(const traces::Trace& trace,
                                                      const Diagnosis& diagnosis);

}  // namespace penstock::analyzer
