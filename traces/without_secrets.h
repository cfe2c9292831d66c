// SPDX-License-Identifier: Apache-2.0
//
// HideSecrets() for the words of a command line. Pure.
#pragma once

#include <string>
#include <vector>

namespace penstock::traces {

// The words with secrets replaced by "***". A word ends at its first 0.
[[nodiscard]] std::vector<std::string> WithoutSecrets(const std::vector<std::string>& words);

}  // namespace penstock::traces
