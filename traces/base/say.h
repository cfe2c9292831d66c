// SPDX-License-Identifier: Apache-2.0
//
// Messages for people, from a program's main; libraries return a Result instead.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <new>
#include <string>
#include <string_view>

namespace penstock {

// Writes "PROGRAM: TEXT\n" to standard error in one piece. If that fails (a log file on a full
// disk, a terminal that is gone), only the line is lost; fmt::print would throw.
inline void SayError(std::string_view program, std::string_view text) {
  std::string line(program);
  line.append(": ").append(text).append("\n");
  static_cast<void>(std::fwrite(line.data(), 1, line.size(), stderr));
}

// If memory runs out in any thread, the program says so in one line and ends with status 3. Any
// other exception that nobody catches ends it as before. Call this first in main.
inline void SayWhenMemoryEnds(const char* program) {
  static const char* name = nullptr;
  static std::terminate_handler before = nullptr;
  name = program;
  before = std::set_terminate([] {
    try {
      if (std::current_exception() != nullptr) std::rethrow_exception(std::current_exception());
    } catch (const std::bad_alloc&) {
      for (const char* text : {name, ": not enough memory\n"}) {
        static_cast<void>(std::fputs(text, stderr));  // allocates nothing
      }
      std::_Exit(3);
    } catch (...) {
    }
    before();
  });
}

}  // namespace penstock
