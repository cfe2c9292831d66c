// SPDX-License-Identifier: Apache-2.0
#include "traces/base/json_text.h"

#include <fmt/format.h>

#include <cstddef>
#include <iterator>

namespace penstock {
namespace {

// Length of the well-formed UTF-8 sequence at the start of `text`, 0 if there is none.
std::size_t Utf8Length(std::string_view text) {
  const auto at = [text](std::size_t i) {
    return i < text.size() ? static_cast<unsigned char>(text[i]) : 0u;
  };
  const auto tail = [&at](std::size_t i) { return (at(i) & 0xc0u) == 0x80u; };
  const unsigned lead = at(0);
  if (lead < 0x80) {
    return 1;
  }
  if (lead >= 0xc2 && lead <= 0xdf) {
    return tail(1) ? 2 : 0;
  }
  if (lead >= 0xe0 && lead <= 0xef) {
    const bool overlong = lead == 0xe0 && at(1) < 0xa0;
    const bool surrogate = lead == 0xed && at(1) >= 0xa0;
    return tail(1) && tail(2) && !overlong && !surrogate ? 3 : 0;
  }
  if (lead >= 0xf0 && lead <= 0xf4) {
    const bool outside = (lead == 0xf0 && at(1) < 0x90) || (lead == 0xf4 && at(1) >= 0x90);
    return tail(1) && tail(2) && tail(3) && !outside ? 4 : 0;
  }
  return 0;
}

}  // namespace

void AppendJson(std::string& out, std::string_view text) {
  out += '"';
  while (!text.empty()) {
    const char c = text.front();
    std::size_t length = Utf8Length(text);
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (c == '\n') {
      out += "\\n";
    } else if (c == '\t') {
      out += "\\t";
    } else if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) {
      fmt::format_to(std::back_inserter(out), "\\u{:04x}", static_cast<unsigned>(c));
    } else if (length == 0) {
      out += "\xef\xbf\xbd";
      length = 1;
    } else {
      out.append(text.substr(0, length));
    }
    text.remove_prefix(length);
  }
  out += '"';
}

std::string ToUtf8(std::string_view text) {
  std::string whole;
  whole.reserve(text.size());
  while (!text.empty()) {
    const std::size_t length = Utf8Length(text);
    whole.append(length == 0 ? std::string_view("\xef\xbf\xbd") : text.substr(0, length));
    text.remove_prefix(length == 0 ? 1 : length);
  }
  return whole;
}

void AppendCsv(std::string& out, std::string_view text) {
  if (text.find_first_of(",\"\r\n") == std::string_view::npos) {
    out.append(text);
    return;
  }
  out += '"';
  for (const char c : text) {
    if (c == '"') {
      out += '"';
    }
    out += c;
  }
  out += '"';
}

}  // namespace penstock
