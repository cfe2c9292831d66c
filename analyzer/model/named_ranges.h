// SPDX-License-Identifier: Apache-2.0
//
// Some libraries decode and transform in C++ threads of their own, where no symbol can be hooked.
// But they mark their work with named NVTX ranges: NVIDIA DALI its operators, nvImageCodec the
// decoding of each picture. Such a `mark` counts as the stage that its name means, wherever stages
// are counted or drawn. A decode span that only opens an image is also recognised by its name.
// Refers to the trace; not thread-safe.
#pragma once

#include <string_view>
#include <unordered_map>

#include "traces/trace.h"

namespace penstock::analyzer {

// The stage that a range of this name means; kMark if no known library uses the name. Source:
// recorded ranges of nvidia-dali 2.4 and nvidia-nvimgcodec 0.9.
[[nodiscard]] traces::StageId StageOfRange(std::string_view name);

class NamedRanges {
 public:
  explicit NamedRanges(const traces::Trace& trace) : trace_(trace) {}

  // The stage of `span`; for a mark, the stage that its name means. Cost: O(1) on average; only the
  // names of marks are looked at, each once.
  [[nodiscard]] traces::StageId StageOf(const traces::Span& span) {
    return span.stage == traces::StageId::kMark ? StageOfMark(span.name) : span.stage;
  }
  // Whether the span only opens an image: Pillow reads the header of a file in one call, and
  // decodes it in another.
  [[nodiscard]] bool Opens(const traces::Span& span);
  // `span` with the stage that its name means. Valid until the next call.
  [[nodiscard]] const traces::Span& AsNamed(const traces::Span& span);

 private:
  [[nodiscard]] traces::StageId StageOfMark(StringId name);

  const traces::Trace& trace_;
  std::unordered_map<std::uint32_t, traces::StageId> known_;  // by StringId
  std::unordered_map<std::uint32_t, bool> opens_;             // by StringId, names of decodes
  traces::Span named_;
};

}  // namespace penstock::analyzer
