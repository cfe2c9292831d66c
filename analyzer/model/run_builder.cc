// SPDX-License-Identifier: Apache-2.0
#include "analyzer/model/run_builder.h"

#include <algorithm>
#include <optional>
#include <unordered_map>

#include "analyzer/model/named_ranges.h"

namespace penstock::analyzer {
namespace {

using traces::Event;
using traces::EventType;
using traces::Span;
using traces::StageId;

Work SecondsOf(std::int64_t wall, std::int64_t cpu) {
  return {static_cast<double>(wall) * 1e-9,
          static_cast<double>(std::max<std::int64_t>(cpu, 0)) * 1e-9};
}

void AddWork(Work& total, const Work& more) {
  total.wall += more.wall;
  total.cpu += more.cpu;
}

void AddWork(Work& total, const traces::Counted& counted) {
  AddWork(total, SecondsOf(counted.wall, counted.cpu));
}

// Adds the time of a span outside of samples and fetches. Reads inside samples and fetches count
// too, because `apart` is not set for reads. These sums are not used for threads that make batches.
void AddApart(const traces::Counted& counted, ThreadStages& stages) {
  const bool read = counted.stage == StageId::kRead && counted.outermost;
  if (counted.synthetic || !(counted.apart || read)) return;
  const double wall = static_cast<double>(counted.wall) * 1e-9;
  if (read) stages.read += wall;
  if (counted.stage == StageId::kDecode && counted.outermost) stages.decode += wall;
  if (counted.stage == StageId::kTokenize && counted.outermost) stages.tokenize += wall;
  if (counted.stage == StageId::kAugment) stages.augment += wall;
}

bool IsData(StageId stage) {
  return stage == StageId::kRead || stage == StageId::kDecode || stage == StageId::kAugment ||
         stage == StageId::kTokenize || stage == StageId::kSample || stage == StageId::kCollate ||
         stage == StageId::kFetch;
}

}  // namespace

RunBuilder::RunBuilder(const traces::Trace& trace, RunModel& model)
    : trace_(trace),
      model_(model),
      consumers_(trace.processes()),
      kinds_(trace),
      threads_(trace.threads().size()),
      samples_(trace.span_count()),
      times_(trace.threads().size()),
      formats_(trace) {}

void RunBuilder::WalkSpans() {
  const auto threads = trace_.threads();
  NamedRanges ranges(trace_);
  for (std::uint32_t i = 0; i < threads.size(); ++i) {
    if (threads[i].process.value >= consumers_.size()) continue;
    at_ = {i, threads[i].process, ConsumerOf(i), std::nullopt, 0};
    reads_.BeginThread();
    times_.BeginThread();
    traces::NestingSweep sweep(*this);
    bool any = false;
    std::int64_t& last = model_.last_of[threads[i].process.value];
    trace_.ForEachBlock(ThreadId{i}, [&](std::span<const Span> block) {
      for (const Span& span : block) {
        const bool unfinished = (span.flags & wire::kFlagUnfinished) != 0;
        last = std::max(last, unfinished ? span.start.value : span.end().value);
        if (unfinished) continue;  // its length is not known
        sweep.Add(ranges.AsNamed(span), ranges.Opens(span));
        any = true;
      }
    });
    sweep.Finish();
    if (any) ++model_.threads;
    if (at_.first_data) {
      model_.data_life += static_cast<double>(at_.last_data - *at_.first_data) * 1e-9;
    }
  }
}

void RunBuilder::OnCounted(const traces::Counted& counted) {
  model_.stages.Add(counted);
  // Inner transforms count too, because the time of a transform does not include the transforms
  // inside it.
  const bool decodes = (counted.stage == StageId::kDecode || counted.stage == StageId::kTokenize) &&
                       counted.outermost;
  if (counted.apart && !counted.synthetic && (decodes || counted.stage == StageId::kAugment)) {
    threads_[at_.thread].apart +=
        static_cast<double>(std::max<std::int64_t>(0, counted.cpu)) * 1e-9;
  }
  AddApart(counted, threads_[at_.thread].stages);
  const Span& span = *counted.span;
  const bool transforms = counted.synthetic && counted.stage == StageId::kAugment;
  if (transforms && counted.apart && at_.process == at_.consumer && span.batch.valid()) {
    Batch& batch = index_.Find(at_.consumer, span.batch);
    batch.transforms_thread = at_.thread;
    AddWork(batch.transforms, counted);
  }
  if (counted.synthetic && counted.apart && IsData(counted.stage)) OnData(span);
  if (!counted.outermost || counted.synthetic) return;
  if (IsData(counted.stage)) OnData(span);
  const Stretch stretch{at_.thread, span.start.value, span.end().value, span.batch};
  switch (counted.stage) {
    case StageId::kRead:
      reads_.Add(span, at_.thread, at_.consumer);
      formats_.Add(span);
      files_.Add(span);
      return;
    case StageId::kIdle:
      threads_[at_.thread].idle += static_cast<double>(counted.wall) * 1e-9;
      return;
    case StageId::kWait:
      if (!span.batch.valid()) {  // the next() that ended the epoch
        epochs_.AddStop({at_.consumer, span.batch.generation}, counted.wall);
      }
      unmatched_.waits.push_back(stretch);
      return;
    case StageId::kStep:
      unmatched_.steps.push_back(stretch);
      return;
    case StageId::kH2d:
      unmatched_.copies.push_back(stretch);
      return;
    case StageId::kCall: {  // a call of the runtime that copies; the copy itself, on a stream, has
                            // the stage h2d
      const std::optional<CopyKind> kind = kinds_.Of(span.stage, span.name);
      if (kind && kind->way == CopyWay::kToDevice) unmatched_.copies.push_back(stretch);
      return;
    }
    case StageId::kStartup:
      if (at_.process == at_.consumer) {
        // A startup span without an iterator of its own may carry the batch that the thread had.
        // Then the span does not name the iterator that was made.
        const std::uint16_t made = span.batch.valid() ? std::uint16_t{0} : span.batch.generation;
        epochs_.AddStartup({at_.consumer, made}, stretch.start, stretch.end);
      } else {
        model_.startup_workers += static_cast<double>(counted.wall) * 1e-9;
      }
      return;
    default:
      break;
  }
  if (!span.batch.valid()) return;
  if (counted.stage == StageId::kSample) {
    OnSample(counted);
  } else if (counted.stage == StageId::kFetch) {
    OnFetch(counted, index_.Find(at_.consumer, span.batch));
  } else if (counted.stage == StageId::kPut || counted.stage == StageId::kGet ||
             counted.stage == StageId::kPin) {
    OnTransfer(counted, index_.Find(at_.consumer, span.batch));
  } else if (counted.stage == StageId::kCollate) {
    Batch& batch = index_.Find(at_.consumer, span.batch);
    batch.bytes = std::max(batch.bytes, span.bytes.value);
    if (!batch.whole) AddWork(batch.collate, counted);  // a fetch around it replaces the sum
  }
}

void RunBuilder::OnData(const Span& span) {
  const std::int64_t start = span.start.value;
  const std::int64_t end = span.end().value;
  at_.last_data = at_.first_data ? std::max(at_.last_data, end) : end;
  at_.first_data = std::min(at_.first_data.value_or(start), start);
}

// Samples close before the fetch around them. The fetch then replaces these sums. If there is no
// fetch, several threads fill a batch together, and it lasts from its first sample to its last.
void RunBuilder::OnSample(const traces::Counted& counted) {
  const std::size_t place = index_.PlaceOf(at_.consumer, counted.span->batch);
  Batch& batch = batches()[place];
  const traces::Inside& inside = counted.inside;
  const Work read = SecondsOf(inside.read, inside.read_cpu);
  const Work decode = SecondsOf(inside.decode, inside.decode_cpu);
  const Work augment = SecondsOf(inside.augment, inside.augment_cpu);
  const Work tokenize = SecondsOf(inside.tokenize, inside.tokenize_cpu);
  if (samples_.Keeps(batch.key)) {
    samples_.Add(place, {static_cast<float>(read.wall), static_cast<float>(read.cpu),
                         static_cast<float>(decode.wall), static_cast<float>(decode.cpu),
                         static_cast<float>(augment.wall), static_cast<float>(augment.cpu),
                         static_cast<float>(tokenize.wall), static_cast<float>(tokenize.cpu)});
  }
  times_.Add(counted, at_.consumer.value);
  const std::int64_t start = counted.span->start.value;
  const std::int64_t end = counted.span->end().value;
  ThreadWork& work = threads_[at_.thread];
  ++work.samples;
  work.first = work.first == kNever ? start : std::min(work.first, start);
  work.last = std::max(work.last, end);
  work.busy += static_cast<double>(counted.wall) * 1e-9;
  work.cpu += static_cast<double>(std::max<std::int64_t>(0, counted.cpu)) * 1e-9;
  if (batch.whole) return;
  batch.worker_process = static_cast<std::int32_t>(at_.process.value);
  batch.fetch_start = batch.fetch_start == kNever ? start : std::min(batch.fetch_start, start);
  if (end >= batch.fetch_end) batch.fetch_thread = at_.thread;
  batch.fetch_end = std::max(batch.fetch_end, end);
  AddWork(batch.fetch, counted);
  AddWork(batch.read, read);
  batch.queued += static_cast<double>(inside.queued) * 1e-9;
  AddWork(batch.decode, decode);
  AddWork(batch.augment, augment);
  AddWork(batch.tokenize, tokenize);
  batch.cpu_known = (batch.samples == 0 || batch.cpu_known) && counted.cpu >= 0;
  ++batch.samples;
}

void RunBuilder::OnFetch(const traces::Counted& counted, Batch& batch) {
  const traces::Inside& inside = counted.inside;
  batch.worker_process = static_cast<std::int32_t>(at_.process.value);
  batch.fetch_thread = at_.thread;
  batch.fetch_start = counted.span->start.value;
  batch.fetch_end = counted.span->end().value;
  batch.whole = true;
  batch.fetch = SecondsOf(counted.wall, counted.cpu);
  batch.cpu_known = (batch.samples == 0 || batch.cpu_known) && counted.cpu >= 0;
  batch.read = SecondsOf(inside.read, inside.read_cpu);
  batch.queued = static_cast<double>(inside.queued) * 1e-9;
  batch.decode = SecondsOf(inside.decode, inside.decode_cpu);
  batch.augment = SecondsOf(inside.augment, inside.augment_cpu);
  batch.tokenize = SecondsOf(inside.tokenize, inside.tokenize_cpu);
  batch.collate = SecondsOf(inside.collate, inside.collate_cpu);
  batch.samples = inside.samples;
  batch.bytes = std::max(batch.bytes, counted.span->bytes.value);
}

void RunBuilder::OnTransfer(const traces::Counted& counted, Batch& batch) {
  const Span& span = *counted.span;
  if (counted.stage == StageId::kPut) {
    if (batch.put_start == kNever) batch.put_start = span.start.value;
    batch.put_end = std::max(batch.put_end, span.end().value);
    batch.put_thread = at_.thread;
    AddWork(batch.put, counted);
  } else if (counted.stage == StageId::kGet) {
    if (batch.get_start == kNever) batch.get_start = span.start.value;
    if (batch.got == kNever) batch.got = span.end().value;
    batch.get_thread = at_.thread;
    AddWork(batch.get, counted);
  } else {
    AddWork(batch.pin, counted);
  }
  batch.bytes = std::max(batch.bytes, span.bytes.value);
}

void RunBuilder::WalkEvents() {
  struct Clocks {
    std::int64_t at = kNever;
    std::int64_t cpu = 0;  // of the process; 0: not known
  };
  struct Taken {
    Batch* batch = nullptr;
    std::int64_t cpu = 0;
  };
  const auto passed = [](std::int64_t from, std::int64_t to) {
    return from > 0 && to >= from ? static_cast<double>(to - from) * 1e-9 : -1;
  };
  std::unordered_map<std::uint32_t, Clocks> entered;  // by thread: last next()
  std::unordered_map<std::uint32_t, Taken> taken;     // by thread: the batch of the current step
  for (const Event& event : trace_.events()) {
    if (event.thread.value >= trace_.threads().size()) continue;
    const ProcessId process = trace_.threads()[event.thread.value].process;
    if (process.value >= consumers_.size()) continue;
    const ProcessId consumer = consumers_.Of(process);
    const Iterator iterator{consumer, event.batch.generation};
    const std::int64_t at = event.at.value;
    if (event.type == EventType::kEpochStart) epochs_.AddStart(iterator, at);
    if (event.type == EventType::kEpochEnd) epochs_.AddEnd(iterator);
    if (event.type == EventType::kNextEntered) {
      entered[event.thread.value] = {at, event.value};
      Taken& last = taken[event.thread.value];
      if (last.batch != nullptr) last.batch->step_cpu = passed(last.cpu, event.value);
      last = {};
    }
    if (!event.batch.valid()) continue;
    Batch* batch = nullptr;
    switch (event.type) {
      case EventType::kIndexSent:
      case EventType::kBatchPut:
      case EventType::kBatchGot:
      case EventType::kBatchDelivered:
        batch = &index_.Find(consumer, event.batch);
        break;
      default:
        continue;
    }
    if (event.type == EventType::kIndexSent) batch->index_sent = at;
    if (event.type == EventType::kBatchPut && batch->put_end == kNever) batch->put_end = at;
    if (event.type == EventType::kBatchGot && batch->got == kNever) batch->got = at;
    if (event.type == EventType::kBatchDelivered) {
      batch->delivered = at;
      batch->wait_thread = event.thread.value;
      const auto next = entered.find(event.thread.value);
      if (next != entered.end()) {
        batch->wait_start = next->second.at;
        batch->next_cpu = passed(next->second.cpu, event.value);
      }
      taken[event.thread.value] = {batch, event.value};
    }
  }
}

}  // namespace penstock::analyzer
