// SPDX-License-Identifier: Apache-2.0
//
// Simulates PyTorch's DataLoader event by event, on a clock of its own. When a batch is delivered,
// the next index is sent. Each worker has its own queue, and the training loop takes batches in
// order.
#include "tests/analyzer/synthetic.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace penstock::analyzer::testing {
namespace {

using traces::BatchKey;
using traces::Event;
using traces::EventType;
using traces::Span;
using traces::StageId;

class Generator {
 public:
  explicit Generator(const Synthetic& run) : run_(run) {
    traces::ProcessInfo consumer;
    consumer.pid = 100;
    consumer.role = wire::kRoleConsumer;
    consumer.features = wire::kFeaturePython;
    consumer.command = {"python", "train.py"};
    data_.processes.push_back(consumer);
    AddThread(ProcessId{0}, 100);
    if (run.host_facts) {
      data_.facts["cpu.cores"] = std::to_string(run.cores);
      data_.facts["cpu.affinity"] = "0-" + std::to_string(run.cores - 1);
      data_.facts["shm.size"] = "8000000000";
    }
    decoder_ = data_.Intern(run.decoder);
    file_ = data_.Intern(run.file);
    transform_ = data_.Intern(run.transform);
    tokenizer_ = data_.Intern("tokenizers.encode");
  }

  traces::TraceData Run() {
    for (int epoch = 0; epoch < run_.epochs; ++epoch) RunEpoch(epoch);
    if (run_.loader_facts) {
      auto& facts = data_.processes[0].facts;
      facts["loader.0.num_workers"] = std::to_string(run_.workers);
      facts["loader.0.prefetch_factor"] = std::to_string(run_.prefetch);
      facts["loader.0.batch_size"] = std::to_string(run_.batch_size);
      facts["loader.0.persistent_workers"] = run_.persistent ? "true" : "false";
      facts["loader.0.pin_memory"] = "false";
      for (int epoch = 0; epoch < run_.epochs; ++epoch) {
        facts["epoch." + std::to_string(epoch + 1)] = "0";
      }
    }
    return std::move(data_);
  }

 private:
  ThreadId AddThread(ProcessId process, std::uint32_t tid) {
    traces::ThreadInfo info;
    info.process = process;
    info.tid = tid;
    data_.threads.push_back(info);
    data_.spans.emplace_back();
    return ThreadId{static_cast<std::uint32_t>(data_.threads.size() - 1)};
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

  void AddEvent(EventType type, ThreadId thread, double at, BatchKey key, std::int64_t value = 0) {
    if (!run_.events) return;
    Event event;
    event.type = type;
    event.at = Ms(at);
    event.thread = thread;
    event.batch = key;
    event.value = value;
    data_.events.push_back(event);
  }

  TimeNs Cpu(double wall) const { return Ms(wall * run_.cpu_share); }

  // Adds a batch that `thread` makes from `start` on. Returns when the batch is ready.
  double Fetch(ThreadId thread, double start, const Costs& costs, BatchKey key) {
    const int samples = run_.batch_size;
    const double each = 1.0 / samples;
    const double service =
        costs.read + costs.decode + costs.augment + costs.tokenize + costs.collate;
    Span& fetch = Add(thread, StageId::kFetch, start, service, key);
    fetch.cpu = Cpu(service - costs.read);
    double now = start;
    for (int i = 0; i < samples && run_.sample_spans; ++i) {
      const double read = costs.read * each;
      const double decode = costs.decode * each;
      const double augment = costs.augment * each;
      const double tokenize = costs.tokenize * each;
      const double all = read + decode + augment + tokenize;
      Span& sample = Add(thread, StageId::kSample, now, all, key);
      sample.sample = static_cast<std::int64_t>(key.index) * samples + i;
      sample.cpu = Cpu(all - read);
      Span& reading = Add(thread, StageId::kRead, now, read, key);
      reading.bytes = Bytes{run_.file_bytes};
      reading.object = file_;
      Span& decoding = Add(thread, StageId::kDecode, now + read, decode, key);
      decoding.cpu = Cpu(decode);
      decoding.bytes = Bytes{run_.decoded_bytes};
      decoding.name = decoder_;
      Span& transforming = Add(thread, StageId::kAugment, now + read + decode, augment, key);
      transforming.cpu = Cpu(augment);
      transforming.name = transform_;
      if (tokenize > 0) {
        Span& tokens = Add(thread, StageId::kTokenize, now + all - tokenize, tokenize, key);
        tokens.cpu = Cpu(tokenize);
        tokens.name = tokenizer_;
      }
      now += all;
    }
    Span& collate =
        Add(thread, StageId::kCollate, start + service - costs.collate, costs.collate, key);
    collate.cpu = Cpu(costs.collate);
    collate.bytes = Bytes{run_.sample_bytes * static_cast<std::uint64_t>(samples)};
    return start + service;
  }

  void StartWorkers(int epoch) {
    if (run_.persistent && epoch > 0) return;
    mains_.clear();
    feeders_.clear();
    for (int w = 0; w < run_.workers; ++w) {
      traces::ProcessInfo worker;
      worker.pid = static_cast<std::uint32_t>(200 + data_.processes.size());
      worker.parent = 100;
      worker.role = wire::kRoleWorker;
      worker.worker_id = w;
      worker.features = wire::kFeaturePython;
      data_.processes.push_back(worker);
      const ProcessId process{static_cast<std::uint32_t>(data_.processes.size() - 1)};
      mains_.push_back(AddThread(process, worker.pid));
      feeders_.push_back(AddThread(process, worker.pid + 10000));
    }
  }

  void RunEpoch(int epoch) {
    const auto generation = static_cast<std::uint16_t>(epoch + 1);
    const ThreadId consumer{0};
    const BatchKey none{wire::kNoBatch, generation};
    const double began = now_;
    AddEvent(EventType::kEpochStart, consumer, began, none, run_.workers);
    StartWorkers(epoch);
    const bool starts = !run_.persistent || epoch == 0;
    const auto credits = static_cast<std::size_t>(run_.workers * run_.prefetch);
    std::vector<double> free;
    for (int w = 0; w < run_.workers; ++w) {
      free.push_back(began + (starts ? run_.worker_start * (w + 1) : 0.0));
    }
    std::vector<double> delivered;
    std::vector<double> fed(free.size(), 0.0);
    for (int i = 0; i < run_.batches; ++i) {
      const auto j = static_cast<std::size_t>(i);
      const BatchKey key{static_cast<std::uint32_t>(i), generation};
      const Costs costs = run_.costs(epoch, i);
      const double entered = now_;
      double done = 0;
      if (run_.workers == 0) {
        done = Fetch(consumer, entered, costs, key);
      } else {
        const std::size_t w = j % free.size();
        const double sent = j < credits ? began : delivered[j - credits];
        AddEvent(EventType::kIndexSent, consumer, sent, key, static_cast<std::int64_t>(w));
        const double start = std::max(free[w], sent);
        if (start > free[w]) Add(mains_[w], StageId::kIdle, free[w], start - free[w], none);
        const double finish = Fetch(mains_[w], start, costs, key);
        AddEvent(EventType::kBatchPut, mains_[w], finish, key);
        free[w] = finish;
        const double put = std::max(finish, fed[w]);
        Add(feeders_[w], StageId::kPut, put, costs.put, key).cpu = Cpu(costs.put);
        fed[w] = put + costs.put;
        const double taken = std::max(entered, fed[w]);
        Add(consumer, StageId::kGet, taken, costs.get, key).cpu = Cpu(costs.get);
        done = taken + costs.get;
        AddEvent(EventType::kBatchGot, consumer, done, key);
      }
      Add(consumer, StageId::kWait, entered, done - entered, key);
      AddEvent(EventType::kBatchDelivered, consumer, done, key);
      delivered.push_back(done);
      if (costs.h2d > 0) Add(consumer, StageId::kH2d, done, costs.h2d, none);
      Add(consumer, StageId::kStep, done, costs.h2d + costs.step, key);
      now_ = done + costs.h2d + costs.step;
    }
    const double stop = 0.1 + (run_.persistent ? 0 : run_.workers * run_.worker_stop);
    Add(consumer, StageId::kWait, now_, stop, none);  // StopIteration
    now_ += stop;
    AddEvent(EventType::kEpochEnd, consumer, now_, none, run_.batches);
  }

  const Synthetic& run_;
  traces::TraceData data_;
  StringId decoder_;
  StringId file_;
  StringId transform_;
  StringId tokenizer_;
  std::vector<ThreadId> mains_;
  std::vector<ThreadId> feeders_;
  double now_ = 1000;
};

}  // namespace

traces::TraceData MakeSynthetic(const Synthetic& run) {
  return Generator(run).Run();
}

std::unique_ptr<traces::Trace> SyntheticTrace(const Synthetic& run) {
  return traces::MakeTrace(MakeSynthetic(run));
}

void AddCounter(traces::TraceData& data, const char* name, std::uint32_t process, double at_ms,
                double value) {
  traces::CounterSample sample;
  sample.at = Ms(at_ms);
  sample.name = data.Intern(name);
  sample.process = ProcessId{process};
  sample.value = static_cast<std::int64_t>(value);
  data.counters.push_back(sample);
}

void AddNamedRanges(traces::TraceData& data) {
  traces::ThreadInfo thread;
  thread.tid = 150;
  thread.name = "decoder 0";
  std::vector<Span> ranges;
  const auto add = [&](const Span& step, double at, double length, const char* name) {
    Span range;
    range.stage = StageId::kMark;
    range.start = step.start + Ms(at);
    range.duration = Ms(length);
    range.name = data.Intern(name);
    ranges.push_back(range);
  };
  for (const Span& span : data.spans[0]) {
    if (span.stage != StageId::kStep) continue;
    add(span, 0, 2, "libjpeg_turbo_decoder process #0");
    add(span, 2, 1, "[DALI][CPU op] Run Resize");
    add(span, 3, 0.5, "forward");
  }
  data.threads.push_back(thread);
  data.spans.push_back(std::move(ranges));
}

std::function<Costs(int, int)> Always(Costs costs) {
  return [costs](int, int) { return costs; };
}

}  // namespace penstock::analyzer::testing
