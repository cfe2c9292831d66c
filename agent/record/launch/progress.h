// SPDX-License-Identifier: Apache-2.0
//
// The progress line, which is repainted once a second on a terminal. Elsewhere nothing is written.
#pragma once

#include <optional>
#include <string>

#include "agent/record/collect/channel.h"

namespace penstock::record {

class Progress {
 public:
  // `enabled`: standard error is a terminal, and --quiet was not given.
  explicit Progress(bool enabled) : enabled_(enabled) {}
  ~Progress() { Clear(); }
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  // `message`: a kProgress.
  void Show(const Message& message);
  // Shows `text` in place of the line.
  void Say(const std::string& text);
  // Removes what is shown, before something else is written to the terminal.
  void Clear();
  [[nodiscard]] bool enabled() const { return enabled_; }

 private:
  bool enabled_;
  bool shown_ = false;
  std::optional<Message> last_;
};

// "penstock 12 s | 3 processes | 15.2 k spans/s | 42.0 batches/s | 3.1 MB"; rates since `last`, or
// since the start if `last` is nullptr.
[[nodiscard]] std::string ProgressLine(const Message& now, const Message* last);
// "3.1 MB": steps of 1000.
[[nodiscard]] std::string HumanBytes(std::uint64_t bytes);
// "15.2 k".
[[nodiscard]] std::string HumanCount(double count);

}  // namespace penstock::record
