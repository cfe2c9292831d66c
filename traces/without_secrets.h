// SPDX-License-Identifier: Apache-2.0
//
// HideSecrets() for the words of a command line. Pure.
#pragma once

#include <string>
#include <vector>

namespace penstock::traces {

// The words with secrets replaced by "***". What follows a 0 in a word is left out.
[[nodiscard]] std::vector<std::string> WithoutSecrets(const std::vector<std::string>& words);

}  // namespace penstock::traces
