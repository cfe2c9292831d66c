// SPDX-License-Identifier: Apache-2.0
//
// The context of a span: the spans around and inside it, the files and pixels of its sample, the
// way of its batch. Pure.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "analyzer/model/run_model.h"
#include "gui/model/timeline/query.h"
#include "gui/model/timeline/timeline.h"
#include "traces/trace.h"

namespace penstock::gui {

// The nearest span of the same thread that contains `span`; nullopt if there is none.
[[nodiscard]] std::optional<SpanRef> ParentOf(const Timeline& timeline, SpanRef span);

// The spans one level below `span` that lie inside it.
struct Children {
  std::vector<SpanRef> longest;  // the longest first
  std::size_t count = 0;         // of all
};
// Cost: O(log spans + children); at most 65,536 children are looked at.
[[nodiscard]] Children ChildrenOf(const Timeline& timeline, SpanRef span, std::size_t most);

// What was read and decoded for a sample.
struct SampleData {
  struct File {
    StringId path;
    double bytes = 0;  // read from it
  };
  std::vector<File> files;  // in the order of reading
  double bytes = 0;         // of all reads
  // Bytes of the largest decoded picture; 0: none. A pixel may have 1, 3 or 4 of them.
  double decoded = 0;
  bool cut = false;  // there are more spans than were looked at
};
// What the thread read and decoded for a sample. `span` is the sample or lies inside it. If no span
// of the sample itself was recorded, the spans of the same sample in the same fetch count.
// Cost: O(spans inside the sample or fetch); looks at 16,384 spans of each level at most.
[[nodiscard]] SampleData SampleOf(const Timeline& timeline, const traces::Trace& trace,
                                  SpanRef span);

// The parts of a batch's way, from the moment when its indices were sent to its delivery.
enum class WayPart : std::uint8_t {
  kQueue,     // its indices wait for a worker
  kMade,      // a worker, or the loop, makes it
  kHandover,  // it is put into the queue
  kReady,     // it is ready, and the loop has not asked for it
  kTaken,     // the loop takes it
};
inline constexpr std::size_t kWayParts = 5;
struct BatchWay {
  std::int64_t begin = 0;  // ns since the trace began
  std::int64_t end = 0;
  std::array<std::int64_t, kWayParts> length{};  // ns, by WayPart; 0 also if it was not recorded

  [[nodiscard]] WayPart longest() const;
};
// The way of the batch of `span`; nullopt if `span` has no batch, or if the batch was not fetched
// or not delivered. Cost: O(loaders * log batches).
[[nodiscard]] std::optional<BatchWay> WayOf(const Timeline& timeline, const analyzer::RunModel& run,
                                            SpanRef span);

}  // namespace penstock::gui
