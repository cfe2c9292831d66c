// SPDX-License-Identifier: Apache-2.0
//
// A line for a person, from a program's main: libraries return a Result instead.
#pragma once

#include <cstdio>
#include <string>
#include <string_view>

namespace penstock {

// Writes "PROGRAM: TEXT\n" to standard error, at once. If that fails (a log file on a full disk, a
// terminal that is gone) the line is lost, and nothing else: fmt::print would throw.
inline void SayError(std::string_view program, std::string_view text) {
  std::string line(program);
  line.append(": ").append(text).append("\n");
  static_cast<void>(std::fwrite(line.data(), 1, line.size(), stderr));
}

}  // namespace penstock
