// SPDX-License-Identifier: Apache-2.0
//
// The overview of a long trace: for each thread its levels, each a row of cells. A packed trace
// contains it (FORMAT.md, section kind 10), so the first picture of ten million spans needs none of
// them. For a recording all cores compute it in one pass. Values; functions are thread-safe.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

#include "traces/base/bytes.h"
#include "traces/density.h"
#include "traces/event.h"

namespace penstock::traces {

struct StageTotal {
  std::uint64_t count = 0;
  std::int64_t time = 0;  // ns
  constexpr bool operator==(const StageTotal&) const = default;
};

struct PreviewLevel {
  std::uint64_t spans = 0;  // with derived steps
  std::vector<DensityCell> cells;
  bool operator==(const PreviewLevel&) const = default;
};

struct PreviewThread {
  ThreadId thread;
  std::uint64_t spans = 0;  // recorded
  std::vector<PreviewLevel> levels;
  std::array<StageTotal, wire::kStageCount> totals{};  // with derived steps
  bool operator==(const PreviewThread&) const = default;
};

struct Preview {
  TimeNs begin;
  TimeNs end;
  std::uint64_t spans = 0;
  std::vector<PreviewThread> threads;  // ascending; only those with spans
  // As in the Trace.
  std::vector<ProcessInfo> processes;
  std::vector<ThreadInfo> thread_infos;
  std::map<std::string, std::string> facts;

  [[nodiscard]] std::int64_t length() const {
    return end.value > begin.value ? end.value - begin.value : 1;
  }
};

// Traces with fewer spans have no preview: they are read completely in a moment.
inline constexpr std::uint64_t kPreviewSpans = std::uint64_t{1} << 16;

// The number of cells of each level, a power of two: as many as a wide screen has columns. It is
// smaller if there are many threads, because reading so many cells would take long.
[[nodiscard]] std::size_t PreviewCells(std::size_t threads_with_spans);

// Makes the preview of one thread from its spans.
class PreviewBuilder {
 public:
  // `steps`: the steps that StepFinder finds in this thread.
  PreviewBuilder(ThreadId thread, TimeNs begin, TimeNs end, std::size_t cells,
                 std::vector<DerivedStep> steps);
  // Requires: the order of StartsBefore. Units: ns of CLOCK_MONOTONIC.
  void Add(std::int64_t start, std::int64_t length, StageId stage);
  [[nodiscard]] PreviewThread Take();

 private:
  void Place(std::int64_t start, std::int64_t length, StageId stage);

  PreviewThread out_;
  std::int64_t begin_;
  std::int64_t length_;
  std::size_t cells_;
  std::vector<DerivedStep> steps_;
  std::size_t next_step_ = 0;
  LevelPlacer placer_;
  std::vector<CellWriter> writers_;
};

class Trace;
// Makes the preview of a trace from its spans. Cost: one pass over them, two if steps are derived.
[[nodiscard]] Preview MakePreview(const Trace& trace);

// The preview of a file, without its spans. nullopt: there is none, it does not belong to the spans
// of the file, or it is damaged; then the whole file must be read.
// Cost: for a packed trace that of its tables; for a recording one pass by all cores, and 16 bytes
//       per span.
[[nodiscard]] std::optional<Preview> ReadPreview(const std::filesystem::path& path,
                                                 const std::stop_token& stop = {});
// The same for a recording in memory, by `workers` threads; nullopt if it has no spans.
[[nodiscard]] std::optional<Preview> ScanRecording(std::span<std::byte> memory, unsigned workers,
                                                   const std::stop_token& stop = {});

namespace packed {

// What a preview was made from. It is shown only with exactly the same sections.
struct PreviewBinding {
  std::uint64_t sections = 0;  // XXH64 of the header checks of all sections before the previews
  std::uint64_t spans = 0;     // number of spans in all sections
  constexpr bool operator==(const PreviewBinding&) const = default;
};

void WritePreview(const PreviewThread& thread, const PreviewBinding& binding, ByteWriter& out);
// Returns false if this version cannot show the payload.
[[nodiscard]] bool ReadPreviewThread(std::span<const std::byte> payload, PreviewBinding& binding,
                                     PreviewThread& out);

}  // namespace packed

}  // namespace penstock::traces
