// SPDX-License-Identifier: Apache-2.0
#include "tests/analyzer/long_trace/long_trace.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

namespace penstock::analyzer::testing {
namespace {

using traces::BatchKey;
using traces::Event;
using traces::EventType;
using traces::Span;
using traces::StageId;

constexpr std::int64_t kUs = 1000;
constexpr std::int64_t kCounterPeriod = 500'000'000;  // ns; the collector's period in a long run

class Writer {
 public:
  Writer(const LongTrace& run, traces::Packer& out) : run_(run), out_(out), random_(run.seed) {
    out_.SetFact("command", "python train.py --data /data/train");
    out_.SetFact("cpu.cores", std::to_string(run.workers + 1));
    out_.SetFact("cpu.affinity", fmt::format("0-{}", run.workers));
    out_.SetFact("memory.total", "64000000000");
    out_.SetFact("shm.size", "32000000000");
    AddProcesses();
  }

  LongTraceSize Run() {
    for (std::uint16_t epoch = 1; size_.spans < run_.spans; ++epoch) RunEpoch(epoch);
    return size_;
  }

 private:
  // A lognormal time in nanoseconds with a median of `us` microseconds; at least one microsecond.
  std::int64_t Draw(double us, double sigma = 0.3) {
    return std::max<std::int64_t>(
        kUs, static_cast<std::int64_t>(us * 1e3 * std::exp(sigma * normal_(random_))));
  }

  // A random time below `most`: what the clock and the code between two spans take.
  std::int64_t Noise(std::int64_t most) {
    return static_cast<std::int64_t>(random_() % static_cast<std::uint64_t>(most));
  }

  void AddProcesses() {
    traces::ProcessInfo consumer;
    consumer.pid = 1000;
    consumer.role = wire::kRoleConsumer;
    consumer.features = wire::kFeaturePython;
    consumer.command = {"python", "train.py"};
    consumer.libraries = {"/usr/lib/libjpeg.so.62"};
    auto& facts = consumer.facts;
    facts["loader.0.kind"] = "pytorch";
    facts["loader.0.num_workers"] = std::to_string(run_.workers);
    facts["loader.0.prefetch_factor"] = std::to_string(run_.prefetch);
    facts["loader.0.batch_size"] = std::to_string(run_.batch_size);
    facts["loader.0.dataset_len"] = std::to_string(run_.images);
    facts["loader.0.dataset_kind"] = "map";
    facts["loader.0.persistent_workers"] = "true";
    facts["loader.0.pin_memory"] = "false";
    for (int epoch = 1; epoch < 1000; ++epoch) facts[fmt::format("epoch.{}", epoch)] = "0";
    processes_.push_back(out_.AddProcess(consumer));
    consumer_ = out_.AddThread({.process = processes_[0], .tid = 1000});
    for (int w = 0; w < run_.workers; ++w) {
      traces::ProcessInfo worker;
      worker.pid = static_cast<std::uint32_t>(1001 + w);
      worker.parent = 1000;
      worker.role = wire::kRoleWorker;
      worker.worker_id = w;
      worker.features = wire::kFeaturePython;
      processes_.push_back(out_.AddProcess(worker));
      mains_.push_back(out_.AddThread({.process = processes_.back(), .tid = worker.pid}));
      feeders_.push_back(out_.AddThread({.process = processes_.back(), .tid = worker.pid + 5000}));
    }
    cpu_.assign(processes_.size(), 0);
    free_.assign(mains_.size(), 0);
    fed_.assign(mains_.size(), 0);
  }

  void Add(ThreadId thread, StageId stage, std::string_view name, std::int64_t start,
           std::int64_t length, int depth, BatchKey key, std::int64_t cpu, std::uint64_t bytes = 0,
           std::int64_t sample = wire::kNoSample) {
    Span span;
    span.stage = stage;
    span.start.value = start;
    span.duration.value = length;
    span.cpu.value = cpu;
    span.bytes = Bytes{bytes};
    span.sample = sample;
    span.batch = key;
    span.depth = static_cast<std::uint8_t>(depth);
    span.flags = cpu >= 0 ? wire::kFlagCpu : 0;
    if (!name.empty()) span.name = out_.Intern(name);
    AddSpan(thread, span);
  }

  void AddSpan(ThreadId thread, const Span& span) {
    out_.AddSpan(thread, span);
    ++size_.spans;
  }

  void AddEvent(EventType type, ThreadId thread, std::int64_t at, BatchKey key,
                std::int64_t value = 0) {
    Event event;
    event.at.value = at;
    event.thread = thread;
    event.batch = key;
    event.value = value;
    event.type = type;
    out_.AddEvent(event);
  }

  void AddCounters(std::int64_t now) {
    for (; next_counter_ < now; next_counter_ += kCounterPeriod) {
      for (std::size_t i = 0; i < processes_.size(); ++i) {
        const auto add = [&](std::string_view name, std::int64_t value) {
          out_.AddCounter({TimeNs{next_counter_}, out_.Intern(name), processes_[i], value});
        };
        add("cpu_ns", cpu_[i]);
        add("rss_bytes", 400'000'000 + static_cast<std::int64_t>(random_() % 1'000'000));
        add("rchar_bytes", cpu_[i] / 50);
        add("major_faults", 0);
      }
    }
  }

  // Adds one sample and the spans inside it. Returns its end.
  std::int64_t Sample(ThreadId thread, std::int64_t start, BatchKey key, std::int64_t index) {
    const std::int64_t open = run_.lean ? 0 : Draw(50);
    const std::int64_t reading = Draw(20);
    const std::int64_t decode = Draw(950);
    const std::int64_t crop = Draw(20);
    const std::int64_t resize = Draw(450);
    const bool flips = random_() % 2 == 0;
    const std::int64_t flip = flips ? Draw(26) : 0;
    const std::int64_t tensor = Draw(310, 0.1);
    const std::int64_t normalise = Draw(60, 0.1);
    const auto pixels = 500'000 + random_() % 100'000;
    const auto add = [&](StageId stage, std::string_view name, std::int64_t at, std::int64_t length,
                         int depth, bool timed, std::uint64_t bytes) {
      const std::int64_t cpu = std::max<std::int64_t>(0, length - Noise(1 * kUs));
      Add(thread, stage, name, at + Noise(kUs), length, depth, key, timed ? cpu : -1, bytes, index);
    };
    const std::int64_t gap = run_.lean ? 0 : 5 * kUs + Noise(2 * kUs);
    const std::int64_t decoding = start + gap + open;
    const std::int64_t composing = decoding + decode + gap;
    std::int64_t at = composing + gap;
    if (!run_.lean) {
      add(StageId::kAugment, "PIL.crop", at + gap, crop, 4, false, 300'000);
      add(StageId::kAugment, "PIL.resize", at + 2 * gap + crop, resize, 4, false, 150'528);
      add(StageId::kAugment, "RandomResizedCrop", at, crop + resize + 3 * gap, 3, true, 0);
    }
    at += crop + resize + 3 * gap;
    if (!run_.lean) {
      if (flips) add(StageId::kAugment, "PIL.transpose", at + gap, flip, 4, false, 150'528);
      add(StageId::kAugment, "RandomHorizontalFlip", at, flip + 2 * gap, 3, true, 0);
    }
    at += flip + 2 * gap;
    if (!run_.lean) {
      add(StageId::kAugment, "ToTensor", at, tensor, 3, true, 602'112);
      add(StageId::kAugment, "Normalize", at + tensor, normalise, 3, true, 602'112);
    }
    const std::int64_t end = at + tensor + normalise + gap + 2 * kUs;
    Span read;
    read.stage = StageId::kRead;
    read.start.value = start + 2 * gap;
    read.duration.value = reading + (run_.lean ? 0 : decode - 2 * gap);
    if (!run_.lean) {
      read.busy.value = reading;
      read.flags = wire::kFlagBusy;
    }
    read.bytes = Bytes{80'000 + random_() % 60'000};
    read.sample = index;
    read.batch = key;
    read.depth = 3;
    read.name = out_.Intern("file");
    read.object =
        out_.Intern(fmt::format("/data/train/n{:04}/image_{:07}.jpg", index / 1300, index));
    AddSpan(thread, read);
    if (!run_.lean) {
      add(StageId::kDecode, "PIL.open", start + gap, open, 2, true, 0);
      add(StageId::kDecode, "jpeg", decoding + gap, decode - 2 * gap, 3, false, pixels);
      add(StageId::kDecode, "PIL.load", decoding, decode, 2, true, pixels);
    } else {
      add(StageId::kDecode, "jpeg", decoding + reading, decode - reading, 2, true, pixels);
    }
    add(StageId::kAugment, run_.lean ? "resize" : "Compose", composing, end - composing, 2, true,
        0);
    Add(thread, StageId::kSample, "ImageFolder", start, end - start, 1, key,
        end - start - reading - Noise(kUs), 0, index);
    ++size_.samples;
    return end + kUs + Noise(kUs);
  }

  // Adds a batch that worker `w` makes from `start` on. Returns the time when it is ready.
  std::int64_t Fetch(std::size_t w, std::int64_t start, BatchKey key) {
    std::int64_t now = start + 20 * kUs;
    for (int i = 0; i < run_.batch_size; ++i) {
      now = Sample(mains_[w], now, key, static_cast<std::int64_t>(random_() % run_.images));
    }
    const std::int64_t collate = Draw(60.0 * run_.batch_size, 0.1);
    const std::uint64_t bytes = 602'112u * static_cast<std::uint64_t>(run_.batch_size);
    Add(mains_[w], StageId::kCollate, "default_collate", now, collate, 1, key, collate, bytes);
    now += collate;
    Add(mains_[w], StageId::kFetch, "fetch", start, now - start, 0, key, now - start - 30 * kUs);
    cpu_[w + 1] += now - start;
    return now;
  }

  void RunEpoch(std::uint16_t generation) {
    const BatchKey none{wire::kNoBatch, generation};
    const std::int64_t began = now_;
    AddEvent(EventType::kEpochStart, consumer_, began, none, run_.workers);
    const std::size_t credits = free_.size() * static_cast<std::size_t>(run_.prefetch);
    std::vector<std::int64_t> delivered(credits, began);  // when the last `credits` batches came
    for (std::uint32_t i = 0; i < run_.epoch_batches && size_.spans < run_.spans; ++i) {
      const BatchKey key{i, generation};
      const std::size_t w = i % free_.size();
      const std::int64_t sent = delivered[i % credits];
      AddEvent(EventType::kIndexSent, consumer_, sent, key, static_cast<std::int64_t>(w));
      const std::int64_t start = std::max(free_[w], sent) + 10 * kUs;
      AddEvent(EventType::kIndexReceived, mains_[w], start, key);
      if (start > free_[w]) {
        Add(mains_[w], StageId::kIdle, "index_queue.get", free_[w], start - free_[w], 0, none, -1);
      }
      free_[w] = Fetch(w, start, key);
      AddEvent(EventType::kBatchPut, mains_[w], free_[w], key);
      const std::int64_t put = std::max(free_[w], fed_[w]);
      fed_[w] = put + Draw(800);
      Add(feeders_[w], StageId::kPut, "queue.put", put, fed_[w] - put, 0, key, 500 * kUs);
      AddEvent(EventType::kNextEntered, consumer_, now_, key);
      const std::int64_t taken = std::max(now_, fed_[w]);
      const std::int64_t done = taken + Draw(1000);
      Add(consumer_, StageId::kGet, "queue.get", taken, done - taken, 1, key, done - taken);
      AddEvent(EventType::kBatchGot, consumer_, done, key);
      Add(consumer_, StageId::kWait, "next", now_, done - now_, 0, key, -1);
      AddEvent(EventType::kBatchDelivered, consumer_, done, key);
      delivered[i % credits] = done;
      now_ = done + Draw(run_.step_ms * 1e3, 0.1);
      Add(consumer_, StageId::kStep, "step", done, now_ - done, 0, key, -1);
      cpu_[0] += (now_ - taken) / 2;
      AddCounters(now_);
      ++size_.batches;
    }
    Add(consumer_, StageId::kWait, "next", now_, 100 * kUs, 0, none, -1);  // StopIteration
    now_ += 100 * kUs;
    AddEvent(EventType::kEpochEnd, consumer_, now_, none);
  }

  const LongTrace& run_;
  traces::Packer& out_;
  std::mt19937_64 random_;
  std::normal_distribution<double> normal_;
  LongTraceSize size_;
  ThreadId consumer_;
  std::vector<ProcessId> processes_;
  std::vector<ThreadId> mains_;
  std::vector<ThreadId> feeders_;
  std::vector<std::int64_t> cpu_;   // by process
  std::vector<std::int64_t> free_;  // by worker: when its last fetch ends
  std::vector<std::int64_t> fed_;   // by worker: when its feeder thread has sent the last batch
  std::int64_t now_ = 1'000'000'000;
  std::int64_t next_counter_ = 1'000'000'000;
};

}  // namespace

LongTraceSize WriteLongTrace(const LongTrace& run, traces::Packer& out) {
  return Writer(run, out).Run();
}

}  // namespace penstock::analyzer::testing
