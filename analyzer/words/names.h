// SPDX-License-Identifier: Apache-2.0
//
// Translates names that traces and JSON use into the language of a reader. Pure.
#pragma once

#include <string_view>

#include "analyzer/words/message.h"

namespace penstock::analyzer {

// The word for a stage, a factor or a rule; any other name is returned as it is. The result is
// null-terminated if `name` is.
[[nodiscard]] std::string_view NameIn(std::string_view name, Language language);

}  // namespace penstock::analyzer
