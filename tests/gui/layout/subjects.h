// SPDX-License-Identifier: Apache-2.0
//
// The documents that the check looks at: every kind of trace that people open, made here.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "gui/model/document.h"

namespace penstock::gui::testing {

struct Subject {
  std::string name;
  Document document;
  std::optional<Document> other;   // to compare with
  bool sweep = false;              // a sweep is open too
  std::vector<std::string> names;  // names in the trace
};

// Makes demo, long (with `long_spans` spans), gpu, empty, cut, live, contended, several (loaders),
// alone (no loader), kineto, nsight, ranks, functions, compare. Throws if one cannot be made.
[[nodiscard]] std::vector<Subject> MakeSubjects(std::uint64_t long_spans);

}  // namespace penstock::gui::testing
