// SPDX-License-Identifier: Apache-2.0
//
// A ring has prefetch + 1 slots for batches. The thread that is free first takes the next sample as
// soon as the sample's batch has a slot. A slot becomes free when the training loop, done with its
// batch, asks for another one.
#include "tests/analyzer/synthetic_threads.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

namespace penstock::analyzer::testing {
namespace {

using traces::BatchKey;
using traces::EventType;
using traces::Span;
using traces::StageId;

class ThreadGenerator {
 public:
  explicit ThreadGenerator(const SyntheticThreads& run) : run_(run) {
    traces::ProcessInfo process;
    process.pid = 100;
    process.role = wire::kRoleConsumer;
    process.command = {"penstock-load", "/data"};
    data_.processes.push_back(process);
    for (int t = 0; t <= run.threads; ++t) {
      traces::ThreadInfo thread;
      thread.tid = static_cast<std::uint32_t>(100 + t);
      data_.threads.push_back(thread);
      data_.spans.emplace_back();
    }
    crop_ = data_.Intern("random_resized_crop");
    data_.facts["cpu.cores"] = std::to_string(run.cores);
    if (!run.facts) return;
    auto& facts = data_.processes[0].facts;
    facts["loader.0.kind"] = "penstock";
    facts["loader.0.num_workers"] = std::to_string(run.threads);
    facts["loader.0.prefetch_factor"] = std::to_string(run.prefetch);
    facts["loader.0.batch_size"] = std::to_string(run.batch_size);
    facts["loader.0.in_order"] = "1";
    for (int epoch = 0; epoch < run.epochs; ++epoch) facts["epoch." + std::to_string(epoch)] = "0";
  }

  traces::TraceData Run() {
    const ThreadId consumer{0};
    const auto threads = static_cast<std::size_t>(run_.threads);
    const double began = 1000;
    free_.assign(std::max<std::size_t>(1, threads), began + run_.start);
    double now = began;
    std::vector<double> released;
    for (int e = 0; e < run_.epochs; ++e) {
      for (int i = 0; i < run_.batches; ++i) {
        const BatchKey key{static_cast<std::uint32_t>(i), static_cast<std::uint16_t>(e)};
        const std::size_t j = released.size();
        const auto slots = static_cast<std::size_t>(run_.prefetch + 1);
        const double slot = j < slots ? began : released[j - slots];
        if (threads == 0) free_[0] = now;
        double ready = 0;
        std::size_t last = 0;
        for (int s = 0; s < run_.batch_size; ++s) {
          const auto at = std::min_element(free_.begin(), free_.end());
          const auto t = static_cast<std::size_t>(at - free_.begin());
          const double end = MakeSample(t, std::max(*at, slot), key);
          if (end >= ready) last = t;
          ready = std::max(ready, end);
        }
        if (run_.collate > 0) {
          Add(ThreadOf(last), StageId::kCollate, ready, run_.collate, key).cpu = Ms(run_.collate);
          free_[last] = ready += run_.collate;
        }
        AddEvent(EventType::kBatchPut, ThreadOf(last), ready, key);
        if (i == 0)
          AddEvent(EventType::kEpochStart, consumer, now, {wire::kNoBatch, key.generation});
        AddEvent(EventType::kNextEntered, consumer, now, key);
        const double delivered = std::max(now, ready);
        Add(consumer, StageId::kWait, now, delivered - now, key);
        if (j == 0) Add(consumer, StageId::kStartup, began, delivered - began, {});
        AddEvent(EventType::kBatchGot, consumer, delivered, key);
        AddEvent(EventType::kBatchDelivered, consumer, delivered, key);
        Add(consumer, StageId::kStep, delivered, run_.step, key);
        now = delivered + run_.step;
        released.push_back(now);
      }
      AddEvent(EventType::kEpochEnd, consumer, now,
               {wire::kNoBatch, static_cast<std::uint16_t>(e)});
    }
    return std::move(data_);
  }

 private:
  ThreadId ThreadOf(std::size_t t) const {
    return ThreadId{run_.threads == 0 ? 0 : static_cast<std::uint32_t>(t) + 1};
  }

  Span& Add(ThreadId thread, StageId stage, double start, double length, BatchKey key) {
    Span span;
    span.stage = stage;
    span.start = Ms(start);
    span.duration = Ms(start + length) - Ms(start);
    span.batch = key;
    data_.spans[thread.value].push_back(span);
    return data_.spans[thread.value].back();
  }

  void AddEvent(EventType type, ThreadId thread, double at, BatchKey key) {
    traces::Event event;
    event.type = type;
    event.at = Ms(at);
    event.thread = thread;
    event.batch = key;
    data_.events.push_back(event);
  }

  double MakeSample(std::size_t t, double start, BatchKey key) {
    const ThreadId thread = ThreadOf(t);
    if (start > free_[t]) Add(thread, StageId::kIdle, free_[t], start - free_[t], {});
    SampleCosts costs = run_.costs(samples_);
    const double decode_cpu = run_.cpu_share * costs.decode;
    costs.decode += run_.sleep;
    const double cpu = run_.cpu_share;
    const double whole = costs.read + costs.decode + costs.augment;
    Span& sample = Add(thread, StageId::kSample, start, whole, key);
    sample.sample = samples_++;
    sample.cpu = Ms(decode_cpu + cpu * costs.augment);
    Add(thread, StageId::kRead, start, costs.read, key).bytes = Bytes{100'000};
    Span& decode = Add(thread, StageId::kDecode, start + costs.read, costs.decode, key);
    decode.cpu = Ms(decode_cpu);
    decode.bytes = Bytes{600'000};
    const double augment = start + costs.read + costs.decode;
    Add(thread, StageId::kAugment, augment, costs.augment, key).cpu = Ms(cpu * costs.augment);
    Span& named = Add(thread, StageId::kAugment, augment, costs.augment, key);
    named.cpu = Ms(cpu * costs.augment);
    named.name = crop_;
    free_[t] = start + whole;
    return free_[t];
  }

  const SyntheticThreads& run_;
  traces::TraceData data_;
  StringId crop_;
  std::vector<double> free_;  // by thread
  int samples_ = 0;
};

}  // namespace

traces::TraceData MakeThreads(const SyntheticThreads& run) {
  return ThreadGenerator(run).Run();
}

std::unique_ptr<traces::Trace> ThreadsTrace(const SyntheticThreads& run) {
  return traces::MakeTrace(MakeThreads(run));
}

}  // namespace penstock::analyzer::testing
