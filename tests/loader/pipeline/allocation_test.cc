// SPDX-License-Identifier: Apache-2.0
//
// Steady state allocates nothing: this program counts the calls of operator new.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <new>

#include "tests/loader/pipeline/support.h"

namespace {

std::atomic<std::uint64_t> allocations{0};

void* Counted(std::size_t size, std::size_t alignment) {
  allocations.fetch_add(1, std::memory_order_relaxed);
  void* memory = nullptr;
  if (posix_memalign(&memory, alignment < sizeof(void*) ? sizeof(void*) : alignment,
                     size == 0 ? 1 : size) != 0) {
    throw std::bad_alloc();
  }
  return memory;
}

// Not inline: else gcc takes free() for the wrong partner of operator new, and warns.
[[gnu::noinline]] void Freed(void* memory) {
  std::free(memory);
}

}  // namespace

void* operator new(std::size_t size) {
  return Counted(size, alignof(std::max_align_t));
}
void* operator new[](std::size_t size) {
  return Counted(size, alignof(std::max_align_t));
}
void* operator new(std::size_t size, std::align_val_t alignment) {
  return Counted(size, static_cast<std::size_t>(alignment));
}
void* operator new[](std::size_t size, std::align_val_t alignment) {
  return Counted(size, static_cast<std::size_t>(alignment));
}
void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
  return Counted(size, alignof(std::max_align_t));
}
void* operator new[](std::size_t size, const std::nothrow_t&) noexcept {
  return Counted(size, alignof(std::max_align_t));
}
void* operator new(std::size_t size, std::align_val_t alignment, const std::nothrow_t&) noexcept {
  return Counted(size, static_cast<std::size_t>(alignment));
}
void* operator new[](std::size_t size, std::align_val_t alignment, const std::nothrow_t&) noexcept {
  return Counted(size, static_cast<std::size_t>(alignment));
}
// Not inline: else gcc sees free() called on memory of `new`, and warns.
[[gnu::noinline]] void operator delete(void* memory) noexcept {
  Freed(memory);
}
[[gnu::noinline]] void operator delete[](void* memory) noexcept {
  Freed(memory);
}
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept {
  Freed(memory);
}
[[gnu::noinline]] void operator delete[](void* memory, std::size_t) noexcept {
  Freed(memory);
}
[[gnu::noinline]] void operator delete(void* memory, std::align_val_t) noexcept {
  Freed(memory);
}
[[gnu::noinline]] void operator delete[](void* memory, std::align_val_t) noexcept {
  Freed(memory);
}
[[gnu::noinline]] void operator delete(void* memory, std::size_t, std::align_val_t) noexcept {
  Freed(memory);
}
[[gnu::noinline]] void operator delete[](void* memory, std::size_t, std::align_val_t) noexcept {
  Freed(memory);
}

namespace penstock::loader {

std::uint64_t test::AllocationsInSteadyState(const Source& source, const PipelineOptions& options,
                                             const AugmentProgram& program) {
  const std::unique_ptr<Tracer> tracer = NoTracer();
  auto pipeline = Pipeline::Start(source, program, options, *tracer);
  if (!pipeline) {
    ADD_FAILURE() << pipeline.error().message;
    return 0;
  }
  std::uint64_t before = 0;
  for (;;) {
    Result<Batch> batch = (*pipeline)->Next();
    if (!batch) {
      ADD_FAILURE() << batch.error().message;
      return 0;
    }
    if (*batch && batch->epoch() < options.epochs / 2) before = allocations.load();
    if (!*batch) return allocations.load() - before;
  }
}

namespace {

TEST(AllocationTest, CountsAllocations) {
  const std::uint64_t before = allocations.load();
  const std::unique_ptr<Tracer> tracer = NoTracer();
  EXPECT_GT(allocations.load(), before);
}

TEST(AllocationTest, SteadyStateOfThreadsAllocatesNothing) {
  const test::DoubleSource source(200);
  const AugmentProgram program = test::Program();
  for (const unsigned workers : {0u, 1u, 3u}) {
    for (const unsigned augmenters : {0u, 2u}) {
      if (workers == 0 && augmenters != 0) continue;
      PipelineOptions options = test::Synthetic(workers, 16);
      options.augment.threads = augmenters;
      options.read_ahead = 3;
      options.epochs = 8;
      // A thread that the machine starts only in the second half of a run allocates its buffers
      // there, so the least of several runs counts. Code that allocates for each sample or batch
      // does so in every run.
      std::uint64_t least = test::AllocationsInSteadyState(source, options, program);
      for (int run = 1; run < 8 && least != 0; ++run) {
        least = std::min(least, test::AllocationsInSteadyState(source, options, program));
      }
      EXPECT_EQ(least, 0u) << workers;
    }
  }
}

}  // namespace
}  // namespace penstock::loader
