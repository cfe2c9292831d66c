// SPDX-License-Identifier: Apache-2.0
//
// Finds commands by words in their names. Pure.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace penstock::gui {

// The indices of the names that contain every word of `filter`, in upper or lower case. Names that
// begin with the filter come first; otherwise the order stays.
[[nodiscard]] std::vector<std::size_t> MatchingCommands(const std::vector<std::string>& names,
                                                        std::string_view filter);

}  // namespace penstock::gui
