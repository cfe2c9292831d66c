// SPDX-License-Identifier: Apache-2.0
#include "loader/pipeline/ring.h"

#include <sys/mman.h>
#include <unistd.h>

#include <limits>
#include <new>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>

namespace penstock::loader {

BatchRing::BatchRing(const SampleOrder& order, unsigned slots, std::size_t sample_bytes)
    : order_(order), sample_bytes_(sample_bytes), slots_(slots) {}

Result<std::unique_ptr<BatchRing>> BatchRing::Make(const SampleOrder& order, unsigned slots,
                                                   std::size_t sample_bytes, std::byte* memory,
                                                   BatchMemory* lender) {
  const std::uint64_t batch = order.batch_size();
  const auto refuse = [&] {
    return penstock::Fail(
        ErrorKind::kEnvironment,
        fmt::format("no memory for {} batches of {} samples of {} bytes: lower --prefetch or "
                    "--batch",
                    slots, batch, sample_bytes));
  };
  std::size_t batch_bytes = 0;
  std::size_t bytes = 0;
  if (__builtin_mul_overflow(batch, sample_bytes, &batch_bytes) ||
      __builtin_add_overflow(batch_bytes, kAlignment - 1, &batch_bytes) ||
      __builtin_mul_overflow(batch_bytes / kAlignment * kAlignment, std::size_t{slots}, &bytes)) {
    return refuse();
  }
  batch_bytes = batch_bytes / kAlignment * kAlignment;
  // A kernel that overcommits would grant this much memory and kill the process later.
  const double lists = static_cast<double>(slots) * static_cast<double>(batch) * 16;
  const double all =
      static_cast<double>(sysconf(_SC_PHYS_PAGES)) * static_cast<double>(sysconf(_SC_PAGESIZE));
  if (static_cast<double>(bytes) + lists > all) return refuse();
  std::unique_ptr<BatchRing> ring;
  try {
    ring.reset(new BatchRing(order, slots, sample_bytes));
    for (Slot& slot : ring->slots_) {
      slot.labels.resize(batch);
      slot.ids.resize(batch);
    }
  } catch (const std::bad_alloc&) {
    return refuse();
  } catch (const std::length_error&) {
    return refuse();
  }
  ring->bytes_ = bytes;
  if (lender != nullptr) {
    ring->lender_ = lender;
    for (Slot& slot : ring->slots_) {
      slot.pixels = lender->Get(batch_bytes);
      if (slot.pixels == nullptr) return refuse();
    }
    ring->OpenFree();
    return ring;
  }
  if (bytes != 0 && memory == nullptr) {
    void* mapped = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (mapped == MAP_FAILED) return refuse();
    madvise(mapped, bytes, MADV_HUGEPAGE);
    ring->memory_ = mapped;
    memory = static_cast<std::byte*>(mapped);
  }
  for (std::size_t i = 0; i < ring->slots_.size(); ++i) {
    ring->slots_[i].pixels = memory + i * batch_bytes;
  }
  ring->OpenFree();
  return ring;
}

BatchRing::~BatchRing() {
  if (lender_ != nullptr) {
    for (const Slot& slot : slots_) {
      if (slot.pixels != nullptr) lender_->Put(slot.pixels);
    }
  }
  if (memory_ != nullptr) munmap(memory_, bytes_);
}

Result<void> BatchRing::KeepGeometry() {
  try {
    for (Slot& slot : slots_) slot.geometry.resize(slot.labels.size());
  } catch (const std::bad_alloc&) {
    return penstock::Fail(
        ErrorKind::kEnvironment,
        fmt::format("no memory for the geometry of {} batches of {} samples: lower prefetch or "
                    "batch",
                    slots_.size(), order_.batch_size()));
  }
  return {};
}

void BatchRing::OpenFree() {
  std::uint64_t number = opened_.load(std::memory_order_relaxed);
  for (; number < order_.batches(); ++number) {
    Slot& free = slot(number);
    if (free.state.load(std::memory_order_relaxed) != State::kFree) break;
    free.number = number;
    free.place = order_.At(number);
    free.remaining.store(free.place.valid, std::memory_order_relaxed);
    free.failure.reset();
    free.state.store(State::kFilling, std::memory_order_relaxed);
    opened_.store(number + 1, std::memory_order_release);
  }
  open_gate_.Wake();
}

bool BatchRing::WaitOpen(std::uint64_t number, const StopFlag& stop) {
  open_gate_.Wait([&] { return opened() > number || stop.set(); });
  return opened() > number;
}

void BatchRing::Publish(Slot& slot) {
  slot.state.store(State::kReady, std::memory_order_release);
  ready_gate_.Wake();
}

void BatchRing::Fail(Slot& slot, std::uint64_t index, Error error) {
  const std::lock_guard lock(failures_);
  if (slot.failure && slot.failed_at <= index) return;
  slot.failed_at = index;
  slot.failure = std::move(error);
}

bool BatchRing::WaitReady(std::uint64_t number, const StopFlag& stop) {
  ready_gate_.Wait([&] { return Ready(number) || stop.set(); });
  return Ready(number);
}

bool BatchRing::WaitReadyFor(std::uint64_t number, const StopFlag& stop,
                             std::chrono::nanoseconds limit) {
  ready_gate_.WaitFor(limit, [&] { return Ready(number) || stop.set(); });
  return Ready(number);
}

unsigned BatchRing::ReadyFrom(std::uint64_t number) {
  unsigned ready = 0;
  while (ready < slots() && Ready(number + ready)) {
    ++ready;
  }
  return ready;
}

BatchRing::Slot& BatchRing::Take(std::uint64_t number) {
  Slot& taken = slot(number);
  taken.state.store(State::kInUse, std::memory_order_relaxed);
  return taken;
}

std::byte* BatchRing::Detach(Slot& slot) {
  std::byte* const fresh =
      lender_ == nullptr ? nullptr : lender_->Get(BatchBytes(slot.labels.size(), sample_bytes_));
  return fresh == nullptr ? nullptr : std::exchange(slot.pixels, fresh);
}

void BatchRing::Release(Slot& slot) {
  const std::lock_guard lock(releases_);
  slot.state.store(State::kFree, std::memory_order_relaxed);
  OpenFree();
}

void BatchRing::WakeAll() {
  open_gate_.Wake();
  ready_gate_.Wake();
}

}  // namespace penstock::loader
