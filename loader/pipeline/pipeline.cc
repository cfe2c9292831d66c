// SPDX-License-Identifier: Apache-2.0
#include "loader/pipeline/pipeline.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <exception>
#include <string>
#include <thread>
#include <vector>

#include <fmt/format.h>

#include "loader/pipeline/crew.h"
#include "loader/pipeline/shared.h"
#include "loader/pipeline/worker.h"

namespace penstock::loader {
namespace {

using traces::EventType;
using traces::StageId;

Result<void> Check(const PipelineOptions& options) {
  constexpr unsigned kMostBatches = 1'000'000'000;  // the sum of two such numbers fits in 32 bits
  if (options.prefetch == 0) {
    return Fail(ErrorKind::kUsage, "prefetch is 0: at least 1 batch is needed");
  }
  if (options.held == 0) {
    return Fail(ErrorKind::kUsage,
                "held is 0: the training loop must be able to hold at least 1 batch");
  }
  if (options.prefetch > kMostBatches || options.held > kMostBatches) {
    return Fail(ErrorKind::kUsage,
                fmt::format("prefetch and held above {} are not supported", kMostBatches));
  }
  if (options.read_ahead == 0) {
    return Fail(ErrorKind::kUsage, "read-ahead is 0: at least 1 read in flight is needed");
  }
  if (options.read_ahead > 4096) {
    return Fail(ErrorKind::kUsage, "a read-ahead above 4096 is not supported");
  }
  return {};
}

// Makes stand-ins for the results of stages that are switched off.
Result<void> MakeStandIns(Shared& shared) {
  const PipelineOptions& options = shared.options;
  if (!options.decode.on && options.augment.on) {
    shared.stand_in.assign(
        std::size_t{kStandInWidth} * kStandInHeight * 3 + JpegDecoder::kReadablePadding, 128);
  }
  if (options.decode.on && !options.read.on) {
    IoOptions io;
    io.max_object = options.reader.max_object;
    auto reader = MakeObjectReader(io);
    PENSTOCK_TRY(reader);
    SampleScratch scratch;
    const Result<SampleRef> ref = shared.source.At(0, scratch);
    PENSTOCK_TRY(ref);
    (*reader)->Start(0, *ref);
    const auto file = (*reader)->Finish(0);
    PENSTOCK_TRY(file);
    shared.one_file.assign(file->begin(), file->end());
  }
  return {};
}

class ThreadedPipeline final : public Pipeline {
 public:
  ThreadedPipeline(const Source& source, const AugmentProgram& program,
                   const PipelineOptions& options, const SampleOrder& order, Tracer& tracer)
      : shared_(source, program, options, order, tracer) {}
  ~ThreadedPipeline() override { ThreadedPipeline::Stop(); }

  Result<void> Begin();
  Result<Batch> Next() override { return Next(std::chrono::nanoseconds::max(), nullptr); }
  Result<Batch> Next(std::chrono::nanoseconds limit, bool* waiting) override;
  void EndStep() override { LeaveStep(); }
  [[nodiscard]] std::uint64_t errors() const override { return shared_.errors.count(); }
  [[nodiscard]] std::vector<SampleError> first_errors() const override {
    return shared_.errors.first();
  }
  void RequestStop() override;
  void Stop() override;
  [[nodiscard]] const PipelineStats& stats() const override { return stats_; }
  [[nodiscard]] const SampleOrder& order() const override { return shared_.order; }

 private:
  void TellFacts();
  void EnterNext(const BatchPlace& place);
  void LeaveStep();
  void Count(const ThreadStats& thread, const IoStats& io);
  bool WaitFor(std::uint64_t number, std::chrono::nanoseconds limit);
  [[nodiscard]] Place PlaceOf(const BatchPlace& place) const {
    return {wire::kNoSample, static_cast<std::uint32_t>(place.index),
            shared_.options.trace.EpochOf(place.epoch)};
  }

  Shared shared_;
  Crew crew_;
  std::unique_ptr<Worker> inline_worker_;
  ThreadTracer* tracer_ = nullptr;  // of the consumer
  std::uint64_t next_ = 0;          // batch to deliver
  bool starting_ = true;
  bool waiting_ = false;  // a Next() with a limit has returned, and its wait goes on
  TimeNs waiting_since_{};
  bool stepping_ = false;    // the span of the consumer's step is open
  bool epoch_over_ = false;  // the batch delivered last was the last of its epoch
  Place last_place_;
  std::optional<Error> failure_;
  bool stopped_ = false;
  std::uint64_t ready_calls_ = 0;
  std::uint64_t ready_sum_ = 0;
  PipelineStats stats_;
};

void ThreadedPipeline::TellFacts() {
  const PipelineOptions& options = shared_.options;
  const auto tell = [this](std::string_view key, const auto& value) {
    shared_.tracer.Fact(fmt::format("loader.{}.{}", shared_.options.trace.loader, key),
                        fmt::format("{}", value));
  };
  tell("kind", "penstock");
  tell("num_workers", crew_.threads());
  tell("prefetch_factor", options.prefetch);
  tell("batch_size", options.batch);
  tell("dataset_len", shared_.source.size());
  tell("in_order", 1);
  tell("drop_last", options.drop_last ? 1 : 0);
  tell("persistent_workers", 1);
}

Result<void> ThreadedPipeline::Begin() {
  const PipelineOptions& options = shared_.options;
  shared_.names.none = shared_.tracer.Name("");
  shared_.names.stages = {shared_.tracer.Name("read"), shared_.tracer.Name("decode"),
                          shared_.tracer.Name("augment")};
  tracer_ = &shared_.tracer.Thread("consumer", ThreadRole::kConsumer);
  tracer_->SetContext({});
  tracer_->Begin(StageId::kStartup, shared_.names.none);
  // If the consumer makes samples itself, it needs one slot more than it may hold, for the batch
  // that it makes.
  const unsigned slots = options.workers == 0 && !Crew::Staged(options)
                             ? options.held + 1
                             : options.prefetch + options.held;
  const std::size_t sample_bytes = shared_.program.format().bytes();
  if (options.device.device != nullptr) {
    auto device = DeviceStage::Make(shared_, slots);
    PENSTOCK_TRY(device);
    shared_.device = std::move(*device);
  }
  auto ring = BatchRing::Make(shared_.order, slots, sample_bytes,
                              shared_.device != nullptr ? shared_.device->ring_memory() : nullptr,
                              shared_.device != nullptr ? nullptr : options.memory);
  PENSTOCK_TRY(ring);
  shared_.ring = std::move(*ring);
  if (options.geometry) {
    if (Result<void> kept = shared_.ring->KeepGeometry(); !kept) return kept;
  }
  if (shared_.device != nullptr) {
    if (Result<void> started = shared_.device->Start(); !started) return started;
  }
  if (Result<void> made = MakeStandIns(shared_); !made) return made;
  if (options.workers == 0 && !Crew::Staged(options)) {
    Worker::Setup setup;
    setup.items = options.read_ahead;
    setup.name = "consumer";
    auto worker = Worker::Make(shared_, std::move(setup));
    PENSTOCK_TRY(worker);
    inline_worker_ = std::move(*worker);
    inline_worker_->Attach(*tracer_);
  } else if (Result<void> started = crew_.Start(shared_); !started) {
    return started;
  }
  if (shared_.tracer.on()) TellFacts();
  return {};
}

void ThreadedPipeline::LeaveStep() {
  if (stepping_) tracer_->End();
  stepping_ = false;
  if (epoch_over_) tracer_->Event(EventType::kEpochEnd, last_place_, last_place_.batch + 1);
  epoch_over_ = false;
}

void ThreadedPipeline::EnterNext(const BatchPlace& place) {
  const unsigned ready = shared_.ring->ReadyFrom(next_);
  ready_sum_ += ready;
  ready_calls_ += ready != 0 ? 1 : 0;
  if (!tracer_->on()) return;
  const Place at = PlaceOf(place);
  tracer_->SetContext(at);
  if (place.index == 0) {
    shared_.tracer.Fact(fmt::format("epoch.{}", at.generation),
                        fmt::format("{}", shared_.options.trace.loader));
    tracer_->Event(EventType::kEpochStart, at, static_cast<std::int64_t>(crew_.threads()));
  }
  tracer_->Event(EventType::kQueueDepth, at, ready);
  tracer_->Event(EventType::kNextEntered, at);
}

bool ThreadedPipeline::WaitFor(std::uint64_t number, std::chrono::nanoseconds limit) {
  BatchRing& ring = *shared_.ring;
  if (inline_worker_ == nullptr) {
    return limit == std::chrono::nanoseconds::max()
               ? ring.WaitReady(number, shared_.stop)
               : ring.WaitReadyFor(number, shared_.stop, limit);
  }
  inline_worker_->Resume();
  while (!ring.Filled(number) && inline_worker_->Step()) {
  }
  inline_worker_->Pause();
  return ring.Filled(number) && ring.WaitReady(number, shared_.stop);
}

Result<Batch> ThreadedPipeline::Next(std::chrono::nanoseconds limit, bool* waiting) {
  BatchRing& ring = *shared_.ring;
  if (waiting != nullptr) *waiting = false;
  LeaveStep();
  if (failure_) return tl::unexpected<Error>(*failure_);
  if ((shared_.stop.set() && !waiting_) || next_ >= shared_.order.batches()) return Batch{};
  if (ring.opened() <= next_) {
    return Fail(
        ErrorKind::kUsage,
        fmt::format("batch {} is still held, and its place is needed: release it before the next",
                    next_ - ring.slots()));
  }
  const BatchPlace place = shared_.order.At(next_);
  if (!waiting_) {
    EnterNext(place);
    waiting_since_ = SteadyNow();
    tracer_->Begin(StageId::kWait, shared_.names.none);
    waiting_ = true;
  }
  const bool there = WaitFor(next_, limit);
  if (!there && waiting != nullptr && !shared_.stop.set()) {
    *waiting = true;
    return Batch{};
  }
  waiting_ = false;
  // After a stop, not even a complete batch is delivered: synthetic costs may have been cut short,
  // and no replacement may have been tried for a sample that cannot be read.
  const bool ready = there && !shared_.stop.set();
  tracer_->SetContext(PlaceOf(place));  // an inline worker has changed the context
  if (!ready) {
    tracer_->Cancel();
    return Batch{};
  }
  tracer_->Event(EventType::kBatchGot, PlaceOf(place));
  tracer_->End();
  const TimeNs waited = SteadyNow() - waiting_since_;
  stats_.wait += waited;
  stats_.waits.Add(waited);
  if (starting_) tracer_->End();
  starting_ = false;
  BatchRing::Slot& slot = ring.Take(next_);
  if (slot.failure) {
    failure_ = std::move(slot.failure);
    ring.Release(slot);
    RequestStop();
    return tl::unexpected<Error>(*failure_);
  }
  ++next_;
  ++stats_.batches;
  stats_.samples += place.valid;
  last_place_ = PlaceOf(place);
  epoch_over_ = place.last;
  tracer_->Delivered(last_place_);
  tracer_->Begin(StageId::kStep, shared_.names.none);
  stepping_ = true;
  return Batch(&ring, &slot, shared_.order.After(place));
}

void ThreadedPipeline::RequestStop() {
  shared_.stop.Set();
  shared_.ring->WakeAll();
  crew_.WakeAll();
  if (shared_.device != nullptr) shared_.device->WakeAll();
}

// Adds the work of a thread to that of all.
void ThreadedPipeline::Count(const ThreadStats& thread, const IoStats& io) {
  for (std::size_t i = 0; i < kStages; ++i) stats_.stages[i].Merge(thread.stages[i]);
  stats_.pixels += thread.pixels;
  stats_.warnings += thread.warnings;
  stats_.worker_cpu += thread.cpu;
  stats_.io_bytes += io.bytes;
  stats_.io_reads += io.reads;
  stats_.io_cache_hits += io.cache_hits;
  stats_.io_direct_refused += io.direct_refused;
}

void ThreadedPipeline::Stop() {
  if (stopped_) return;
  stopped_ = true;
  if (tracer_ != nullptr) {
    LeaveStep();
    if (waiting_) tracer_->Cancel();
    if (starting_) tracer_->Cancel();
  }
  if (shared_.ring != nullptr) RequestStop();
  crew_.Join();
  if (shared_.device != nullptr) {
    shared_.device->Join();
    stats_.device = shared_.device->stats();
    Count(shared_.device->cpu_stats(), shared_.device->cpu_io());
  }
  std::vector<Worker*> workers;
  for (const auto& worker : crew_.workers()) workers.push_back(worker.get());
  if (inline_worker_ != nullptr) workers.push_back(inline_worker_.get());
  for (Worker* worker : workers) {
    worker->Collect();
    stats_.threads.push_back(worker->stats());
    stats_.batch_latency.Merge(worker->batch_latency());
    Count(worker->stats(), worker->io());
  }
  stats_.errors = shared_.errors.count();
  stats_.first_errors = shared_.errors.first();
  if (const auto calls = static_cast<double>(stats_.waits.count()); calls > 0) {
    stats_.ready_share = static_cast<double>(ready_calls_) / calls;
    stats_.mean_ready = static_cast<double>(ready_sum_) / calls;
  }
  if (shared_.ring != nullptr) {
    stats_.ring_bytes = shared_.ring->bytes();
    stats_.ring_batches = shared_.ring->slots();
  }
  if (tracer_ != nullptr) shared_.tracer.Leave(*tracer_);
}

}  // namespace

Result<std::unique_ptr<Pipeline>> Pipeline::Start(const Source& source,
                                                  const AugmentProgram& program,
                                                  const PipelineOptions& options, Tracer& tracer) {
  PENSTOCK_TRY(Check(options));
  const Result<SampleOrder> order = SampleOrder::Make(source.size(), options);
  PENSTOCK_TRY(order);
  auto pipeline = std::make_unique<ThreadedPipeline>(source, program, options, *order, tracer);
  PENSTOCK_TRY(pipeline->Begin());
  return std::unique_ptr<Pipeline>(std::move(pipeline));
}

}  // namespace penstock::loader
