// SPDX-License-Identifier: Apache-2.0
#include "traces/preview.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "traces/trace.h"

namespace penstock::traces {
namespace {

constexpr std::size_t kMostCells = 4096;
constexpr std::size_t kFewestCells = 256;
constexpr std::size_t kManyThreads = 64;  // above this, each doubling halves the cells

}  // namespace

std::size_t PreviewCells(std::size_t threads_with_spans) {
  std::size_t cells = kMostCells;
  for (std::size_t n = kManyThreads; n < threads_with_spans && cells > kFewestCells; n *= 2) {
    cells /= 2;
  }
  return cells;
}

PreviewBuilder::PreviewBuilder(ThreadId thread, TimeNs begin, TimeNs end, std::size_t cells,
                               std::vector<DerivedStep> steps)
    : begin_(begin.value),
      length_(std::max<std::int64_t>(1, end.value - begin.value)),
      cells_(cells),
      steps_(std::move(steps)) {
  out_.thread = thread;
}

void PreviewBuilder::Place(std::int64_t start, std::int64_t length, StageId stage) {
  const auto place = placer_.Add(start - begin_, length);
  if (!place) return;
  if (place->level == writers_.size()) {
    writers_.emplace_back(cells_, length_);
    out_.levels.emplace_back();
  }
  writers_[place->level].Add(place->start, place->start + place->length, stage);
  ++out_.levels[place->level].spans;
  StageTotal& total = out_.totals[StageIndex(stage)];
  ++total.count;
  total.time += place->length;
}

void PreviewBuilder::Add(std::int64_t start, std::int64_t length, StageId stage) {
  length = std::max<std::int64_t>(length, 0);
  while (next_step_ < steps_.size()) {
    const DerivedStep& step = steps_[next_step_];
    if (step.start > start || (step.start == start && step.length <= length)) break;
    Place(step.start, step.length, StageId::kStep);
    ++next_step_;
  }
  Place(start, length, stage);
  ++out_.spans;
}

PreviewThread PreviewBuilder::Take() {
  for (; next_step_ < steps_.size(); ++next_step_) {
    Place(steps_[next_step_].start, steps_[next_step_].length, StageId::kStep);
  }
  for (std::size_t i = 0; i < writers_.size(); ++i) out_.levels[i].cells = writers_[i].Take();
  return std::move(out_);
}

Preview MakePreview(const Trace& trace) {
  Preview preview;
  preview.begin = trace.begin();
  preview.end = trace.end();
  preview.spans = trace.span_count();
  preview.processes.assign(trace.processes().begin(), trace.processes().end());
  preview.thread_infos.assign(trace.threads().begin(), trace.threads().end());
  preview.facts = trace.facts();
  const auto busy = [](const ThreadInfo& thread) { return thread.spans > 0; };
  const std::size_t cells = PreviewCells(static_cast<std::size_t>(
      std::count_if(preview.thread_infos.begin(), preview.thread_infos.end(), busy)));
  for (std::uint32_t t = 0; t < preview.thread_infos.size(); ++t) {
    if (preview.thread_infos[t].spans == 0) continue;
    StepFinder finder;
    const auto each = [&](const auto& visit) {
      trace.ForEachBlock(ThreadId{t}, [&](std::span<const Span> block) {
        for (const Span& span : block) visit(span);
      });
    };
    each([&](const Span& span) {
      finder.Add(span.start.value, std::max<std::int64_t>(span.duration.value, 0), span.stage,
                 span.batch);
    });
    PreviewBuilder builder(ThreadId{t}, preview.begin, preview.end, cells, finder.Take());
    each([&](const Span& span) { builder.Add(span.start.value, span.duration.value, span.stage); });
    preview.threads.push_back(builder.Take());
  }
  return preview;
}

namespace packed {

void WritePreview(const PreviewThread& thread, const PreviewBinding& binding, ByteWriter& out) {
  out.Raw(std::as_bytes(std::span(&binding.sections, 1)));
  out.Varint(binding.spans);
  out.Varint(thread.spans);
  out.Varint(thread.totals.size());
  for (const StageTotal& total : thread.totals) {
    out.Varint(total.count);
    out.Signed(total.time);
  }
  out.Varint(thread.levels.size());
  for (const PreviewLevel& level : thread.levels) {
    out.Varint(level.spans);
    out.Varint(level.cells.size());
    // One array for each field: neighbouring cells are alike and compress better that way.
    for (std::size_t k = 0; k < 3; ++k) {
      for (const DensityCell& cell : level.cells) out.U8(cell.stage[k]);
    }
    for (std::size_t k = 0; k < 3; ++k) {
      for (const DensityCell& cell : level.cells) out.U8(cell.share[k]);
    }
  }
}

bool ReadPreviewThread(std::span<const std::byte> payload, PreviewBinding& binding,
                       PreviewThread& out) {
  ByteReader reader(payload);
  std::uint64_t digest = 0;
  for (unsigned i = 0; i < 8; ++i) digest |= std::uint64_t{reader.U8()} << (8 * i);
  binding.sections = digest;
  binding.spans = reader.Varint();
  out.spans = reader.Varint();
  const std::uint64_t stages = reader.Bounded(255);
  for (std::uint64_t s = 0; s < stages && reader.ok(); ++s) {
    StageTotal& total = out.totals[std::min<std::uint64_t>(s, out.totals.size() - 1)];
    total.count += reader.Varint();
    total.time = WrapAdd(total.time, reader.Signed());
  }
  const std::uint64_t levels = reader.Bounded(LevelPlacer::kMost);
  for (std::uint64_t v = 0; v < levels && reader.ok(); ++v) {
    PreviewLevel level;
    level.spans = reader.Varint();
    const std::size_t count = reader.Bounded(kMostCells);
    const std::span<const std::byte> planes = reader.Raw(6 * count);
    if (!reader.ok() || !std::has_single_bit(count)) return false;
    level.cells.resize(count);
    for (std::size_t i = 0; i < count; ++i) {
      for (std::size_t k = 0; k < 3; ++k) {
        const auto stage = std::to_integer<std::uint8_t>(planes[k * count + i]);
        if (stage >= wire::kStageCount) return false;  // written by a later version
        level.cells[i].stage[k] = stage;
        level.cells[i].share[k] = std::to_integer<std::uint8_t>(planes[(3 + k) * count + i]);
      }
    }
    out.levels.push_back(std::move(level));
  }
  return reader.ok() && reader.left() == 0;
}

}  // namespace packed

}  // namespace penstock::traces
