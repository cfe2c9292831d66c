// SPDX-License-Identifier: Apache-2.0
//
// Signal handlers record while they interrupt the core at any instruction. If they interrupt it in
// the middle of a record, their own events are counted as dropped.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/time.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdint>
#include <thread>
#include <vector>

#include "agent/core/recorder.h"
#include "agent/core/thread_state.h"
#include "tests/agent/core_driver/ring.h"
#include "traces/wire.h"

namespace penstock::agent::driver {
namespace {

// A handler writes as the writer with the number kHandlers + the number of the interrupted thread.
constexpr std::int64_t kHandlers = 1000;

std::atomic<std::uint64_t> g_in_handlers{0};
std::atomic<std::uint64_t> g_spoiled{0};  // handlers in which errno was changed
thread_local std::uint64_t t_number = 0;
thread_local std::int64_t t_writer = -1;

void Handle(int /*signal*/) {
  if (t_writer < 0) return;  // this thread does not record
  const int saved = errno;
  errno = 4711;
  WriteSpan(kHandlers + t_writer, t_number++);
  g_in_handlers.fetch_add(1, std::memory_order_relaxed);
  if (errno != 4711) g_spoiled.fetch_add(1, std::memory_order_relaxed);
  errno = saved;
}

// A timer that sends a signal to the process every 300 us, as profilers do. The drain and the main
// thread block this signal.
class Storm {
 public:
  Storm() {
    struct sigaction action = {};
    action.sa_handler = Handle;
    action.sa_flags = SA_RESTART;
    sigaction(SIGALRM, &action, nullptr);
    const itimerval often = {{0, 300}, {0, 300}};
    setitimer(ITIMER_REAL, &often, nullptr);
  }
  ~Storm() {
    const itimerval never = {};
    setitimer(ITIMER_REAL, &never, nullptr);
    signal(SIGALRM, SIG_IGN);
  }
};

void Block(int how) {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGALRM);
  pthread_sigmask(how, &set, nullptr);
}

TEST(CoreSignalsTest, EverySpanOfHandlersAndOfWhatTheyInterruptIsTakenOrCounted) {
  Block(SIG_BLOCK);
  Ring ring(256);
  ring.StartDraining(200);
  constexpr std::uint64_t kWriters = 4;
  constexpr std::uint64_t kEach = 30000;
  g_in_handlers = 0;
  {
    const Storm storm;
    std::vector<std::thread> threads;
    for (std::uint64_t w = 0; w < kWriters; ++w) {
      threads.emplace_back([w] {
        t_number = 0;
        t_writer = static_cast<std::int64_t>(w);
        Block(SIG_UNBLOCK);
        for (std::uint64_t n = 0; n < kEach; ++n) {
          WriteSpan(static_cast<std::int64_t>(w), n);
          if (n % 64 == 0) {
            End(Begin(wire::kAugment, 0, __builtin_frame_address(0), true), 0, 0, 0);
            Intern(reinterpret_cast<const char*>(&n), sizeof n);
          }
        }
        Block(SIG_BLOCK);
      });
    }
    for (std::thread& thread : threads) thread.join();
  }
  const std::uint64_t dropped = ring.Dropped();
  const Taken& taken = ring.StopDraining();
  EXPECT_GT(g_in_handlers.load(), 0u);
  EXPECT_EQ(g_spoiled.load(), 0u);
  EXPECT_EQ(taken.twice, 0u);
  EXPECT_EQ(taken.wrong, 0u);
  EXPECT_EQ(taken.losses.damaged_records, 0u);
  EXPECT_EQ(taken.count + dropped, kWriters * kEach + g_in_handlers.load());
}

// The first event of a thread attaches the thread. A signal handler may interrupt this.
TEST(CoreSignalsTest, ThreadsThatBeginInAStormAreWhole) {
  Block(SIG_BLOCK);
  Ring ring(256);
  ring.StartDraining(100);
  constexpr std::uint64_t kWriters = 400;
  g_in_handlers = 0;
  {
    const Storm storm;
    for (std::uint64_t w = 0; w < kWriters; w += 8) {
      std::vector<std::thread> threads;
      for (std::uint64_t i = w; i < w + 8; ++i) {
        threads.emplace_back([i] {
          t_number = 0;
          t_writer = static_cast<std::int64_t>(i);
          Block(SIG_UNBLOCK);
          for (std::uint64_t n = 0; n < 50; ++n) WriteSpan(static_cast<std::int64_t>(i), n);
          Block(SIG_BLOCK);
        });
      }
      for (std::thread& thread : threads) thread.join();
    }
  }
  const std::uint64_t dropped = ring.Dropped();
  const Taken& taken = ring.StopDraining();
  EXPECT_EQ(g_spoiled.load(), 0u);
  EXPECT_EQ(taken.twice, 0u);
  EXPECT_EQ(taken.wrong, 0u);
  EXPECT_EQ(taken.losses.damaged_records, 0u);
  EXPECT_EQ(taken.count + dropped, kWriters * 50 + g_in_handlers.load());
  EXPECT_EQ(ring.ChunksInUse(), 0u);
}

}  // namespace
}  // namespace penstock::agent::driver
