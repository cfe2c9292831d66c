// SPDX-License-Identifier: Apache-2.0
//
// The spans of a trace, ready to be drawn at any zoom: processes, their threads, and for each
// thread the levels on which its spans nest. Built once, then immutable and safe from several
// threads. Times are nanoseconds since the trace began. It takes 44 bytes per span.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "gui/model/timeline/colour_number.h"
#include "gui/model/timeline/epochs.h"
#include "traces/density.h"
#include "traces/preview.h"
#include "traces/trace.h"

namespace penstock::gui {

// The properties of a span that are hardly needed to draw it.
struct SpanDetail {
  std::uint32_t batch = wire::kNoBatch;
  StringId name;
  StringId object;
  std::uint32_t sample = kNoSample;  // dataset index
  float bytes = 0;
  float cpu = -1;  // seconds; -1: not taken
  std::uint16_t generation = 0;
  std::uint8_t flags = 0;  // wire::kFlag*, kDerived
  // ColourOfName() of a range of the program or call of a driver, else kColourOfStage.
  std::uint8_t colour = kColourOfStage;

  static constexpr std::uint32_t kNoSample = 0xffffffffu;
  // The span was not recorded: it is the step between two waits of a training loop.
  static constexpr std::uint8_t kDerived = 128;

  [[nodiscard]] traces::BatchKey key() const { return {batch, generation}; }
};

[[nodiscard]] SpanDetail DetailOf(const traces::Span& span);
// The length at which a span is drawn, in ns. A span may hold all reads of one file, from the first
// to the last. It is drawn as long as the time inside these calls, which is what the report counts.
// Otherwise a decoder that reads while it decodes would seem to read all the time.
[[nodiscard]] std::int64_t DrawnLength(const traces::Span& span);

using Cell = traces::DensityCell;
// The colours of the names that take most time in a cell, of ranges of the program and of calls of
// a driver (gui/model/timeline/name_colours.h).
using ColourCell = std::array<std::uint8_t, 2>;

// One level of one thread: spans that do not overlap, in ascending order.
struct Level {
  std::vector<std::int64_t> start;
  std::vector<std::uint64_t> shape;  // duration << 8 | stage; each stage < wire::kStageCount
  std::vector<SpanDetail> detail;
  // density[0] divides the whole trace into equal cells, and each further vector into half as many.
  // Empty if there are so few spans that they are always drawn one by one.
  std::vector<std::vector<Cell>> density;
  std::vector<std::vector<ColourCell>>
      colours;  // as `density`; empty if no span is coloured by name
  // The number and time of the spans before every kStride-th one, by stage.
  struct Totals {
    std::array<std::uint32_t, wire::kStageCount> count{};
    std::array<std::int64_t, wire::kStageCount> time{};
  };
  static constexpr std::size_t kStride = 1024;
  std::vector<Totals> totals;

  [[nodiscard]] std::size_t size() const { return start.size(); }
  [[nodiscard]] std::int64_t length(std::size_t i) const {
    return static_cast<std::int64_t>(shape[i] >> 8);
  }
  [[nodiscard]] std::int64_t end(std::size_t i) const { return start[i] + length(i); }
  [[nodiscard]] traces::StageId stage(std::size_t i) const {
    return static_cast<traces::StageId>(shape[i] & 0xff);
  }
  // The first span that ends after `at`; size() if there is none.
  [[nodiscard]] std::size_t FirstEndingAfter(std::int64_t at) const;
  // The first span that starts at `at` or later.
  [[nodiscard]] std::size_t FirstStartingAt(std::int64_t at) const;
};

// Numbered as in CUPTI.
struct DeviceStream {
  std::uint32_t device = 0;
  std::uint32_t stream = 0;
  constexpr auto operator<=>(const DeviceStream&) const = default;
};

// The purpose of a thread of a loader or of PyTorch, as far as its spans show it.
enum class LaneRole : std::uint8_t { kNone, kQueueFeeder, kPinThread, kBackward };

// One thread, or one stream of a device.
struct Lane {
  ThreadId thread;
  std::uint32_t tid = 0;
  std::string label;   // its own name; "" none
  bool main = false;   // the first thread of its process
  bool alike = false;  // another thread of the process has the same label
  // The training process that the thread works for. It tells apart batches with the same key of
  // several training processes. Not known in a preview.
  ProcessId consumer;
  LaneRole role = LaneRole::kNone;
  std::optional<DeviceStream> stream;  // set for a stream of a device, which is not a thread
  // The rank whose only device it is, if ranks use the same number for different devices; -1: the
  // number tells the device.
  std::int32_t rank_of_device = -1;
  std::vector<Level> levels;
  std::uint64_t spans = 0;
};

enum class GroupKind : std::uint8_t { kConsumer, kWorker, kOther };

// One process.
struct Group {
  ProcessId process;
  GroupKind kind = GroupKind::kOther;
  std::int32_t worker_id = -1;
  std::int32_t rank = -1;
  std::uint32_t pid = 0;
  std::string name;  // the name of its program
  std::vector<std::size_t> lanes;
  std::optional<Generation> epoch;  // of a worker: the first iterator that it made a batch for
  // Whether other workers of its training process have its number: those of another loader; those
  // that the same loader started anew.
  bool other_loader = false;
  bool anew = false;
};

// Identifies one span of a timeline.
struct SpanRef {
  std::uint32_t lane = 0;
  std::uint32_t level = 0;
  std::uint32_t index = 0;
  constexpr auto operator<=>(const SpanRef&) const = default;
};

// A span in which a batch moves on: fetch, put, pin, get, wait, copy, step.
struct BatchStop {
  traces::BatchKey key;
  SpanRef span;
  std::int64_t start = 0;
};

// A name that gives spans their colour.
struct NamedPart {
  traces::StageId stage = traces::StageId::kNone;
  StringId name;
  std::uint8_t colour = kColourOfStage;
  std::int64_t time = 0;  // ns, added up
};

struct Timeline {
  std::int64_t begin = 0;   // CLOCK_MONOTONIC of time 0
  std::int64_t length = 1;  // at least 1
  std::uint64_t spans = 0;
  std::vector<Group> groups;  // by rank; training process, workers by number, others
  std::vector<Lane> lanes;
  std::vector<BatchStop> stops;         // by key, then time
  Epochs epochs;                        // those of `stops`
  std::vector<traces::StageId> stages;  // those that occur, in the order in which data passes them
  std::vector<NamedPart> names;         // by stage, longest first; at most 12 of each
  // Set for a preview only: its levels have cells and no spans, and `totals` is all that is known
  // about the spans.
  bool preview = false;
  std::array<traces::StageTotal, wire::kStageCount> totals{};
  std::string unusual_text;  // names and paths beyond ASCII, whose glyphs a font needs

  // The process of a lane; nullptr if there is none.
  [[nodiscard]] const Group* GroupOf(std::uint32_t lane) const;
  // The colours of the names with most time in a stage, at most three; empty if its spans have the
  // colour of the stage.
  [[nodiscard]] std::vector<std::uint8_t> ColoursOf(traces::StageId stage) const;
  [[nodiscard]] const Level& level(SpanRef ref) const { return lanes[ref.lane].levels[ref.level]; }
  [[nodiscard]] std::int64_t start(SpanRef ref) const { return level(ref).start[ref.index]; }
  [[nodiscard]] std::int64_t end(SpanRef ref) const { return level(ref).end(ref.index); }
  [[nodiscard]] traces::StageId stage(SpanRef ref) const { return level(ref).stage(ref.index); }
  [[nodiscard]] const SpanDetail& detail(SpanRef ref) const { return level(ref).detail[ref.index]; }
};

// Lets another thread watch and stop a build.
struct BuildControl {
  std::stop_token stop;
  std::atomic<float>* progress = nullptr;  // 0 to 1; relaxed, it publishes nothing else
};

// Builds the timeline; nullopt if it was stopped. Ranges of libraries get the stage that they name,
// as in the report. Cost: one pass over all spans; 44 bytes for each, and up to 1 MB per level.
[[nodiscard]] std::optional<Timeline> BuildTimeline(const traces::Trace& trace,
                                                    const BuildControl& control = {});

// Builds a timeline that can be drawn before the spans have been read. In it, ranges of libraries
// have StageId::kMark, even if they name a stage. Cost: O(cells).
[[nodiscard]] Timeline MakeTimeline(const traces::Preview& preview);

}  // namespace penstock::gui
