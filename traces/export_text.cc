// SPDX-License-Identifier: Apache-2.0
#include "traces/export_text.h"

#include <fmt/format.h>

#include <iterator>

namespace penstock::traces {

void TextBuffer::Append(fmt::string_view format, fmt::format_args args) {
  fmt::vformat_to(std::back_inserter(text_), format, args);
}

}  // namespace penstock::traces
