// SPDX-License-Identifier: Apache-2.0
#include "gui/model/panels/stages.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <tuple>

#include "analyzer/report/stage_wholes.h"
#include "analyzer/words/report.h"
#include "gui/model/timeline/experiments.h"

namespace penstock::gui {
namespace {

using analyzer::Batch;
using analyzer::PartTotals;
using analyzer::StageTable;
using analyzer::StageTotals;
using traces::Counted;
using traces::StageId;

StageLine LineOf(RowId id, std::string name, const PartTotals& totals, double whole) {
  StageLine line;
  line.id = id;
  line.name = std::move(name);
  line.count = totals.count;
  line.bytes = totals.bytes.value;
  line.wall = Seconds(totals.wall);
  line.cpu_known = totals.cpu_known();
  line.cpu = line.cpu_known ? Seconds(totals.cpu) : 0;
  line.p50 = totals.durations.Quantile(0.5);
  line.p90 = totals.durations.Quantile(0.9);
  line.p99 = totals.durations.Quantile(0.99);
  line.share = whole > 0 ? std::max(line.wall / whole, 0.0) : 0;
  line.of_workers = analyzer::OfWorkers(id.stage);
  line.histogram = HistogramOf(totals.durations);
  return line;
}

// Visits the steps that the table does not take from recorded spans.
template <class Visit>
void ForEachDerivedStep(const Extent& extent, const analyzer::RunModel& run, const Visit& visit) {
  const std::int64_t begin = extent.trace->begin().value;
  for (const analyzer::LoopStep& step : analyzer::StepsOf(run)) {
    if (extent.Holds(step.batch->delivered - begin)) visit(step);
  }
}

analyzer::StageWholes WholesOf(const Extent& extent, const analyzer::RunModel& run,
                               const StageTable& table) {
  if (!extent.range) return analyzer::WholesOf(run, table);
  const std::int64_t begin = extent.trace->begin().value;
  const analyzer::PartOfRun part{[&](std::int64_t at) { return extent.Holds(at - begin); },
                                 extent.to() - extent.from()};
  return analyzer::WholesOf(run, table, &part);
}

StageTable TableOf(const Extent& extent, const std::stop_token& stop) {
  StageTable table;
  ForEachCall(extent, stop, [&](ThreadId, const Counted& counted) { table.Add(counted); });
  return table;
}

void AddLines(const Extent& extent, StageId stage, const StageTotals& totals, double whole,
              std::vector<StageLine>& lines) {
  constexpr std::size_t kMostParts = 32;
  lines.push_back(LineOf({stage, {}}, std::string(traces::StageName(stage)), totals, whole));
  lines.back().mixed = analyzer::IsMixed(totals);
  const std::size_t first = lines.size();
  for (const auto& [name, part] : totals.children) {
    lines.push_back(LineOf({stage, name}, std::string(extent.trace->String(name)), part, whole));
  }
  if (const double rest = analyzer::UnnamedTime(stage, totals); rest > 0) {
    StageLine& line = lines.emplace_back();
    line.id = {stage, StageLine::kRest};
    line.name = analyzer::English(analyzer::Say<analyzer::words::kOtherCodeOfSamples>());
    line.wall = rest;
    line.share = whole > 0 ? rest / whole : 0;
    line.of_workers = analyzer::OfWorkers(stage);
    line.mixed = true;
  }
  const auto parts = lines.begin() + static_cast<std::ptrdiff_t>(first);
  std::stable_sort(parts, lines.end(),
                   [](const StageLine& a, const StageLine& b) { return a.wall > b.wall; });
  lines.resize(std::min(lines.size(), first + kMostParts));
}

// A figure that the table does not show is below all others.
double KeyOf(const StageLine& line, StageColumn column) {
  switch (column) {
    case StageColumn::kShare:
      return line.share_of_one();
    case StageColumn::kWall:
      return line.wall;
    case StageColumn::kCpu:
      return line.cpu_known ? line.cpu : -1;
    case StageColumn::kCount:
      return static_cast<double>(line.count);
    case StageColumn::kP50:
      return line.mixed ? -1 : line.p50;
    case StageColumn::kP90:
      return line.mixed ? -1 : line.p90;
    case StageColumn::kP99:
      return line.mixed ? -1 : line.p99;
    case StageColumn::kBytes:
      return static_cast<double>(line.bytes);
  }
  return 0;
}

// Keeps the longest calls in a heap. The first call in the heap is the shortest one kept.
class TailKeeper {
 public:
  TailKeeper(const TailQuestion& question, Tail& tail) : question_(question), tail_(tail) {}

  // `make` is called only for a call that is kept.
  template <class Make>
  void Offer(std::int64_t wall, const Make& make) {
    const double seconds = static_cast<double>(wall) * 1e-9;
    if (seconds < question_.low || seconds >= question_.high) return;
    ++tail_.count;
    auto& calls = tail_.calls;
    if (calls.size() == Tail::kMost && wall <= calls.front().wall) return;
    calls.push_back(make());
    std::push_heap(calls.begin(), calls.end(), Longer);
    if (calls.size() <= Tail::kMost) return;
    std::pop_heap(calls.begin(), calls.end(), Longer);
    calls.pop_back();
  }
  void Finish() { std::sort(tail_.calls.begin(), tail_.calls.end(), Longer); }

 private:
  static bool Longer(const Call& a, const Call& b) {
    return a.wall != b.wall ? a.wall > b.wall : a.start < b.start;
  }
  const TailQuestion& question_;
  Tail& tail_;
};

// Finds the file of each call of a sample. A call without a file gets that of the last read for the
// same sample of the same batch in the same process. Looks only at the threads of these calls,
// because the reads of a sample are mostly on its own thread.
void FindFiles(const traces::Trace& trace, const std::stop_token& stop, Tail& tail) {
  // The key includes the process, because each rank has batches with the same index and epoch.
  using Key = std::tuple<std::uint32_t, std::uint32_t, std::uint16_t, std::uint32_t>;
  const auto process_of = [&](std::uint32_t thread) {
    return trace.threads()[thread].process.value;
  };
  std::map<Key, std::vector<Call*>> wanted;
  std::set<std::uint32_t> threads;
  for (Call& call : tail.calls) {
    const SpanDetail& detail = call.detail;
    if (detail.object.value != 0) call.file = detail.object;
    if (call.file.value != 0 || detail.sample == SpanDetail::kNoSample) continue;
    const std::uint32_t thread = call.thread.value;
    wanted[{process_of(thread), detail.batch, detail.generation, detail.sample}].push_back(&call);
    threads.insert(thread);
  }
  for (const std::uint32_t thread : threads) {
    trace.ForEachBlock(ThreadId{thread}, [&](std::span<const traces::Span> block) {
      if (stop.stop_requested()) return;
      for (const traces::Span& span : block) {
        if (span.stage != StageId::kRead || span.object.value == 0) continue;
        const SpanDetail detail = DetailOf(span);
        const auto found =
            wanted.find({process_of(thread), detail.batch, detail.generation, detail.sample});
        if (found == wanted.end()) continue;
        for (Call* call : found->second) call->file = span.object;
      }
    });
  }
}

// To which totals the shares of these rows refer.
std::string ShareBases(std::span<const StageLine> lines, Language language) {
  std::string bases;
  const auto add = [&](Text base, const auto& is_one) {
    if (std::none_of(lines.begin(), lines.end(), is_one)) return;
    if (!bases.empty()) bases += TextOf(Text::kClauseComma, language);
    bases += TextOf(base, language);
  };
  add(Text::kShareOfMaking, [](const StageLine& line) { return line.of_workers; });
  add(Text::kShareOfLoop, [](const StageLine& line) {
    const StageId stage = line.id.stage;
    return !line.of_workers && stage != StageId::kIdle && stage != StageId::kStartup;
  });
  add(Text::kShareWithUnended, [](const StageLine& line) { return line.unended; });
  add(Text::kShareOfRun, [](const StageLine& line) { return line.id.stage == StageId::kStartup; });
  add(Text::kShareOfLives, [](const StageLine& line) { return line.id.stage == StageId::kIdle; });
  return bases;
}

Call StepOf(const traces::Trace& trace, const analyzer::LoopStep& step) {
  const Batch& batch = *step.batch;
  Call call;
  call.thread = ThreadId{batch.wait_thread};
  call.stage = StageId::kStep;
  call.start = batch.delivered - trace.begin().value;
  call.length = batch.step_end - batch.delivered;
  call.wall = static_cast<std::int64_t>(step.seconds * 1e9);
  call.detail.batch = batch.key.index;
  call.detail.generation = batch.key.generation;
  return call;
}

}  // namespace

std::vector<std::string> ShareNotes(std::span<const StageLine> lines, std::size_t ranks,
                                    Language language) {
  const auto contains = [](const StageLine& line) {
    return line.id.stage == StageId::kFetch || line.id.stage == StageId::kSample;
  };
  std::vector<std::string> notes;
  if (ranks > 1) notes.push_back(Filled(Text::kStagesOfAllRanks, language, ranks));
  const std::string bases = ShareBases(lines, language);
  if (!bases.empty()) notes.push_back(Filled(Text::kShareNote, language, bases));
  // Without kernels, h2d is a call of the host.
  const auto of_device = [](const StageLine& line) { return line.id.stage == StageId::kKernel; };
  const auto rest = [](const StageLine& line) { return line.is_rest(); };
  if (std::any_of(lines.begin(), lines.end(), contains)) {
    notes.emplace_back(TextOf(Text::kSharesNest, language));
  }
  if (std::any_of(lines.begin(), lines.end(), of_device)) {
    notes.emplace_back(TextOf(Text::kSharesOfStreams, language));
  }
  if (std::any_of(lines.begin(), lines.end(), rest)) {
    notes.emplace_back(TextOf(Text::kRestOfSamples, language));
  }
  return notes;
}

std::vector<std::string> TableNotes(const analyzer::RunModel& run, std::span<const StageLine> lines,
                                    std::size_t ranks, Language language) {
  std::vector<std::string> notes = ShareNotes(lines, ranks, language);
  if (run.stages[StageId::kCopy].count + run.stages[StageId::kCall].count > 0) {
    notes.emplace_back(TextOf(Text::kStagesOfDevice, language));
  }
  if (!ExperimentsOf(run).empty()) notes.emplace_back(TextOf(Text::kStagesProbed, language));
  return notes;
}

std::vector<StageLine> BuildStages(const Extent& extent, const Analysis& analysis,
                                   const std::stop_token& stop) {
  StageTable of_range;
  if (extent.range) of_range = TableOf(extent, stop);
  const analyzer::RunModel& run = analysis.report.diagnosis.run;
  const StageTable& table = extent.range ? of_range : run.stages;
  const analyzer::StageWholes wholes = WholesOf(extent, run, table);
  std::vector<StageLine> lines;
  for (const analyzer::StageRow& row : analysis.report.stages) {
    const StageId stage = row.stage;
    StageTotals derived;
    const StageTotals* totals = &table[stage];
    if (stage == StageId::kStep && analyzer::DerivesSteps(run)) {
      ForEachDerivedStep(extent, run, [&](const analyzer::LoopStep& step) {
        derived.Add(static_cast<std::int64_t>(step.seconds * 1e9), -1, 0);
      });
      totals = &derived;
    }
    const std::size_t first = lines.size();
    if (totals->count > 0) AddLines(extent, stage, *totals, wholes.Of(stage), lines);
    for (std::size_t i = first; i < lines.size(); ++i) {
      lines[i].devices = row.devices;
      lines[i].unended = wholes.HasUnended(stage);
    }
  }
  return lines;
}

std::vector<std::uint32_t> SortStages(std::span<const StageLine> lines, int column,
                                      bool descending) {
  std::vector<std::uint32_t> order(lines.size());
  std::iota(order.begin(), order.end(), 0U);
  if (column < static_cast<int>(StageColumn::kShare) ||
      column > static_cast<int>(StageColumn::kBytes)) {
    return order;
  }
  // Rows are sorted first by the key of their stage, so that the parts of a stage stay with it. The
  // parts of a stage are then sorted by their own keys.
  std::vector<std::uint32_t> head(lines.size());
  for (std::uint32_t i = 0; i < lines.size(); ++i) {
    head[i] = lines[i].is_part() && i > 0 ? head[i - 1] : i;
  }
  const auto key = [&](std::uint32_t i) {
    return KeyOf(lines[i], static_cast<StageColumn>(column));
  };
  const auto before = [&](double a, double b) { return descending ? a > b : a < b; };
  std::stable_sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
    if (head[a] != head[b]) {
      if (key(head[a]) != key(head[b])) return before(key(head[a]), key(head[b]));
      return head[a] < head[b];
    }
    if (lines[a].is_part() != lines[b].is_part()) return !lines[a].is_part();
    return before(key(a), key(b));
  });
  return order;
}

RowId MostTelling(const analyzer::Report& report, std::span<const StageLine> lines) {
  const auto shows = [factor = report.diagnosis.bottleneck](StageId stage) {
    switch (factor) {
      case analyzer::Factor::kTransfer:
        return stage == StageId::kPut || stage == StageId::kGet || stage == StageId::kPin;
      case analyzer::Factor::kCompute:
        return stage == StageId::kStep;
      case analyzer::Factor::kPrefetch:
        return stage == StageId::kFetch;
      default:
        return traces::StageName(stage) == analyzer::FactorName(factor);
    }
  };
  // Samples and fetches contain other stages, and nothing happens in a wait.
  const auto works = [](StageId stage) {
    return stage != StageId::kSample && stage != StageId::kFetch && stage != StageId::kWait &&
           stage != StageId::kIdle;
  };
  const auto longest = [&](const auto& counts) {
    const StageLine* best = nullptr;
    for (const StageLine& line : lines) {
      if (line.is_part() || !counts(line.id.stage)) continue;
      if (best == nullptr || line.wall > best->wall) best = &line;
    }
    return best;
  };
  if (const StageLine* line = longest(shows)) return line->id;
  if (const StageLine* line = longest(works)) return line->id;
  return lines.empty() ? RowId{} : lines.front().id;
}

TailQuestion CallsOf(RowId id, std::optional<StageBin> bin) {
  TailQuestion question;
  question.id = id;
  if (bin) {
    const StageHistogram from_1_ns{.per_decade = bin->per_decade};
    question.low = from_1_ns.EdgeOf(bin->number);
    question.high = from_1_ns.EdgeOf(bin->number + 1);
  }
  return question;
}

Tail FindTail(const Extent& extent, const Analysis& analysis, const TailQuestion& question,
              const std::stop_token& stop) {
  Tail tail;
  TailKeeper keeper(question, tail);
  const bool part = question.id.part.value != 0;
  const analyzer::RunModel& run = analysis.report.diagnosis.run;
  const bool derived = question.id.stage == StageId::kStep && analyzer::DerivesSteps(run);
  FileAtHand at_hand;
  StringId opener;  // of the last call that opened an image; its decode is the next call counted
  const auto offer = [&](ThreadId thread, const Counted& counted) {
    at_hand.Add(thread, counted);
    if (counted.opening) opener = counted.span->name;
    if (counted.stage != question.id.stage) return;
    // A synthetic read is the wait before a read. It is time of the stage, but not a call.
    const bool queued = counted.synthetic && counted.stage == StageId::kRead;
    const bool wanted = part ? !counted.synthetic && counted.span->name == question.id.part
                             : counted.outermost && !counted.opening && !queued;
    if (!wanted) return;
    const std::int64_t wall = part ? counted.wall : counted.whole();
    keeper.Offer(wall, [&] {
      Call call = CallOf(*extent.trace, thread, counted);
      call.wall = wall;
      call.file = at_hand.Of(counted);
      if (!part && counted.opened > 0) {
        call.opened = counted.opened;
        call.opener = opener;
      }
      return call;
    });
  };
  if (!derived) ForEachCall(extent, stop, offer);
  if (derived) {
    ForEachDerivedStep(extent, run, [&](const analyzer::LoopStep& step) {
      keeper.Offer(static_cast<std::int64_t>(step.seconds * 1e9),
                   [&] { return StepOf(*extent.trace, step); });
    });
  }
  keeper.Finish();
  FindFiles(*extent.trace, stop, tail);
  FirstSamples first(*extent.trace);
  for (Call& call : tail.calls) call.first = first.Hold(call.thread, call.start);
  return tail;
}

}  // namespace penstock::gui
