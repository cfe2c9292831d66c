// SPDX-License-Identifier: Apache-2.0
#include "traces/trace.h"

namespace penstock::traces {

std::vector<Span> Trace::Spans(ThreadId thread) const {
  std::vector<Span> all;
  if (thread.value < threads().size()) {
    all.reserve(threads()[thread.value].spans);
  }
  ForEachBlock(thread, [&all](std::span<const Span> block) {
    all.insert(all.end(), block.begin(), block.end());
  });
  return all;
}

}  // namespace penstock::traces
