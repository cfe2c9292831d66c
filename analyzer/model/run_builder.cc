// SPDX-License-Identifier: Apache-2.0
#include "analyzer/model/run_builder.h"

#include <algorithm>
#include <optional>
#include <string>
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

void AddWork(Work& total, const Counted& counted) {
  AddWork(total, SecondsOf(counted.wall, counted.cpu));
}

// The costs of so many samples are kept, at 24 bytes each, and not much more.
constexpr std::uint64_t kKeptSamples = std::uint64_t{1} << 19;
// A sample has at least so many spans: itself, a read, a decode and an augmentation.
constexpr std::uint64_t kSpansPerSample = 4;

bool IsData(StageId stage) {
  return stage == StageId::kRead || stage == StageId::kDecode || stage == StageId::kAugment ||
         stage == StageId::kSample || stage == StageId::kCollate || stage == StageId::kFetch;
}

}  // namespace

RunBuilder::RunBuilder(const traces::Trace& trace, RunModel& model)
    : trace_(trace),
      model_(model),
      kinds_(trace),
      idle_(trace.threads().size(), 0.0),
      work_(trace.threads().size()),
      keep_every_(1 + trace.span_count() / kSpansPerSample / kKeptSamples) {
  FindConsumers();
}

// A worker belongs to the nearest ancestor that consumes (a forkserver may stand between them).
void RunBuilder::FindConsumers() {
  const auto processes = trace_.processes();
  // Of a merged trace, each part has pids of its own.
  std::map<std::pair<std::string, std::uint32_t>, std::uint32_t> by_pid;
  std::vector<std::uint32_t> consuming;
  for (std::uint32_t i = 0; i < processes.size(); ++i) {
    by_pid.emplace(std::pair(TextFact(processes[i].facts, "part"), processes[i].pid), i);
    if (processes[i].role == wire::kRoleConsumer) consuming.push_back(i);
  }
  for (std::uint32_t i = 0; i < processes.size(); ++i) {
    std::uint32_t at = i;
    for (int steps = 0; steps < 64 && processes[at].role != wire::kRoleConsumer; ++steps) {
      const auto parent =
          by_pid.find({TextFact(processes[at].facts, "part"), processes[at].parent});
      if (parent == by_pid.end() || parent->second == at) break;
      at = parent->second;
    }
    const bool found = processes[at].role == wire::kRoleConsumer;
    descends_.push_back(found && at != i);
    consumers_.push_back(ProcessId{found ? at : (consuming.empty() ? i : consuming.front())});
  }
}

void RunBuilder::WalkSpans() {
  const auto threads = trace_.threads();
  NamedRanges ranges(trace_);
  for (std::uint32_t i = 0; i < threads.size(); ++i) {
    if (threads[i].process.value >= consumers_.size()) continue;
    thread_ = i;
    reads_of_thread_ = 0;
    process_ = threads[i].process;
    consumer_ = ConsumerOf(process_);
    NestingSweep sweep(*this);
    first_data_ = last_data_ = kNever;
    bool any = false;
    trace_.ForEachBlock(ThreadId{i}, [&](std::span<const Span> block) {
      for (const Span& span : block) {
        if ((span.flags & wire::kFlagUnfinished) != 0) continue;  // no length to speak of
        sweep.Add(ranges.AsNamed(span));
        any = true;
      }
    });
    sweep.Finish();
    if (any) ++model_.threads;
    if (first_data_ != kNever) {
      model_.data_life += static_cast<double>(last_data_ - first_data_) * 1e-9;
    }
  }
}

void RunBuilder::OnCounted(const Counted& counted) {
  model_.stages.Add(counted);
  // A transform is counted without the transforms inside it.
  const bool decodes = counted.stage == StageId::kDecode && counted.outermost;
  if (counted.apart && !counted.synthetic && (decodes || counted.stage == StageId::kAugment)) {
    work_[thread_].apart += static_cast<double>(std::max<std::int64_t>(0, counted.cpu)) * 1e-9;
  }
  if (!counted.outermost || counted.synthetic) return;
  const Span& span = *counted.span;
  if (IsData(counted.stage)) {
    const std::int64_t start = span.start.value;
    first_data_ = first_data_ == kNever ? start : std::min(first_data_, start);
    last_data_ = std::max(last_data_, span.end().value);
  }
  const Stretch stretch{thread_, span.start.value, span.end().value, span.batch};
  switch (counted.stage) {
    case StageId::kRead:
      OnRead(span);
      return;
    case StageId::kIdle:
      idle_[thread_] += static_cast<double>(counted.wall) * 1e-9;
      return;
    case StageId::kWait:
      if (!span.batch.valid()) {  // the next() that said that there is no more
        epoch_stops_[{consumer_.value, span.batch.generation}] += counted.wall;
      }
      waits_.push_back(stretch);
      return;
    case StageId::kStep:
      steps_.push_back(stretch);
      return;
    case StageId::kH2d:
      copies_.push_back(stretch);
      return;
    case StageId::kCall: {  // what the loop is in while it copies; on the device it is h2d
      const std::optional<CopyKind> kind = kinds_.Of(span.stage, span.name);
      if (kind && kind->way == CopyWay::kToDevice) copies_.push_back(stretch);
      return;
    }
    case StageId::kStartup:
      if (process_ == consumer_) {
        startups_.push_back(stretch);
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
    OnFetch(counted, index_.Find(consumer_, span.batch));
  } else if (counted.stage == StageId::kPut || counted.stage == StageId::kGet ||
             counted.stage == StageId::kPin) {
    OnTransfer(counted, index_.Find(consumer_, span.batch));
  } else if (counted.stage == StageId::kCollate) {
    Batch& batch = index_.Find(consumer_, span.batch);
    batch.bytes = std::max(batch.bytes, span.bytes.value);
    if (!batch.whole) AddWork(batch.collate, counted);  // a fetch around it replaces that
  }
}

// Reads of a part of the run suffice, if none of that part is missing.
void RunBuilder::OnRead(const Span& span) {
  constexpr std::size_t kMost = 8192;
  if (span.start.value >= reads_until_) return;
  // The calls of a coalesced read are somewhere inside it: it cannot tell when it read.
  const bool whole = span.busy.value < 0 || span.busy.value * 10 > span.duration.value * 9;
  const std::uint32_t reader = span.batch.valid() && whole ? thread_ : ReadSpan::kNobody;
  reads_.push_back({span.start.value, span.end().value, span.bytes.value, reader, consumer_.value,
                    span.batch.generation});
  if (++reads_of_thread_ == kMost) reads_until_ = span.start.value;
}

std::vector<ReadSpan> RunBuilder::TakeReads() {
  reads_.erase(std::remove_if(reads_.begin(), reads_.end(),
                              [&](const ReadSpan& read) { return read.start >= reads_until_; }),
               reads_.end());
  return std::move(reads_);
}

// Every n-th batch, but not in step with the workers: a multiplicative hash chooses.
bool RunBuilder::KeepsSamples(traces::BatchKey key) const {
  return keep_every_ == 1 || (key.index * 0x9e3779b1u >> 16) % keep_every_ == 0;
}

// Samples close before the fetch around them, which then replaces these sums. Where none does,
// several threads fill a batch together: it lasts from its first sample to its last.
void RunBuilder::OnSample(const Counted& counted) {
  const std::size_t place = index_.PlaceOf(consumer_, counted.span->batch);
  Batch& batch = batches()[place];
  const Inside& inside = counted.inside;
  const Work read = SecondsOf(inside.read, inside.read_cpu);
  const Work decode = SecondsOf(inside.decode, inside.decode_cpu);
  const Work augment = SecondsOf(inside.augment, inside.augment_cpu);
  if (KeepsSamples(batch.key)) {
    PlacedSample placed;
    placed.batch = static_cast<std::uint32_t>(place);
    placed.cost = {static_cast<float>(read.wall),    static_cast<float>(read.cpu),
                   static_cast<float>(decode.wall),  static_cast<float>(decode.cpu),
                   static_cast<float>(augment.wall), static_cast<float>(augment.cpu)};
    samples_.push_back(placed);
  }
  const std::int64_t start = counted.span->start.value;
  const std::int64_t end = counted.span->end().value;
  ThreadWork& work = work_[thread_];
  ++work.samples;
  work.first = work.first == kNever ? start : std::min(work.first, start);
  work.last = std::max(work.last, end);
  work.busy += static_cast<double>(counted.wall) * 1e-9;
  work.cpu += static_cast<double>(std::max<std::int64_t>(0, counted.cpu)) * 1e-9;
  if (batch.whole) return;
  batch.worker_process = static_cast<std::int32_t>(process_.value);
  batch.fetch_start = batch.fetch_start == kNever ? start : std::min(batch.fetch_start, start);
  if (end >= batch.fetch_end) batch.fetch_thread = thread_;
  batch.fetch_end = std::max(batch.fetch_end, end);
  AddWork(batch.fetch, counted);
  AddWork(batch.read, read);
  batch.queued += static_cast<double>(inside.queued) * 1e-9;
  AddWork(batch.decode, decode);
  AddWork(batch.augment, augment);
  batch.cpu_known = (batch.samples == 0 || batch.cpu_known) && counted.cpu >= 0;
  ++batch.samples;
}

void RunBuilder::OnFetch(const Counted& counted, Batch& batch) {
  const Inside& inside = counted.inside;
  batch.worker_process = static_cast<std::int32_t>(process_.value);
  batch.fetch_thread = thread_;
  batch.fetch_start = counted.span->start.value;
  batch.fetch_end = counted.span->end().value;
  batch.whole = true;
  batch.fetch = SecondsOf(counted.wall, counted.cpu);
  batch.cpu_known = (batch.samples == 0 || batch.cpu_known) && counted.cpu >= 0;
  batch.read = SecondsOf(inside.read, inside.read_cpu);
  batch.queued = static_cast<double>(inside.queued) * 1e-9;
  batch.decode = SecondsOf(inside.decode, inside.decode_cpu);
  batch.augment = SecondsOf(inside.augment, inside.augment_cpu);
  batch.collate = SecondsOf(inside.collate, inside.collate_cpu);
  batch.samples = inside.samples;
  batch.bytes = std::max(batch.bytes, counted.span->bytes.value);
}

void RunBuilder::OnTransfer(const Counted& counted, Batch& batch) {
  const Span& span = *counted.span;
  if (counted.stage == StageId::kPut) {
    if (batch.put_start == kNever) batch.put_start = span.start.value;
    batch.put_end = std::max(batch.put_end, span.end().value);
    batch.put_thread = thread_;
    AddWork(batch.put, counted);
  } else if (counted.stage == StageId::kGet) {
    if (batch.get_start == kNever) batch.get_start = span.start.value;
    if (batch.got == kNever) batch.got = span.end().value;
    batch.get_thread = thread_;
    AddWork(batch.get, counted);
  } else {
    AddWork(batch.pin, counted);
  }
  batch.bytes = std::max(batch.bytes, span.bytes.value);
}

void RunBuilder::WalkEvents() {
  std::unordered_map<std::uint32_t, std::int64_t> entered;  // by thread: last next()
  for (const Event& event : trace_.events()) {
    if (event.thread.value >= trace_.threads().size()) continue;
    const ProcessId process = trace_.threads()[event.thread.value].process;
    if (process.value >= consumers_.size()) continue;
    const ProcessId consumer = ConsumerOf(process);
    const Iterator iterator{consumer.value, event.batch.generation};
    const std::int64_t at = event.at.value;
    if (event.type == EventType::kEpochStart) epoch_starts_.emplace(iterator, at);
    if (event.type == EventType::kEpochEnd) epoch_ends_[iterator] = true;
    if (event.type == EventType::kNextEntered) entered[event.thread.value] = at;
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
      if (next != entered.end()) batch->wait_start = next->second;
    }
  }
}

std::vector<SampleCost> RunBuilder::TakeSamples() {
  std::deque<Batch>& all = batches();
  for (const PlacedSample& sample : samples_) ++all[sample.batch].sample_costs;
  std::size_t first = 0;
  for (Batch& batch : all) {
    batch.first_sample = first;
    first += batch.sample_costs;
    batch.sample_costs = 0;
  }
  std::vector<SampleCost> sorted(samples_.size());
  for (const PlacedSample& sample : samples_) {
    Batch& batch = all[sample.batch];
    sorted[batch.first_sample + batch.sample_costs++] = sample.cost;
  }
  samples_ = {};
  return sorted;
}

std::int64_t RunBuilder::EpochStart(ProcessId consumer, std::uint16_t generation,
                                    std::int64_t first_wait) const {
  std::int64_t start = first_wait;
  const auto event = epoch_starts_.find({consumer.value, generation});
  if (event != epoch_starts_.end()) start = std::min(start, event->second);
  // The span of making the iterator surrounds that event.
  for (const Stretch& startup : startups_) {
    const bool same = ConsumerOf(trace_.threads()[startup.thread].process) == consumer;
    if (same && startup.start <= start && startup.end + 1'000'000 >= start) start = startup.start;
  }
  return start;
}

bool RunBuilder::EpochEnded(ProcessId consumer, std::uint16_t generation) const {
  return epoch_ends_.count({consumer.value, generation}) > 0;
}

double RunBuilder::EpochStop(ProcessId consumer, std::uint16_t generation) const {
  const auto found = epoch_stops_.find({consumer.value, generation});
  return found != epoch_stops_.end() ? static_cast<double>(found->second) * 1e-9 : 0;
}

}  // namespace penstock::analyzer
