// SPDX-License-Identifier: Apache-2.0
//
// The batches in flight. A slot goes FREE -> FILLING (any thread stores samples and counts them
// down) -> READY -> IN USE (by the consumer) -> FREE. Batch number b of the stream lives in slot
// b % slots. So batches are delivered in order, and producers that run ahead wait for the consumer
// (back-pressure). All memory is allocated at the start.
//
// Threads: Claim(), opened(), slot(), Complete() and Fail() from any; Take() and WaitReady() from
// one consumer; Release() from any.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include "loader/augment/sample_geometry.h"
#include "loader/pipeline/gate.h"
#include "loader/pipeline/order.h"
#include "loader/pipeline/stop.h"
#include "traces/base/result.h"
#include "traces/base/units.h"

namespace penstock::loader {

// Gives the memory of batches that may leave the ring. Thread-safe.
class BatchMemory {
 public:
  BatchMemory() = default;
  BatchMemory(const BatchMemory&) = delete;
  BatchMemory& operator=(const BatchMemory&) = delete;
  virtual ~BatchMemory() = default;
  // Returns `bytes` for the pixels of one batch, aligned to 64; nullptr if there is no memory.
  virtual std::byte* Get(std::size_t bytes) = 0;
  virtual void Put(std::byte* memory) = 0;
};

class BatchRing {
 public:
  enum class State : std::uint8_t { kFree, kFilling, kReady, kInUse };

  struct alignas(64) Slot {
    std::atomic<std::uint64_t> remaining{0};  // release by producers, acquire by the last of them
    std::atomic<State> state{State::kFree};   // kReady: release by the last producer
    std::atomic<std::int64_t> begun{0};       // ns; relaxed, ordered by `remaining`
    std::uint64_t number = 0;                 // of the batch, in the stream
    BatchPlace place;
    std::byte* pixels = nullptr;
    std::byte* device = nullptr;  // the batch in a device's memory
    std::vector<std::int64_t> labels;
    std::vector<std::uint64_t> ids;        // dataset index that each sample is made of
    std::vector<SampleGeometry> geometry;  // of each sample; empty unless KeepGeometry()
    // The first sample of the batch that cannot be made; guarded by failures_.
    std::uint64_t failed_at = 0;
    std::optional<Error> failure;
  };

  // Bytes from one batch to the next.
  [[nodiscard]] static constexpr std::size_t BatchBytes(std::size_t samples, std::size_t bytes) {
    return (samples * bytes + kAlignment - 1) / kAlignment * kAlignment;
  }
  // `memory`: slots * BatchBytes() bytes that outlive the ring; nullptr: the ring has its own.
  // `lender`: if given, provides the memory of each slot, and outlives the ring.
  // Errors: kEnvironment if the memory is not there.
  static Result<std::unique_ptr<BatchRing>> Make(const SampleOrder& order, unsigned slots,
                                                 std::size_t sample_bytes,
                                                 std::byte* memory = nullptr,
                                                 BatchMemory* lender = nullptr);
  ~BatchRing();
  // Makes room for the geometry of each sample. Call this before the first sample. Errors:
  // kEnvironment if the memory is not there.
  Result<void> KeepGeometry();
  BatchRing(const BatchRing&) = delete;
  BatchRing& operator=(const BatchRing&) = delete;

  // Claims the next place to fill, as a running number over all batches of batch_size() places.
  // Places beyond a batch's valid samples or the stream's end stay empty. Cost: one atomic
  // addition.
  std::uint64_t Claim() { return next_.fetch_add(1, std::memory_order_relaxed); }
  // Batches below this number may be filled (acquire: their slots are set up).
  [[nodiscard]] std::uint64_t opened() const { return opened_.load(std::memory_order_acquire); }
  // Waits until batch `number` may be filled. False if the pipeline was stopped before.
  bool WaitOpen(std::uint64_t number, const StopFlag& stop);

  [[nodiscard]] Slot& slot(std::uint64_t number) { return slots_[number % slots_.size()]; }
  [[nodiscard]] std::span<std::byte> Sample(Slot& slot, std::uint64_t index) {
    return {slot.pixels + index * sample_bytes_, sample_bytes_};
  }
  // Counts one more finished sample of the slot's batch. True for the last one: then call
  // Publish().
  static bool Complete(Slot& slot) {
    return slot.remaining.fetch_sub(1, std::memory_order_acq_rel) == 1;
  }
  // Makes the batch READY and wakes the consumer.
  void Publish(Slot& slot);
  // Notes that neither this sample nor a replacement could be made. Call Complete() for it too.
  void Fail(Slot& slot, std::uint64_t index, Error error);

  [[nodiscard]] bool Ready(std::uint64_t number) {
    Slot& found = slot(number);
    return found.state.load(std::memory_order_acquire) == State::kReady && number < opened();
  }
  // Waits until batch `number` is ready. False if the pipeline was stopped before.
  bool WaitReady(std::uint64_t number, const StopFlag& stop);
  // As above, but waits for at most `limit`. False also after that.
  bool WaitReadyFor(std::uint64_t number, const StopFlag& stop, std::chrono::nanoseconds limit);
  // Number of batches that are ready, from `number` on.
  [[nodiscard]] unsigned ReadyFrom(std::uint64_t number);
  // Takes a batch: READY -> IN USE.
  Slot& Take(std::uint64_t number);
  // Takes the pixels out of a slot IN USE and puts fresh memory there. nullptr if there is no fresh
  // memory, or the ring has no lender. The returned memory must go back to the lender in the end.
  std::byte* Detach(Slot& slot);
  // Gives a batch back: IN USE -> FREE. Opens the batches for which there is room.
  void Release(Slot& slot);
  // Wakes all threads that wait here, after the stop flag was set. Async-signal-safe.
  void WakeAll();

  [[nodiscard]] unsigned slots() const { return static_cast<unsigned>(slots_.size()); }
  [[nodiscard]] std::size_t bytes() const { return bytes_; }
  [[nodiscard]] std::size_t sample_bytes() const { return sample_bytes_; }

  // Whether every sample of batch `number` is done, even if the batch is not ready.
  [[nodiscard]] bool Filled(std::uint64_t number) {
    return number < opened() && slot(number).remaining.load(std::memory_order_acquire) == 0;
  }

 private:
  static constexpr std::size_t kAlignment = 64;

  BatchRing(const SampleOrder& order, unsigned slots, std::size_t sample_bytes);
  void OpenFree();

  const SampleOrder order_;
  const std::size_t sample_bytes_;
  std::size_t bytes_ = 0;
  void* memory_ = nullptr;
  BatchMemory* lender_ = nullptr;
  std::vector<Slot> slots_;

  alignas(64) std::atomic<std::uint64_t> next_{0};
  alignas(64) std::atomic<std::uint64_t> opened_{0};
  Gate open_gate_;
  alignas(64) Gate ready_gate_;
  std::mutex releases_;
  std::mutex failures_;
};

}  // namespace penstock::loader
