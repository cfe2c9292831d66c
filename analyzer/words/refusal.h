// SPDX-License-Identifier: Apache-2.0
//
// An error of a prediction: the reason why nothing was predicted, as a statement.
#pragma once

#include <tl/expected.hpp>

#include "analyzer/words/statement.h"
#include "traces/base/result.h"

namespace penstock::analyzer {

struct Refusal {
  ErrorKind kind = ErrorKind::kInput;
  Statement why;

  // The error that the command line reports, in English.
  [[nodiscard]] Error error() const { return {kind, English(why)}; }
};

template <class T>
using Predicted = tl::expected<T, Refusal>;

[[nodiscard]] inline tl::unexpected<Refusal> Refuse(Statement why,
                                                    ErrorKind kind = ErrorKind::kInput) {
  return tl::unexpected<Refusal>(Refusal{kind, std::move(why)});
}

}  // namespace penstock::analyzer
