// SPDX-License-Identifier: Apache-2.0
//
// One line on standard error that shows the progress of long work; nothing if standard error is no
// terminal. Not thread-safe.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

namespace penstock::loader {

// "[#####.....] 50 % of 1200 pictures, 12 s left", at most `width` characters. Pure.
[[nodiscard]] std::string ProgressText(std::uint64_t done, std::uint64_t total,
                                       const std::string& what, double elapsed_s, int width);

class ProgressBar {
 public:
  // `what`: the word for what is counted, in the plural.
  ProgressBar(std::uint64_t total, std::string what);
  ~ProgressBar();  // removes the line
  ProgressBar(const ProgressBar&) = delete;
  ProgressBar& operator=(const ProgressBar&) = delete;

  // Writes at most ten times a second. Otherwise costs one reading of the clock.
  void Show(std::uint64_t done);
  void Clear();

 private:
  std::uint64_t total_;
  std::string what_;
  bool terminal_;
  bool shown_ = false;
  std::chrono::steady_clock::time_point started_;
  std::chrono::steady_clock::time_point next_;
};

}  // namespace penstock::loader
