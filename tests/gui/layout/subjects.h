// SPDX-License-Identifier: Apache-2.0
//
// What the check looks at: traces of every kind that people open, made here.
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
  bool sweep = false;              // a sweep is open besides
  std::vector<std::string> names;  // that are the trace's own
};

// demo, long (of so many spans), gpu, empty, cut, live, contended, several (loaders), alone (no
// loader), kineto, nsight, ranks, functions, compare. Throws where one cannot be made.
[[nodiscard]] std::vector<Subject> MakeSubjects(std::uint64_t long_spans);

}  // namespace penstock::gui::testing
