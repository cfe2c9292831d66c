// SPDX-License-Identifier: Apache-2.0
//
// Copying a trace: its strings, processes and threads as those of another that is being written.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "traces/pack.h"
#include "traces/trace.h"

namespace penstock::traces {

// Refers to both while it lives. Not thread-safe.
class StringTranslator {
 public:
  StringTranslator(const Trace& from, Packer& to) : from_(from), to_(to) {}

  // The id of the same text in the new trace; 0 for a text that is unknown: a damaged id must not
  // ask for memory.
  [[nodiscard]] StringId operator()(StringId id) {
    if (id.value >= ids_.size()) {
      if (from_.String(id).empty()) return {};
      ids_.resize(id.value + std::size_t{1});
    }
    std::uint32_t& known = ids_[id.value];
    if (known == 0) known = to_.Intern(from_.String(id)).value + 1;
    return StringId{known - 1};
  }

 private:
  const Trace& from_;
  Packer& to_;
  std::vector<std::uint32_t> ids_;  // of the new trace by those of the old, + 1
};

// Adds all of `from` to `to`, which may have processes and threads of its own, or take some of
// these for one. Finish() is left to the caller.
void CopyTrace(const Trace& from, Packer& to);

}  // namespace penstock::traces
