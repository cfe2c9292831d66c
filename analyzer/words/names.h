// SPDX-License-Identifier: Apache-2.0
//
// Names that values have in traces and JSON, in the language of a reader. Pure.
#pragma once

#include <string_view>

#include "analyzer/words/message.h"

namespace penstock::analyzer {

// The word for a stage, a factor or a rule; any other name as it is. Null-terminated if `name` is.
[[nodiscard]] std::string_view NameIn(std::string_view name, Language language);

}  // namespace penstock::analyzer
