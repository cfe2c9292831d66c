// SPDX-License-Identifier: Apache-2.0
//
// How an operation fails in Penstock: a Result that cannot be dropped, with one line for a person.
#pragma once

#include <string>
#include <utility>

#include <tl/expected.hpp>

namespace penstock {

// The class of a failure decides the exit status of a program (docs/design.md 2).
enum class ErrorKind {
  kUsage,        // 2: the command line is wrong
  kEnvironment,  // 3: something is missing on this machine
  kInput,        // 4: a file cannot be read, or is damaged beyond use
  kOutput,       // 3: a file cannot be written
};

struct Error {
  ErrorKind kind = ErrorKind::kInput;
  std::string message;  // one line: the file, the place, the remedy; no trailing newline
};

template <class T>
class [[nodiscard]] Result : public tl::expected<T, Error> {
 public:
  using tl::expected<T, Error>::expected;
};

[[nodiscard]] inline tl::unexpected<Error> Fail(ErrorKind kind, std::string message) {
  return tl::unexpected<Error>(Error{kind, std::move(message)});
}

[[nodiscard]] constexpr int ExitStatus(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::kUsage:
      return 2;
    case ErrorKind::kEnvironment:
      return 3;
    case ErrorKind::kInput:
      return 4;
    case ErrorKind::kOutput:
      return 3;
  }
  return 4;
}

}  // namespace penstock
