// SPDX-License-Identifier: Apache-2.0
//
// Checks that the HTML page is well-formed, and takes out the text that a reader sees.
#pragma once

#include <string>
#include <string_view>

namespace penstock::analyzer::testing {

[[nodiscard]] bool Has(std::string_view text, std::string_view part);

// Returns why `text` is not well-formed XML, or "" if it is. Allows only what the page uses:
// elements, attributes, the five entities, and one doctype at the front.
[[nodiscard]] std::string Malformed(std::string_view text);

// The text of `page` that a person reads: no tags, style, code, or lines to paste.
[[nodiscard]] std::string Prose(std::string page);

}  // namespace penstock::analyzer::testing
