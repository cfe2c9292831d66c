// SPDX-License-Identifier: Apache-2.0
//
// Copies a trace into another one that is being written, with its strings, processes and threads.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "traces/pack.h"
#include "traces/trace.h"

namespace penstock::traces {

// Refers to both traces while it lives. Not thread-safe.
class StringTranslator {
 public:
  StringTranslator(const Trace& from, Packer& to) : from_(from), to_(to) {}

  // The id of the same text in the new trace; 0 if the text is unknown, because a damaged id must
  // not cost memory.
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
  std::vector<std::uint32_t> ids_;  // by old id: the new id + 1; 0: not known yet
};

// Adds all of `from` to `to`. `to` may have processes and threads already, and AddProcess() and
// AddThread() may return one that it has. The caller calls Finish().
void CopyTrace(const Trace& from, Packer& to);

}  // namespace penstock::traces
