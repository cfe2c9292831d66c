// SPDX-License-Identifier: Apache-2.0
//
// The reference pipeline: one process with threads. Each task makes one sample, directly in its
// place in a ring of batches, and batches are delivered in order. What is delivered is a function
// of the source, the seed and the options of order, decoding, augmentation and device. It does not
// depend on threads, batch size, ranks, the I/O method or where a run was resumed.
//
// Threads: Next() from one consumer; RequestStop() from any thread and from signal handlers; a
// Batch may be released on another thread. Source, program and tracer must outlive the pipeline,
// and the pipeline must outlive its batches.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "loader/augment/program.h"
#include "loader/pipeline/options.h"
#include "loader/pipeline/ring.h"
#include "loader/pipeline/stats.h"
#include "loader/source/source.h"
#include "loader/trace/tracer.h"
#include "traces/base/result.h"

namespace penstock::loader {

// A batch that the consumer holds. Its destructor gives its slot in the ring back. Only operator
// bool and Release() may be called for an empty batch.
class Batch {
 public:
  Batch() = default;
  Batch(BatchRing* ring, BatchRing::Slot* slot, StreamPosition next)
      : ring_(ring), slot_(slot), next_(next) {}
  Batch(Batch&& other) noexcept { *this = std::move(other); }
  Batch& operator=(Batch&& other) noexcept {
    std::swap(ring_, other.ring_);
    std::swap(slot_, other.slot_);
    std::swap(next_, other.next_);
    return *this;
  }
  Batch(const Batch&) = delete;
  Batch& operator=(const Batch&) = delete;
  ~Batch() { Release(); }

  // Takes the pixels out of the ring. They stay valid after Release() and the pipeline's end, and
  // must go back to PipelineOptions::memory. Afterwards pixels() of the batch is other memory.
  // nullptr if PipelineOptions::memory is not set or has none left.
  [[nodiscard]] std::byte* Detach() { return ring_->Detach(*slot_); }

  // False if the stream has ended or was stopped.
  explicit operator bool() const { return slot_ != nullptr; }
  void Release() {
    if (slot_ != nullptr) ring_->Release(*slot_);
    slot_ = nullptr;
  }

  [[nodiscard]] std::size_t size() const { return slot_->place.valid; }
  [[nodiscard]] std::uint64_t epoch() const { return slot_->place.epoch; }
  // The number of the batch in its epoch, and in the whole stream.
  [[nodiscard]] std::uint64_t index() const { return slot_->place.index; }
  [[nodiscard]] std::uint64_t number() const { return slot_->number; }
  [[nodiscard]] bool last_of_epoch() const { return slot_->place.last; }
  // Where to resume after this batch.
  [[nodiscard]] StreamPosition next() const { return next_; }
  // Shapes: [size][channels, height and width as the program's format() says], without gaps.
  [[nodiscard]] std::span<const std::byte> pixels() const {
    return {slot_->pixels, size() * ring_->sample_bytes()};
  }
  // The complete pixels in the memory of the device; nullptr without a device. With one, pixels()
  // and sample() have the pixels only if they were made on the CPU, or fetched.
  [[nodiscard]] std::byte* on_device() const { return slot_->device; }
  [[nodiscard]] std::span<const std::byte> sample(std::size_t i) const {
    return {slot_->pixels + i * ring_->sample_bytes(), ring_->sample_bytes()};
  }
  [[nodiscard]] std::span<const std::int64_t> labels() const {
    return {slot_->labels.data(), size()};
  }
  // Dataset indices of the samples. For a replaced sample it is that of its replacement.
  [[nodiscard]] std::span<const std::uint64_t> ids() const { return {slot_->ids.data(), size()}; }
  // What became of each picture. Requires: PipelineOptions::geometry.
  [[nodiscard]] std::span<const SampleGeometry> geometry() const {
    return {slot_->geometry.data(), size()};
  }

 private:
  BatchRing* ring_ = nullptr;
  BatchRing::Slot* slot_ = nullptr;
  StreamPosition next_;
};

class Pipeline {
 public:
  // Starts the threads. Errors: kUsage for options that contradict each other, kInput for an empty
  // source, kEnvironment for memory, threads or an I/O method that are not there.
  static Result<std::unique_ptr<Pipeline>> Start(const Source& source,
                                                 const AugmentProgram& program,
                                                 const PipelineOptions& options, Tracer& tracer);
  virtual ~Pipeline() = default;  // stops the threads

  // Returns the next batch in order; an empty one after the last, and after RequestStop().
  // Requires: fewer than options.held batches are held, and none of them has the slot that the next
  // one needs.
  // Errors: that of the first sample in the stream that could not be made. The batches before it
  // were delivered, and no more follow. kUsage if the next batch needs the slot
  // of a batch that is held.
  virtual Result<Batch> Next() = 0;
  // As above, but waits for about `limit` at most. After that *waiting is true, the batch is empty,
  // and the next call goes on waiting. A consumer that makes samples itself makes the whole batch,
  // whatever the limit.
  virtual Result<Batch> Next(std::chrono::nanoseconds limit, bool* waiting) = 0;
  // Says that the consumer's step has ended although Next() is not called yet, for example at the
  // end of an epoch.
  virtual void EndStep() = 0;
  // The number of samples replaced so far. Any thread.
  [[nodiscard]] virtual std::uint64_t errors() const = 0;
  [[nodiscard]] virtual std::vector<SampleError> first_errors() const = 0;
  // Asks all threads to stop. Each ends its current work, synthetic work at once.
  virtual void RequestStop() = 0;
  // Stops and joins the threads, after which stats() may be called.
  virtual void Stop() = 0;
  // Requires: Stop().
  [[nodiscard]] virtual const PipelineStats& stats() const = 0;
  // Batches and samples of one epoch of this rank.
  [[nodiscard]] virtual const SampleOrder& order() const = 0;
};

}  // namespace penstock::loader
