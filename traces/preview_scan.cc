// SPDX-License-Identifier: Apache-2.0
//
// The preview of a recording. Its threads are distributed over all cores. Each core drains its
// threads like the reader, but keeps only 16 bytes per span.
#include <algorithm>
#include <limits>
#include <map>
#include <thread>
#include <tuple>
#include <utility>

#include "traces/base/parallel.h"
#include "traces/packed/packed_preview.h"
#include "traces/packed/packed_trace.h"
#include "traces/preview.h"
#include "traces/recording/join_segment.h"
#include "traces/recording/recording.h"
#include "traces/recording/recording_chunk.h"

namespace penstock::traces {
namespace {

using ThreadKey = std::tuple<std::uint32_t, std::uint64_t, std::uint32_t>;  // pid, start, tid

struct SmallSpan {
  std::int64_t start;
  std::uint64_t shape;  // length << 8 | stage
  [[nodiscard]] std::int64_t length() const { return static_cast<std::int64_t>(shape >> 8); }
};

bool Before(const SmallSpan& a, const SmallSpan& b) {
  return a.start != b.start ? a.start < b.start : a.length() > b.length();
}

struct WaitSpan {
  SmallSpan span;
  BatchKey batch;
  std::uint8_t depth;
};

struct GatheredThread {
  ThreadInfo info;
  // By depth: spans of one depth end, and are recorded, in the order in which they start.
  std::vector<std::vector<SmallSpan>> spans;
  std::vector<WaitSpan> waits;
  std::uint64_t count = 0;
  bool steps = false;
};

// Takes from a drain only what a preview needs.
class Gatherer final : public Packer {
 public:
  StringId Intern(std::string_view /*text*/) override { return {}; }
  void SetString(StringId /*id*/, std::string_view /*text*/) override {}
  ThreadId AddThread(const ThreadInfo& thread) override {
    threads.push_back({});
    threads.back().info = thread;
    return ThreadId{static_cast<std::uint32_t>(threads.size() - 1)};
  }
  ProcessId AddProcess(const ProcessInfo& process) override {
    processes.push_back(process);
    return ProcessId{static_cast<std::uint32_t>(processes.size() - 1)};
  }
  void UpdateProcess(ProcessId id, const ProcessInfo& process) override {
    processes[id.value] = process;
  }
  void UpdateThread(ThreadId id, const ThreadInfo& thread) override {
    threads[id.value].info = thread;
  }
  void SetFact(std::string_view key, std::string_view value) override {
    facts[std::string(key)] = value;
  }
  void AddSpan(ThreadId id, const Span& span) override {
    GatheredThread& thread = threads[id.value];
    if (thread.spans.size() <= span.depth) thread.spans.resize(span.depth + std::size_t{1});
    const std::int64_t length = std::max<std::int64_t>(span.duration.value, 0);
    const SmallSpan small{span.start.value, static_cast<std::uint64_t>(length) << 8 |
                                                static_cast<std::uint64_t>(span.stage)};
    thread.spans[span.depth].push_back(small);
    ++thread.count;
    begin = std::min(begin, span.start);
    end = std::max(end, span.end());
    if (span.stage == StageId::kWait) thread.waits.push_back({small, span.batch, span.depth});
    if (span.stage == StageId::kStep) thread.steps = true;
  }
  void AddEvent(const Event& event) override {
    begin = std::min(begin, event.at);
    end = std::max(end, event.at);
  }
  void AddCounter(const CounterSample& /*sample*/) override {}
  void SetLosses(const Losses& /*losses*/) override {}
  void SetRealtimeOffset(TimeNs /*offset*/) override {}
  Result<void> Flush(const BeforeMark& /*before_mark*/) override { return {}; }
  Result<void> Finish() override { return {}; }
  [[nodiscard]] std::uint64_t bytes_written() const override { return 0; }

  std::vector<GatheredThread> threads;
  std::vector<ProcessInfo> processes;
  std::map<std::string, std::string> facts;
  TimeNs begin{std::numeric_limits<std::int64_t>::max()};
  TimeNs end{std::numeric_limits<std::int64_t>::min()};
};

ThreadKey KeyOf(const wire::ChunkHeader& chunk) {
  return {chunk.pid, chunk.process_start, chunk.tid};
}

// The threads in the order in which the reader meets them, and which core drains each.
struct Deal {
  std::map<ThreadKey, unsigned> share;
  std::map<ThreadKey, std::uint32_t> order;
};

Deal DealOut(std::span<std::byte> memory, unsigned workers) {
  std::map<ThreadKey, std::size_t> chunks;
  Deal deal;
  for (std::size_t at = wire::kHeaderSize; at < memory.size(); at += wire::kChunkSize) {
    const ChunkView chunk(
        memory.subspan(at, std::min<std::size_t>(wire::kChunkSize, memory.size() - at)));
    if (!chunk.has_header() || chunk.pid() == 0 || chunk.header().magic != wire::kChunkMagic) {
      continue;
    }
    const ThreadKey key = KeyOf(chunk.header());
    deal.order.try_emplace(key, static_cast<std::uint32_t>(deal.order.size()));
    ++chunks[key];
  }
  std::vector<std::pair<std::size_t, ThreadKey>> largest;
  for (const auto& [key, count] : chunks) largest.emplace_back(count, key);
  std::sort(largest.rbegin(), largest.rend());
  std::vector<std::size_t> load(workers);
  for (const auto& [count, key] : largest) {
    const auto least = std::min_element(load.begin(), load.end());
    *least += count;
    deal.share[key] = static_cast<unsigned>(least - load.begin());
  }
  return deal;
}

PreviewThread Build(GatheredThread& thread, ThreadId id, TimeNs begin, TimeNs end,
                    std::size_t cells) {
  StepFinder finder;
  if (!thread.steps) {
    std::stable_sort(
        thread.waits.begin(), thread.waits.end(), [](const WaitSpan& a, const WaitSpan& b) {
          return Before(a.span, b.span) || (!Before(b.span, a.span) && a.depth < b.depth);
        });
    for (const WaitSpan& wait : thread.waits) {
      finder.Add(wait.span.start, wait.span.length(), StageId::kWait, wait.batch);
    }
  }
  PreviewBuilder builder(id, begin, end, cells, finder.Take());
  struct Run {
    const SmallSpan* at;
    const SmallSpan* end;
  };
  std::vector<Run> runs;
  for (std::vector<SmallSpan>& spans : thread.spans) {
    if (spans.empty()) continue;
    // Operations that last over several calls may be recorded late.
    if (!std::is_sorted(spans.begin(), spans.end(), Before)) {
      std::stable_sort(spans.begin(), spans.end(), Before);
    }
    runs.push_back({spans.data(), spans.data() + spans.size()});
  }
  while (!runs.empty()) {
    auto first = runs.begin();  // of equal ones, the outermost
    for (auto run = runs.begin() + 1; run != runs.end(); ++run) {
      if (Before(*run->at, *first->at)) first = run;
    }
    builder.Add(first->at->start, first->at->length(),
                static_cast<StageId>(first->at->shape & 0xff));
    if (++first->at == first->end) runs.erase(first);
  }
  thread.spans = {};
  return builder.Take();
}

}  // namespace

std::optional<Preview> ScanRecording(std::span<std::byte> memory, unsigned workers,
                                     const std::stop_token& stop) {
  if (!RecordingDrain(memory, false).CheckHeader()) return std::nullopt;
  const Deal deal = DealOut(memory, workers);
  std::vector<Gatherer> parts(workers);
  InParallel(workers, workers, [&](std::size_t w) {
    RecordingDrain drain(memory, false);
    drain.Restrict([&deal, &stop, w](const wire::ChunkHeader& chunk) {
      const auto own = deal.share.find(KeyOf(chunk));
      return !stop.stop_requested() && own != deal.share.end() && own->second == w;
    });
    drain.Finish(parts[w]);
  });
  if (stop.stop_requested()) return std::nullopt;

  Preview preview;
  preview.facts = parts[0].facts;
  preview.begin = parts[0].begin;
  preview.end = parts[0].end;
  // Each part begins with the processes of the header, in the same order.
  preview.processes = parts[0].processes;
  std::map<std::pair<std::uint32_t, std::uint64_t>, std::uint32_t> process_index;
  const auto process_of = [&](const ProcessInfo& info) {
    const auto [at, fresh] = process_index.try_emplace(
        {info.pid, info.process_start}, static_cast<std::uint32_t>(preview.processes.size()));
    if (fresh) preview.processes.push_back(info);
    return at->second;
  };
  for (std::uint32_t p = 0; p < preview.processes.size(); ++p) {
    process_index.try_emplace({preview.processes[p].pid, preview.processes[p].process_start}, p);
  }
  std::vector<GatheredThread*> threads(deal.order.size(), nullptr);
  for (Gatherer& part : parts) {
    preview.begin = std::min(preview.begin, part.begin);
    preview.end = std::max(preview.end, part.end);
    for (GatheredThread& thread : part.threads) {
      const ProcessInfo& process = part.processes[thread.info.process.value];
      const auto at = deal.order.find({process.pid, process.process_start, thread.info.tid});
      if (at == deal.order.end()) continue;
      thread.info.process.value = process_of(process);
      thread.info.spans = thread.count;
      threads[at->second] = &thread;
      preview.spans += thread.count;
    }
  }
  if (preview.spans == 0) return std::nullopt;
  std::vector<std::uint32_t> busy;
  for (std::uint32_t t = 0; t < threads.size(); ++t) {
    preview.thread_infos.push_back(threads[t] != nullptr ? threads[t]->info : ThreadInfo{});
    if (preview.thread_infos.back().spans > 0) busy.push_back(t);
  }
  const std::size_t cells = PreviewCells(busy.size());
  preview.threads.resize(busy.size());
  // The largest thread comes first, so that the last one to finish is not the longest.
  std::vector<std::uint32_t> turn(busy.size());
  for (std::uint32_t i = 0; i < turn.size(); ++i) turn[i] = i;
  std::sort(turn.begin(), turn.end(), [&](std::uint32_t a, std::uint32_t b) {
    return threads[busy[a]]->count > threads[busy[b]]->count;
  });
  InParallel(turn.size(), workers, [&](std::size_t i) {
    if (stop.stop_requested()) return;
    const std::uint32_t t = busy[turn[i]];
    preview.threads[turn[i]] = Build(*threads[t], ThreadId{t}, preview.begin, preview.end, cells);
  });
  if (stop.stop_requested()) return std::nullopt;
  return preview;
}

std::optional<Preview> ReadPreview(const std::filesystem::path& path, const std::stop_token& stop) {
  auto file = OpenWithSegment(path);
  if (!file) return std::nullopt;
  if (IsPacked(file->bytes())) return packed::ReadPackedPreview(*file);
  if (file->bytes().size() < kPreviewSpans * wire::kRecordSize) return std::nullopt;
  const unsigned workers = std::clamp(std::thread::hardware_concurrency(), 1u, 8u);
  return ScanRecording(file->writable(), workers, stop);
}

}  // namespace penstock::traces
