// SPDX-License-Identifier: Apache-2.0
//
// A buffer between an exporter and its sink. Not thread-safe.
#pragma once

#include <fmt/core.h>

#include <string>
#include <string_view>

#include "traces/export.h"

namespace penstock::traces {

class TextBuffer {
 public:
  explicit TextBuffer(const TextSink& sink) : sink_(sink) {}

  template <class... Args>
  void Format(fmt::format_string<Args...> format, Args&&... args) {
    Append(format, fmt::make_format_args(args...));
  }
  [[nodiscard]] std::string& text() { return text_; }

  // Ends a line. Passes the buffer on when it is large.
  void Line() {
    text_ += '\n';
    if (text_.size() >= kSize) {
      Flush();
    }
  }
  // Returns false once the sink did.
  bool Flush() {
    if (ok_ && !text_.empty()) {
      ok_ = sink_(text_);
    }
    text_.clear();
    return ok_;
  }
  [[nodiscard]] bool ok() const { return ok_; }

 private:
  // A function of its own, because each source with fmt::format_to() compiles all of {fmt}: 7 s at
  // -O3.
  void Append(fmt::string_view format, fmt::format_args args);

  static constexpr std::size_t kSize = std::size_t{1} << 18;

  const TextSink& sink_;
  std::string text_;
  bool ok_ = true;
};

// The index of a batch; -1 if there is none.
[[nodiscard]] inline std::int64_t BatchIndex(BatchKey key) {
  return key.valid() ? std::int64_t{key.index} : -1;
}

}  // namespace penstock::traces
