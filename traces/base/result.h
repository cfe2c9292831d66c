// SPDX-License-Identifier: Apache-2.0
//
// How an operation fails in Penstock: by a Result that cannot be ignored, with one line of text for
// people.
#pragma once

#include <string>
#include <utility>

#include <tl/expected.hpp>

namespace penstock {

// The kind of a failure. It determines the exit status of a program (docs/design.md 2).
enum class ErrorKind {
  kUsage,        // 2: the command line is wrong
  kEnvironment,  // 3: something is missing on this machine, or in use
  kInput,        // 4: a file cannot be read, or is damaged beyond use
  kOutput,       // 3: a file cannot be written
};

struct Error {
  ErrorKind kind = ErrorKind::kInput;
  std::string message;  // one line: the file, the place, the remedy; without a line feed
};

template <class T>
class [[nodiscard]] Result : public tl::expected<T, Error> {
 public:
  using tl::expected<T, Error>::expected;
};

[[nodiscard]] inline tl::unexpected<Error> Fail(ErrorKind kind, std::string message) {
  return tl::unexpected<Error>(Error{kind, std::move(message)});
}

// Passes on the error of a failed result, in a function that returns a result of another type.
template <class R>
[[nodiscard]] auto PassOn(R&& failed) {
  return tl::unexpected(std::forward<R>(failed).error());
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

// The argument is a Result or an expected. If it has failed, its error is returned from the
// function that uses this macro.
#define PENSTOCK_TRY(...)                                         \
  do {                                                            \
    if (auto&& penstock_tried = (__VA_ARGS__); !penstock_tried) { \
      return ::penstock::PassOn(std::move(penstock_tried));       \
    }                                                             \
  } while (false)
