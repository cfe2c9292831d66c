// SPDX-License-Identifier: Apache-2.0
//
// Runs a program and waits for it.
#pragma once

#include <string>
#include <vector>

#include "traces/base/result.h"

namespace penstock::analyzer {

// Returns the exit status of `words`, 128 + N if signal N ended it. An interrupt from the terminal
// reaches the program, which decides; this process waits on.
// Requires: words is not empty; words[0] is a path.
// Errors:   kEnvironment if it cannot be run.
[[nodiscard]] Result<int> RunAndWait(const std::vector<std::string>& words);

}  // namespace penstock::analyzer
