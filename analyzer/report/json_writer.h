// SPDX-License-Identifier: Apache-2.0
//
// Writes JSON: finite numbers, escaped strings, commas in the right places. Appends to a string;
// keeps a stack of open containers. Not thread-safe.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace penstock::analyzer {

class JsonWriter {
 public:
  // Requires: Begin and End in pairs; inside an object every value is preceded by Key().
  JsonWriter& BeginObject();
  JsonWriter& EndObject();
  JsonWriter& BeginArray();
  JsonWriter& EndArray();
  JsonWriter& Key(std::string_view key);

  JsonWriter& Value(std::string_view text);  // invalid UTF-8 becomes U+FFFD
  JsonWriter& Value(const char* text) { return Value(std::string_view(text)); }
  JsonWriter& Value(double number);  // nine digits; infinity and NaN become 0
  JsonWriter& Value(std::int64_t number);
  JsonWriter& Value(std::uint64_t number);
  JsonWriter& Value(int number) { return Value(static_cast<std::int64_t>(number)); }
  JsonWriter& Value(bool truth);

  template <class T>
  JsonWriter& Field(std::string_view key, const T& value) {
    Key(key);
    return Value(value);
  }

  // All that was written. Requires: every container is closed.
  [[nodiscard]] const std::string& text() const { return text_; }

 private:
  struct Level {
    bool object = false;
    bool any = false;
  };
  void Separate();
  void NewLine();
  void WriteString(std::string_view text);

  std::string text_;
  std::vector<Level> levels_;
  bool after_key_ = false;
};

}  // namespace penstock::analyzer
