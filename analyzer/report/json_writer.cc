// SPDX-License-Identifier: Apache-2.0
#include "analyzer/report/json_writer.h"

#include <cmath>

#include <fmt/core.h>

namespace penstock::analyzer {
namespace {

// Length of the valid UTF-8 sequence at the front of `text`; 0 if there is none.
std::size_t Utf8Length(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned lead = byte(0);
  const std::size_t length = lead < 0x80                    ? 1
                             : lead >= 0xc2 && lead <= 0xdf ? 2
                             : lead >= 0xe0 && lead <= 0xef ? 3
                             : lead >= 0xf0 && lead <= 0xf4 ? 4
                                                            : 0;
  if (length == 0 || length > text.size()) return 0;
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xc0u) != 0x80u) return 0;
  }
  if (length == 3 && lead == 0xe0 && byte(1) < 0xa0) return 0;  // overlong
  if (length == 3 && lead == 0xed && byte(1) > 0x9f) return 0;  // surrogate
  if (length == 4 && lead == 0xf0 && byte(1) < 0x90) return 0;
  if (length == 4 && lead == 0xf4 && byte(1) > 0x8f) return 0;
  return length;
}

}  // namespace

void JsonWriter::NewLine() {
  text_ += '\n';
  text_.append(2 * levels_.size(), ' ');
}

void JsonWriter::Separate() {
  if (after_key_) {
    after_key_ = false;
    return;
  }
  if (levels_.empty()) return;
  if (levels_.back().any) text_ += ',';
  levels_.back().any = true;
  NewLine();
}

JsonWriter& JsonWriter::BeginObject() {
  Separate();
  text_ += '{';
  levels_.push_back({true, false});
  return *this;
}

JsonWriter& JsonWriter::BeginArray() {
  Separate();
  text_ += '[';
  levels_.push_back({false, false});
  return *this;
}

JsonWriter& JsonWriter::EndObject() {
  const bool any = levels_.back().any;
  levels_.pop_back();
  if (any) NewLine();
  text_ += '}';
  if (levels_.empty()) text_ += '\n';
  return *this;
}

JsonWriter& JsonWriter::EndArray() {
  const bool any = levels_.back().any;
  levels_.pop_back();
  if (any) NewLine();
  text_ += ']';
  return *this;
}

JsonWriter& JsonWriter::Key(std::string_view key) {
  Separate();
  WriteString(key);
  text_ += ": ";
  after_key_ = true;
  return *this;
}

void JsonWriter::WriteString(std::string_view text) {
  text_ += '"';
  while (!text.empty()) {
    const char c = text.front();
    const std::size_t length = Utf8Length(text);
    if (length == 0) {
      text_ += "\xef\xbf\xbd";
    } else if (c == '"' || c == '\\') {
      text_ += '\\';
      text_ += c;
    } else if (c == '\n') {
      text_ += "\\n";
    } else if (static_cast<unsigned char>(c) < 0x20) {
      text_ += fmt::format("\\u{:04x}", static_cast<unsigned>(static_cast<unsigned char>(c)));
    } else {
      text_ += text.substr(0, length);
    }
    text.remove_prefix(length == 0 ? 1 : length);
  }
  text_ += '"';
}

JsonWriter& JsonWriter::Value(std::string_view text) {
  Separate();
  WriteString(text);
  return *this;
}

JsonWriter& JsonWriter::Value(double number) {
  Separate();
  text_ += std::isfinite(number) ? fmt::format("{:.9g}", number) : "0";
  return *this;
}

JsonWriter& JsonWriter::Value(std::int64_t number) {
  Separate();
  text_ += fmt::format("{}", number);
  return *this;
}

JsonWriter& JsonWriter::Value(std::uint64_t number) {
  Separate();
  text_ += fmt::format("{}", number);
  return *this;
}

JsonWriter& JsonWriter::Value(bool truth) {
  Separate();
  text_ += truth ? "true" : "false";
  return *this;
}

}  // namespace penstock::analyzer
