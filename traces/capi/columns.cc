// SPDX-License-Identifier: Apache-2.0
#include "traces/capi/columns.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <span>
#include <vector>

#include "traces/base/parallel.h"
#include "traces/call_trees.h"

namespace penstock::traces {
namespace {

template <class T>
void Set(T* column, std::uint64_t at, T value) {
  if (column != nullptr) column[at] = value;
}

// Stages of later versions may have numbers from 64 on, and no bit: only all bits select them.
bool Holds(std::uint64_t stages, StageId id) {
  const auto stage = static_cast<unsigned>(id);
  return stage >= 64 ? stages == ~std::uint64_t{0} : (stages >> stage & 1) != 0;
}

std::int64_t BatchOf(BatchKey key) {
  return key.valid() ? std::int64_t{key.index} : -1;
}

// Writes the spans of one thread to `out`, from `at` on, at most `room`.
class ThreadColumns {
 public:
  ThreadColumns(const PenstockSpans& out, std::uint64_t stages, std::uint32_t thread,
                std::uint32_t process)
      : out_(out), stages_(stages), thread_(thread), process_(process) {}

  void Put(std::uint64_t at, const Span& s) const {
    Set(out_.start, at, s.start.value);
    Set(out_.duration, at, s.duration.value);
    Set(out_.cpu, at, s.cpu.value);
    Set(out_.busy, at, s.busy.value >= 0 ? s.busy.value : s.duration.value);
    Set(out_.bytes, at, s.bytes.value);
    Set(out_.sample, at, s.sample);
    Set(out_.batch, at, BatchOf(s.batch));
    Set(out_.name, at, s.name.value);
    Set(out_.object, at, s.object.value);
    Set(out_.thread, at, thread_);
    Set(out_.process, at, process_);
    Set(out_.generation, at, s.batch.generation);
    Set(out_.stage, at, static_cast<std::uint8_t>(s.stage));
    Set(out_.flags, at, s.flags);
    Set(out_.depth, at, s.depth);
  }
  [[nodiscard]] bool Wants(const Span& s) const { return Holds(stages_, s.stage); }

 private:
  const PenstockSpans& out_;
  const std::uint64_t stages_;
  const std::uint32_t thread_;
  const std::uint32_t process_;
};

void PutUnit(const PenstockFunctions& out, std::uint64_t at, const CallTree& tree,
             std::uint32_t process) {
  const UnitRow& unit = tree.unit;
  Set(out.start, at, unit.at.value);
  Set(out.unit_time, at, tree.total().value);
  Set(out.sample, at, unit.sample);
  Set(out.batch, at, BatchOf(unit.batch));
  Set(out.thread, at, unit.thread.value);
  Set(out.process, at, process);
  Set(out.generation, at, unit.batch.generation);
  Set(out.stage, at, static_cast<std::uint8_t>(unit.stage));
  Set(out.flags, at, unit.flags);
}

void PutNode(const PenstockFunctions& out, std::uint64_t at, const CallNode& node) {
  Set(out.own, at, node.own.value);
  Set(out.total, at, node.total.value);
  Set(out.calls, at, node.count);
  Set(out.function, at, node.name.value);
  Set(out.file, at, node.file.value);
  Set(out.line, at, node.line);
  Set(out.caller, at, node.parent == kNoCall ? -1 : static_cast<std::int32_t>(node.parent));
  Set(out.kind, at, static_cast<std::uint8_t>(node.kind));
}

template <class T>
void Close(T* column, std::uint64_t to, std::uint64_t from, std::uint64_t count) {
  if (column != nullptr && to != from) std::memmove(column + to, column + from, count * sizeof(T));
}

void CloseGap(const PenstockSpans& out, std::uint64_t to, std::uint64_t from, std::uint64_t count) {
  Close(out.start, to, from, count);
  Close(out.duration, to, from, count);
  Close(out.cpu, to, from, count);
  Close(out.busy, to, from, count);
  Close(out.bytes, to, from, count);
  Close(out.sample, to, from, count);
  Close(out.batch, to, from, count);
  Close(out.name, to, from, count);
  Close(out.object, to, from, count);
  Close(out.thread, to, from, count);
  Close(out.process, to, from, count);
  Close(out.generation, to, from, count);
  Close(out.stage, to, from, count);
  Close(out.flags, to, from, count);
  Close(out.depth, to, from, count);
}

}  // namespace

std::uint64_t FillSpans(const Trace& trace, std::uint64_t stages, const PenstockSpans& out,
                        unsigned threads) {
  const std::span<const ThreadInfo> infos = trace.threads();
  std::vector<std::uint64_t> begins(infos.size() + 1, 0);
  for (std::size_t i = 0; i < infos.size(); ++i) begins[i + 1] = begins[i] + infos[i].spans;
  std::vector<std::uint64_t> counts(infos.size(), 0);
  // The number of wanted spans is known only when a thread is decoded. So each thread of the trace
  // is written where its spans would lie if all were wanted, and then the gaps are closed. This
  // decodes each block once, and with all cores.
  InParallel(infos.size(), threads, [&](std::size_t i) {
    const auto id = static_cast<std::uint32_t>(i);
    const ThreadColumns columns(out, stages, id, infos[i].process.value);
    std::uint64_t at = begins[i];
    const std::uint64_t end = std::min(begins[i + 1], trace.span_count());
    trace.ForEachBlock(ThreadId{id}, [&](std::span<const Span> spans) {
      for (const Span& span : spans) {
        if (columns.Wants(span) && at < end) columns.Put(at++, span);
      }
    });
    counts[i] = at - begins[i];
  });
  std::uint64_t filled = 0;
  for (std::size_t i = 0; i < infos.size(); ++i) {
    CloseGap(out, filled, begins[i], counts[i]);
    filled += counts[i];
  }
  return filled;
}

std::uint64_t FillPlaces(std::span<std::uint32_t> column, std::span<std::uint32_t> places,
                         std::uint32_t* used, unsigned threads) {
  constexpr std::size_t kPiece = std::size_t{1} << 18;
  const std::size_t pieces = (column.size() + kPiece - 1) / kPiece;
  const auto piece = [&](std::size_t i) {
    return column.subspan(i * kPiece, std::min(kPiece, column.size() - i * kPiece));
  };
  InParallel(pieces, threads, [&](std::size_t i) {
    for (const std::uint32_t id : piece(i)) {
      // Relaxed: the threads are joined before the marks are read.
      const std::atomic_ref<std::uint32_t> mark(places[id]);
      if (mark.load(std::memory_order_relaxed) == 0) mark.store(1, std::memory_order_relaxed);
    }
  });
  std::uint32_t count = 0;
  for (std::size_t id = 0; id < places.size(); ++id) {
    if (places[id] == 0) continue;
    used[count] = static_cast<std::uint32_t>(id);
    places[id] = count++;
  }
  InParallel(pieces, threads, [&](std::size_t i) {
    for (std::uint32_t& id : piece(i)) id = places[id];
  });
  return count;
}

std::uint64_t FillEvents(const Trace& trace, const PenstockEvents& out) {
  std::uint64_t at = 0;
  for (const Event& event : trace.events()) {
    Set(out.at, at, event.at.value);
    Set(out.batch, at, BatchOf(event.batch));
    Set(out.value, at, event.value);
    Set(out.thread, at, event.thread.value);
    Set(out.process, at, trace.threads()[event.thread.value].process.value);
    Set(out.generation, at, event.batch.generation);
    Set(out.type, at, static_cast<std::uint8_t>(event.type));
    ++at;
  }
  return at;
}

std::uint64_t FillCounters(const Trace& trace, const PenstockCounters& out) {
  std::uint64_t at = 0;
  for (const CounterSample& sample : trace.counters()) {
    Set(out.at, at, sample.at.value);
    Set(out.value, at, sample.value);
    Set(out.name, at, sample.name.value);
    Set(out.process, at, sample.process.value);
    ++at;
  }
  return at;
}

std::uint64_t FillFunctions(const Trace& trace, std::uint64_t stages,
                            const PenstockFunctions& out) {
  std::uint64_t at = 0;
  std::uint32_t unit = 0;
  for (const CallTree& tree : ReadCallTrees(trace).trees) {
    if ((tree.unit.flags & wire::kUnitStall) != 0) continue;  // a stack without times
    const std::uint32_t process = trace.threads()[tree.unit.thread.value].process.value;
    std::int32_t number = 0;
    for (const CallNode& node : tree.nodes) {
      if (!Holds(stages, tree.unit.stage)) break;
      PutUnit(out, at, tree, process);
      PutNode(out, at, node);
      Set(out.unit, at, unit);
      Set(out.node, at, number++);
      ++at;
    }
    ++unit;
  }
  return at;
}

}  // namespace penstock::traces
