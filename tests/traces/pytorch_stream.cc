// SPDX-License-Identifier: Apache-2.0
#include "tests/traces/pytorch_stream.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <random>
#include <span>
#include <string_view>
#include <vector>

#include "traces/trace.h"
#include "traces/wire.h"

namespace penstock::traces::testing {
namespace {

class Stream {
 public:
  Stream(const StreamOptions& options, Packer& out)
      : options_(options), out_(out), random_(options.seed) {}

  std::uint64_t Run() {
    ProcessInfo main;
    main.pid = 100;
    main.role = wire::kRoleConsumer;
    const ProcessId consumer = out_.AddProcess(main);
    consumer_ = out_.AddThread({.process = consumer, .tid = 100, .name = "python"});
    consumer_now_ = kStart;
    for (std::uint32_t w = 0; w < options_.workers; ++w) {
      ProcessInfo info;
      info.pid = 101 + w;
      info.parent = 100;
      info.role = wire::kRoleWorker;
      info.worker_id = static_cast<std::int32_t>(w);
      const ProcessId process = out_.AddProcess(info);
      threads_.push_back(out_.AddThread({.process = process, .tid = info.pid, .name = "worker"}));
      now_.push_back(kStart);
    }
    std::vector<std::uint32_t> order(options_.images);
    std::iota(order.begin(), order.end(), 0u);
    for (std::uint32_t epoch = 0; epoch < options_.epochs; ++epoch) {
      std::shuffle(order.begin(), order.end(), random_);
      std::uint32_t batch = 0;
      for (std::uint32_t at = 0; at < order.size(); at += options_.batch, ++batch) {
        const std::size_t size = std::min<std::size_t>(options_.batch, order.size() - at);
        key_ = {batch, static_cast<std::uint16_t>(epoch + 1)};
        Fetch(batch % options_.workers, {order.data() + at, size});
        Consume();
      }
    }
    return spans_;
  }

 private:
  static constexpr std::int64_t kStart = 1'000'000'000'000;

  std::int64_t Lognormal(double median_ns, double sigma) {
    std::normal_distribution<double> normal(std::log(median_ns), sigma);
    return static_cast<std::int64_t>(std::exp(normal(random_)));
  }

  void Emit(ThreadId thread, StageId stage, std::string_view name, std::int64_t start,
            std::int64_t end, std::uint8_t depth, bool cpu, std::int64_t sample = wire::kNoSample,
            std::uint64_t bytes = 0, StringId object = {}) {
    Span span;
    span.start.value = start;
    span.duration.value = end - start;
    span.stage = stage;
    span.name = out_.Intern(name);
    span.depth = depth;
    span.sample = sample;
    span.batch = key_;
    span.bytes.value = bytes;
    span.object = object;
    if (cpu) {
      span.cpu.value = span.duration.value - Lognormal(2e4, 0.8) % (span.duration.value + 1);
      span.flags = wire::kFlagCpu;
    }
    out_.AddSpan(thread, span);
    ++spans_;
  }

  void Image(ThreadId thread, std::int64_t& now, std::uint32_t index) {
    const std::int64_t start = now;
    const StringId path = out_.Intern(
        fmt::format("/data/imagenet/train/n{:08}/n{:08}_{}.JPEG", 1'440'764 + (index % 1000) * 1013,
                    1'440'764 + (index % 1000) * 1013, 1000 + index * 2'654'435'761u % 99'991));
    const auto bytes = static_cast<std::uint64_t>(Lognormal(110e3, 0.5));
    std::int64_t at = start + Lognormal(8e3, 0.3);
    std::int64_t end = at + Lognormal(60e3, 0.6);
    Emit(thread, StageId::kRead, "posix", at, end, 2, false, index, bytes, path);
    at = end + Lognormal(9e3, 0.3);
    end = at + Lognormal(5e6, 0.4);
    Emit(thread, StageId::kDecode, "PIL", at, end, 2, true, index, bytes, path);
    const std::int64_t augment = end + Lognormal(5e3, 0.3);
    at = augment + Lognormal(2e3, 0.3);
    for (const char* name : {"RandomResizedCrop", "RandomHorizontalFlip", "ToTensor"}) {
      end = at + Lognormal(9e5, 0.5);
      Emit(thread, StageId::kAugment, name, at, end, 3, true, index);
      at = end + Lognormal(2e3, 0.3);
    }
    Emit(thread, StageId::kAugment, "Compose", augment, at, 2, true, index);
    end = at + Lognormal(4e3, 0.3);
    Emit(thread, StageId::kSample, "ImageFolder", start, end, 1, true, index);
    now = end + Lognormal(3e3, 0.3);
  }

  void Fetch(std::uint32_t worker, std::span<const std::uint32_t> indices) {
    const ThreadId thread = threads_[worker];
    std::int64_t& now = now_[worker];
    const std::int64_t idle = now;
    now += Lognormal(3e5, 1.0);
    Emit(thread, StageId::kIdle, "index_queue", idle, now, 0, false);
    const std::int64_t start = now;
    now += 5'000;
    for (const std::uint32_t index : indices) {
      Image(thread, now, index);
    }
    const std::int64_t collate = now;
    now += Lognormal(4e6, 0.3);
    Emit(thread, StageId::kCollate, "default_collate", collate, now, 1, true);
    Emit(thread, StageId::kFetch, "fetch", start, now, 0, true);
    out_.AddEvent({.at = TimeNs{now},
                   .thread = thread,
                   .batch = key_,
                   .value = 0,
                   .type = EventType::kBatchPut});
    const std::int64_t put = now;
    now += Lognormal(2e5, 0.5);
    Emit(thread, StageId::kPut, "put", put, now, 0, false, wire::kNoSample, 38'535'168);
  }

  void Consume() {
    const std::int64_t wait = consumer_now_;
    const std::int64_t got = wait + Lognormal(3e7, 0.6);
    Emit(consumer_, StageId::kGet, "get", got, got + Lognormal(3e5, 0.4), 1, false);
    std::int64_t at = got + Lognormal(2e6, 0.3);
    Emit(consumer_, StageId::kWait, "next", wait, at, 0, false);
    const std::int64_t end = at + Lognormal(8e7, 0.1);
    Emit(consumer_, StageId::kStep, "step", at, end, 0, false);
    consumer_now_ = end + 1'000;
  }

  const StreamOptions& options_;
  Packer& out_;
  std::mt19937_64 random_;
  ThreadId consumer_;
  std::int64_t consumer_now_ = 0;
  std::vector<ThreadId> threads_;
  std::vector<std::int64_t> now_;
  BatchKey key_;
  std::uint64_t spans_ = 0;
};

}  // namespace

std::uint64_t WritePytorchLike(const StreamOptions& options, Packer& out) {
  return Stream(options, out).Run();
}

}  // namespace penstock::traces::testing
