// SPDX-License-Identifier: Apache-2.0
//
// Libraries that decode and transform in C++ threads of their own, out of reach of any symbol, but
// name what they do by NVTX ranges: NVIDIA DALI its operators, nvImageCodec the decoding of each
// picture. Such a `mark` counts as the stage that it names, wherever stages are counted or drawn.
// Refers to the trace; not thread-safe.
#pragma once

#include <string_view>
#include <unordered_map>

#include "traces/trace.h"

namespace penstock::analyzer {

// The stage that a range of this name is; kMark for all that no library is known to mean.
// Source: the ranges of nvidia-dali 2.4 and nvidia-nvimgcodec 0.9, recorded.
[[nodiscard]] traces::StageId StageOfRange(std::string_view name);

class NamedRanges {
 public:
  explicit NamedRanges(const traces::Trace& trace) : trace_(trace) {}

  // `span`'s own stage, or the one that its name tells.
  // Cost: O(1) on average; the text is looked at once for each name, and of marks only.
  [[nodiscard]] traces::StageId StageOf(const traces::Span& span) {
    return span.stage == traces::StageId::kMark ? StageOfMark(span.name) : span.stage;
  }
  // `span`, of the stage that its name tells; until the next call.
  [[nodiscard]] const traces::Span& AsNamed(const traces::Span& span);

 private:
  [[nodiscard]] traces::StageId StageOfMark(StringId name);

  const traces::Trace& trace_;
  std::unordered_map<std::uint32_t, traces::StageId> known_;  // by StringId
  traces::Span named_;
};

}  // namespace penstock::analyzer
