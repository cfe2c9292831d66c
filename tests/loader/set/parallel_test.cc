// SPDX-License-Identifier: Apache-2.0
#include "loader/set/parallel.h"

#include <gtest/gtest.h>
#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "loader/set/progress_bar.h"

namespace penstock::loader {
namespace {

constexpr std::uint64_t kNever = ~std::uint64_t{0};

// Returns its index as one byte. Some pieces take longer, so that they are ready out of order.
class Echo : public OrderedWorker {
 public:
  Echo(std::uint64_t bad, std::atomic<int>& made) : bad_(bad), made_(made) {}
  Result<Piece> Make(std::uint64_t index) override {
    if (index % 3 == 0) std::this_thread::yield();
    ++made_;
    if (index >= bad_) return Fail(ErrorKind::kInput, "piece " + std::to_string(index));
    return Piece{{static_cast<std::byte>(index)}, false, {}};
  }

 private:
  std::uint64_t bad_;
  std::atomic<int>& made_;
};

std::vector<std::unique_ptr<OrderedWorker>> Echoes(unsigned count, std::uint64_t bad,
                                                   std::atomic<int>& made) {
  std::vector<std::unique_ptr<OrderedWorker>> workers;
  for (unsigned i = 0; i < count; ++i) workers.push_back(std::make_unique<Echo>(bad, made));
  return workers;
}

TEST(RunOrderedTest, TakesPiecesInOrderForAnyNumberOfWorkers) {
  for (const unsigned workers : {1u, 2u, 7u}) {
    std::atomic<int> made{0};
    std::vector<int> taken;
    const auto done = RunOrdered(200, Echoes(workers, kNever, made), {},
                                 [&](std::uint64_t index, const Piece& piece) {
                                   EXPECT_EQ(piece.bytes.front(), static_cast<std::byte>(index));
                                   taken.push_back(static_cast<int>(index));
                                   return Result<void>();
                                 });
    ASSERT_TRUE(done);
    ASSERT_EQ(taken.size(), 200u);
    EXPECT_TRUE(std::is_sorted(taken.begin(), taken.end()));
  }
}

TEST(RunOrderedTest, ReportsTheFirstPieceThatFailedAndStops) {
  std::atomic<int> made{0};
  std::uint64_t taken = 0;
  const auto done = RunOrdered(1000, Echoes(3, 40, made), {}, [&](std::uint64_t, const Piece&) {
    ++taken;
    return Result<void>();
  });
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().message, "piece 40");
  EXPECT_EQ(taken, 40u);
  EXPECT_LT(made, 60);  // after piece 40 at most the 12 pieces of the ring are made
}

TEST(RunOrderedTest, ReportsTheTakersError) {
  std::atomic<int> made{0};
  const auto done =
      RunOrdered(1000, Echoes(2, kNever, made), {}, [&](std::uint64_t index, const Piece&) {
        return index == 5 ? Result<void>(Fail(ErrorKind::kOutput, "full")) : Result<void>();
      });
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().message, "full");
  EXPECT_LT(made, 20);
}

// Has no memory for one of its pieces.
class Exhausted : public OrderedWorker {
 public:
  Result<Piece> Make(std::uint64_t index) override {
    if (index == 7) throw std::bad_alloc();
    return Piece{};
  }
};

TEST(RunOrderedTest, ExceptionOfAWorkerIsAnError) {
  for (const unsigned count : {1u, 3u}) {
    std::vector<std::unique_ptr<OrderedWorker>> workers;
    for (unsigned i = 0; i < count; ++i) workers.push_back(std::make_unique<Exhausted>());
    std::uint64_t taken = 0;
    const auto done = RunOrdered(1000, workers, {}, [&](std::uint64_t, const Piece&) {
      ++taken;
      return Result<void>();
    });
    ASSERT_FALSE(done);
    EXPECT_EQ(done.error().kind, ErrorKind::kEnvironment);
    EXPECT_EQ(taken, 7u);
  }
}

TEST(RunOrderedTest, ExceptionOfTheTakerIsAnError) {
  std::atomic<int> made{0};
  const auto done = RunOrdered(1000, Echoes(3, kNever, made), {},
                               [&](std::uint64_t index, const Piece&) -> Result<void> {
                                 if (index == 5) throw std::bad_alloc();
                                 return {};
                               });
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().kind, ErrorKind::kEnvironment);
}

// While such an object exists, no thread can be started: its stack would not fit into the address
// space. (A limit on the number of threads would not bind root.)
class NoMoreThreads {
 public:
  NoMoreThreads() {
    pthread_getattr_default_np(&before_);
    pthread_attr_t huge;
    pthread_attr_init(&huge);
    pthread_attr_setstacksize(&huge, std::size_t{1} << 60);
    pthread_setattr_default_np(&huge);
    pthread_attr_destroy(&huge);
  }
  ~NoMoreThreads() {
    pthread_setattr_default_np(&before_);
    pthread_attr_destroy(&before_);
  }
  NoMoreThreads(const NoMoreThreads&) = delete;
  NoMoreThreads& operator=(const NoMoreThreads&) = delete;

 private:
  pthread_attr_t before_{};
};

TEST(RunOrderedTest, ThreadThatCannotStartEndsItBeforeTheWork) {
  std::atomic<int> made{0};
  const NoMoreThreads no_more;
  const auto done = RunOrdered(1000, Echoes(3, kNever, made), {},
                               [](std::uint64_t, const Piece&) { return Result<void>(); });
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().kind, ErrorKind::kEnvironment);
  EXPECT_NE(done.error().message.find("thread 2 of 3"), std::string::npos) << done.error().message;
  EXPECT_EQ(made, 0);
}

TEST(RunOrderedTest, EndsEarlyWithoutErrorWhenStopped) {
  std::stop_source stop;
  std::atomic<int> made{0};
  const auto done = RunOrdered(100000, Echoes(2, kNever, made), stop.get_token(),
                               [&](std::uint64_t index, const Piece&) {
                                 if (index == 10) stop.request_stop();
                                 return Result<void>();
                               });
  EXPECT_TRUE(done);
  EXPECT_LT(made, 30);
}

TEST(ParallelForTest, VisitsEveryIndexOnce) {
  std::vector<std::atomic<int>> visits(500);
  ParallelFor(500, 4, {}, [&](std::uint64_t index) { ++visits[index]; });
  EXPECT_TRUE(std::all_of(visits.begin(), visits.end(), [](const auto& v) { return v == 1; }));
}

TEST(ParallelForTest, VisitsEveryIndexWithTheThreadsThatCanStart) {
  const NoMoreThreads no_more;
  std::vector<int> visits(500);
  ParallelFor(500, 4, {}, [&](std::uint64_t index) { ++visits[index]; });
  EXPECT_EQ(std::count(visits.begin(), visits.end(), 1), 500);
}

TEST(ProgressTextTest, SaysHowFarAndHowLong) {
  EXPECT_EQ(ProgressText(0, 40, "runs", 0, 80), "[........................] 0 % of 40 runs");
  EXPECT_EQ(ProgressText(20, 40, "runs", 30, 80),
            "[############............] 50 % of 40 runs, 30 s left");
  EXPECT_EQ(ProgressText(99, 40, "runs", 30, 80), "[########################] 100 % of 40 runs");
}

TEST(ProgressTextTest, FitsTheTerminal) {
  EXPECT_EQ(ProgressText(20, 40, "runs", 30, 30).size(), 30u);
}

}  // namespace
}  // namespace penstock::loader
