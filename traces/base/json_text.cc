// SPDX-License-Identifier: Apache-2.0
#include "traces/base/json_text.h"

#include <algorithm>
#include <cstddef>

namespace penstock {
namespace {

// Length of the valid UTF-8 sequence at the front of `text`; 0 if there is none.
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

void AppendHex(std::string& out, char c) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  const auto byte = static_cast<unsigned char>(c);
  out += kDigits[byte >> 4u];
  out += kDigits[byte & 0xfu];
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
      out += "\\u00";
      AppendHex(out, c);
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

std::size_t ShownLength(std::string_view text) {
  const std::size_t length = Utf8Length(text);
  const auto byte = [text](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  if (length == 1) return byte(0) < 0x20 || byte(0) == 0x7f ? 0 : 1;
  if (length == 2) {
    const bool c1 = byte(0) == 0xc2 && byte(1) < 0xa0;
    const bool mark = byte(0) == 0xd8 && byte(1) == 0x9c;  // U+061C, a mark of direction
    return c1 || mark ? 0 : 2;
  }
  if (length == 3 && byte(0) == 0xe2) {
    // U+200E, U+200F, U+2028 to U+202E, U+2066 to U+2069
    const bool first = byte(1) == 0x80 &&
                       (byte(2) == 0x8e || byte(2) == 0x8f || (byte(2) >= 0xa8 && byte(2) <= 0xae));
    const bool second = byte(1) == 0x81 && byte(2) >= 0xa6 && byte(2) <= 0xa9;
    return first || second ? 0 : 3;
  }
  return length;
}

std::string VisibleText(std::string_view text) {
  std::string shown;
  shown.reserve(text.size());
  while (!text.empty()) {
    const std::size_t length = ShownLength(text);
    if (length > 0) {
      shown.append(text.substr(0, length));
    } else {
      for (const char c : text.substr(0, std::max<std::size_t>(Utf8Length(text), 1))) {
        shown += "\\x";
        AppendHex(shown, c);
      }
    }
    text.remove_prefix(length > 0 ? length : std::max<std::size_t>(Utf8Length(text), 1));
  }
  return shown;
}

void AppendCsv(std::string& out, std::string_view text) {
  constexpr std::string_view kKept = "\t\n";
  std::string field;
  const bool calculated =
      !text.empty() && std::string_view("=+-@\t\r\n").find(text.front()) != std::string_view::npos;
  if (calculated && text.find_first_not_of("+-.0123456789eE") != std::string_view::npos) {
    field += '\'';
  }
  while (!text.empty()) {
    const std::size_t kept = std::min(text.find_first_of(kKept), text.size());
    field += VisibleText(text.substr(0, kept));
    if (kept < text.size()) field += text[kept];
    text.remove_prefix(std::min(kept + 1, text.size()));
  }
  if (field.find_first_of(",\"\n") == std::string::npos) {
    out += field;
    return;
  }
  out += '"';
  for (const char c : field) {
    if (c == '"') {
      out += '"';
    }
    out += c;
  }
  out += '"';
}

}  // namespace penstock
