// SPDX-License-Identifier: Apache-2.0
//
// Tests of forked children that go on recording, are killed, or find no slot.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <thread>
#include <vector>

#include "agent/core/process.h"
#include "agent/core/recorder.h"
#include "agent/core/thread_state.h"
#include "tests/agent/core_driver/ring.h"
#include "traces/wire.h"

namespace penstock::agent::driver {
namespace {

void Reap(Ring& ring, pid_t child) {
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  ring.NoteDead(static_cast<std::uint32_t>(child));
}

// Threads record and fork; each child goes on with the parent's state and ends by _exit().
TEST(CoreProcessesTest, ChildrenOfThreadsThatRecordLoseNothing) {
  Ring ring(128);
  ring.StartDraining(200);
  constexpr int kThreads = 4;
  constexpr int kChildren = 8;
  constexpr std::uint64_t kEach = kRecordsOfChunk + 100;
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&ring, t] {
      for (int c = 0; c < kChildren; ++c) {
        const std::int64_t writer = t * 100 + c * 2;
        const Token open = Begin(wire::kAugment, 0, __builtin_frame_address(0), false);
        for (std::uint64_t n = 0; n < kEach; ++n) WriteSpan(writer, n);
        const pid_t child = fork();
        if (child == 0) {
          for (std::uint64_t n = 0; n < kEach; ++n) WriteSpan(writer + 1, n);
          End(open, 0, 0, 0);  // the span belongs to the parent, so the child records nothing
          _exit(0);
        }
        End(open, 0, 0, 0);
        Reap(ring, child);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  const std::uint64_t dropped = ring.Dropped();
  const Taken& taken = ring.StopDraining();
  EXPECT_EQ(taken.twice, 0u);
  EXPECT_EQ(taken.wrong, 0u);
  EXPECT_EQ(taken.losses.damaged_records, 0u);
  EXPECT_EQ(taken.count + dropped, std::uint64_t{kThreads} * kChildren * 2 * kEach);
  EXPECT_EQ(ring.ChunksInUse(), 0u);
}

// All spans that a killed child had finished are in the ring.
TEST(CoreProcessesTest, AKilledChildLeavesWhatItFinished) {
  Ring ring(64);
  ring.StartDraining(200);
  constexpr int kChildren = 24;
  auto* done = static_cast<std::atomic<std::uint64_t>*>(
      mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
  ASSERT_NE(done, MAP_FAILED);
  for (int c = 0; c < kChildren; ++c) {
    const pid_t child = fork();
    if (child == 0) {
      for (std::uint64_t n = 0;; ++n) {
        WriteSpan(c, n);
        done[c].store(n + 1, std::memory_order_release);
      }
    }
    while (done[c].load(std::memory_order_acquire) < 100 + 400 * static_cast<unsigned>(c)) {
      usleep(20);
    }
    kill(child, SIGKILL);
    Reap(ring, child);
  }
  const std::uint64_t dropped = ring.Dropped();
  const Taken& taken = ring.StopDraining();
  EXPECT_EQ(taken.twice, 0u);
  EXPECT_EQ(taken.wrong, 0u);
  EXPECT_EQ(taken.losses.damaged_records, 0u);
  std::uint64_t finished = 0;
  for (int c = 0; c < kChildren; ++c) finished += done[c].load();
  // Each child may have been killed after it had finished a span and before it counted that span.
  EXPECT_GE(taken.count + dropped, finished);
  EXPECT_LE(taken.count + dropped, finished + kChildren);
  munmap(done, 4096);
}

// There are more processes than slots. Events of a process without a slot are counted.
TEST(CoreProcessesTest, WhatAProcessWithoutASlotWritesIsCounted) {
  Ring ring(64);
  for (std::uint32_t i = 1; i < wire::kMaxProcesses; ++i) {
    wire::ProcessSlot& slot = g_header->processes[i];
    __atomic_store_n(&slot.state, std::uint32_t{wire::kProcessLive}, __ATOMIC_RELEASE);
  }
  ring.StartDraining(200);
  const pid_t child = fork();
  if (child == 0) {
    for (std::uint64_t n = 0; n < 1000; ++n) WriteSpan(1, n);
    End(Begin(wire::kDecode, 0, __builtin_frame_address(0), false), 0, 0, 0);
    AddHooked(1);
    SetFeature(wire::kFeaturePython);
    _exit(0);
  }
  Reap(ring, child);
  const std::uint64_t dropped = ring.Dropped();
  const Taken& taken = ring.StopDraining();
  EXPECT_EQ(taken.count, 0u);
  EXPECT_EQ(dropped, 1001u);
  EXPECT_EQ(taken.losses.dropped_events, dropped);
}

}  // namespace
}  // namespace penstock::agent::driver
