// SPDX-License-Identifier: Apache-2.0
//
// Writes JSON for the loader program's reports. One thread.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "traces/base/json_text.h"

namespace penstock::loader {

// Returns a / b, or 0 if b is not above 0: JSON has neither infinity nor NaN.
inline double Ratio(double a, double b) {
  return b > 0 ? a / b : 0;
}

// Appends one JSON object, field after field. The destructor closes it. Requires: `out` outlives
// it.
class Object {
 public:
  explicit Object(std::string& out) : out_(out) { out_ += '{'; }
  ~Object() { out_ += '}'; }
  Object(const Object&) = delete;
  Object& operator=(const Object&) = delete;

  // Begins a field and returns the output, to which the caller appends the value.
  std::string& Key(std::string_view key) {
    if (!std::exchange(first_, false)) out_ += ", ";
    AppendJson(out_, key);
    out_ += ": ";
    return out_;
  }
  Object& Text(std::string_view key, std::string_view value) {
    AppendJson(Key(key), value);
    return *this;
  }
  // Requires: `value` is finite.
  Object& Number(std::string_view key, double value) {
    Key(key) += fmt::format("{:.9g}", value);
    return *this;
  }
  Object& Count(std::string_view key, std::uint64_t value) {
    Key(key) += fmt::format("{}", value);
    return *this;
  }
  Object& Flag(std::string_view key, bool value) {
    Key(key) += value ? "true" : "false";
    return *this;
  }

 private:
  std::string& out_;
  bool first_ = true;
};

// Appends a JSON list. `write` appends one element.
template <class Items, class Write>
void AppendList(std::string& out, const Items& items, Write write) {
  out += '[';
  bool first = true;
  for (const auto& item : items) {
    if (!std::exchange(first, false)) out += ", ";
    write(item);
  }
  out += ']';
}

}  // namespace penstock::loader
