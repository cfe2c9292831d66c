// SPDX-License-Identifier: Apache-2.0
//
// Tests packed files that keep only the last part of a run, and files whose disk is full for a
// while.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mount.h>
#include <unistd.h>

#include <fstream>
#include <map>
#include <random>

#include "tests/traces/support.h"
#include "traces/pack.h"

namespace penstock::traces {
namespace {

namespace fs = std::filesystem;
using testing::TempFolder;

constexpr std::int64_t kSecond = 1'000'000'000;
constexpr std::int64_t kStart = 5'000 * kSecond;
constexpr TimeNs kKeep{10 * kSecond};

std::unique_ptr<Trace> OpenWindow(const fs::path& path) {
  auto trace = OpenTrace(path);
  EXPECT_TRUE(trace.has_value()) << (trace ? "" : trace.error().message);
  return trace ? std::move(*trace) : nullptr;
}

// A program of two processes with one thread each. A thread makes `rate` spans a second, each with
// one of 500 paths, and an event with every tenth span. There are ten counter samples a second.
class Source {
 public:
  explicit Source(Packer& out) : out_(out), counter_(out.Intern("rss_bytes")) {
    for (std::uint32_t p = 0; p < 2; ++p) {
      ProcessInfo process;
      process.pid = 100 + p;
      processes_.push_back(out.AddProcess(process));
      threads_.push_back(AddThread(p, 200 + p));
    }
  }
  ThreadId AddThread(std::uint32_t process, std::uint32_t tid) {
    return out_.AddThread(
        {.process = processes_[process], .tid = tid, .name = "t" + std::to_string(tid)});
  }
  // Adds one second of spans, events and counters, and flushes.
  void Second(std::int64_t second, int rate, bool counters = true) {
    for (int i = 0; i < rate; ++i) {
      const TimeNs at{kStart + second * kSecond + i * kSecond / rate};
      for (const ThreadId thread : threads_) Add(thread, at, rate);
    }
    if (counters) {
      for (int i = 0; i < 10; ++i) {
        const TimeNs at{kStart + second * kSecond + i * kSecond / 10};
        out_.AddCounter({.at = at, .name = counter_, .process = processes_[1], .value = second});
      }
    }
    out_.SetFact("seconds", std::to_string(second));
    out_.SetRealtimeOffset(TimeNs{second});
    last_ = out_.Flush();
  }
  void Add(ThreadId thread, TimeNs at, int rate) {
    const auto path = static_cast<std::uint32_t>(random_() % 500);
    Span span;
    span.start = at;
    span.duration.value = static_cast<std::int64_t>(random_() % 1'000'000) % (kSecond / rate);
    span.stage = StageId::kRead;
    span.sample = path;
    span.object = out_.Intern("/data/set/" + std::to_string(path) + ".jpg");
    out_.AddSpan(thread, span);
    ++spans_;
    if (spans_ % 10 == 0) out_.AddEvent({.at = at, .thread = thread, .value = path});
  }
  [[nodiscard]] const std::vector<ThreadId>& threads() const { return threads_; }
  void Use(ThreadId thread) { threads_ = {thread}; }
  [[nodiscard]] const Result<void>& last() const { return last_; }
  [[nodiscard]] std::uint64_t spans() const { return spans_; }

 private:
  Packer& out_;
  StringId counter_;
  std::vector<ProcessId> processes_;
  std::vector<ThreadId> threads_;
  std::mt19937_64 random_{11};
  std::uint64_t spans_ = 0;
  Result<void> last_;
};

// Checks each span's path by its sample, and each thread's name by its tid.
void ExpectConsistent(const Trace& trace) {
  for (std::uint32_t i = 0; i < trace.threads().size(); ++i) {
    const ThreadInfo& thread = trace.threads()[i];
    EXPECT_EQ(thread.name, "t" + std::to_string(thread.tid));
    for (const Span& span : trace.Spans(ThreadId{i})) {
      ASSERT_EQ(trace.String(span.object), "/data/set/" + std::to_string(span.sample) + ".jpg");
    }
  }
}

std::uint64_t CountSpans(const Trace& trace, std::int64_t* first_end = nullptr) {
  std::uint64_t count = 0;
  for (std::uint32_t i = 0; i < trace.threads().size(); ++i) {
    for (const Span& span : trace.Spans(ThreadId{i})) {
      ++count;
      if (first_end != nullptr) *first_end = std::min(*first_end, span.end().value);
    }
  }
  return count;
}

TEST(WindowTest, TheFileHoldsTheLastPartAndNothingElse) {
  const TempFolder folder;
  auto packer = CreatePacked(folder / "t", {.keep = kKeep});
  ASSERT_TRUE(packer.has_value());
  Source source(**packer);
  for (std::int64_t s = 0; s < 100; ++s) source.Second(s, 1000);
  ASSERT_TRUE((*packer)->Finish().has_value());
  const auto trace = OpenWindow(folder / "t");
  EXPECT_FALSE(trace->losses().any());
  EXPECT_FALSE(fs::exists((folder / "t.part.new")));
  std::int64_t first_end = trace->end().value;
  const std::uint64_t count = CountSpans(*trace, &first_end);
  EXPECT_GE(first_end, trace->end().value - kKeep.value);
  EXPECT_NEAR(static_cast<double>(count), 20'000, 10);
  EXPECT_NEAR(static_cast<double>(trace->events().size()), 2'000, 10);
  EXPECT_NEAR(static_cast<double>(trace->counters().size()), 100, 2);
  EXPECT_EQ(trace->facts().at("seconds"), "99");
  EXPECT_EQ(trace->realtime_offset().value, 99);
  EXPECT_EQ(trace->processes()[trace->counters()[0].process.value].pid, 101u);
  ExpectConsistent(*trace);
}

TEST(WindowTest, AShortRunIsKeptWhole) {
  const TempFolder folder;
  auto packer = CreatePacked(folder / "t", {.keep = kKeep});
  Source source(**packer);
  for (std::int64_t s = 0; s < 9; ++s) source.Second(s, 500);
  ASSERT_TRUE((*packer)->Finish().has_value());
  const auto trace = OpenWindow(folder / "t");
  EXPECT_EQ(trace->span_count(), source.spans());
  ExpectConsistent(*trace);
}

TEST(WindowTest, TheFileDoesNotGrowWithTheRun) {
  const TempFolder folder;
  auto packer = CreatePacked(folder / "t", {.keep = kKeep});
  Source source(**packer);
  std::uint64_t early = 0;
  std::uint64_t late = 0;
  for (std::int64_t s = 0; s < 400; ++s) {
    source.Second(s, 2000);
    std::uint64_t& largest = s < 60 ? early : late;
    largest = std::max(largest, (*packer)->bytes_written());
  }
  EXPECT_LT(late, early + early / 10);
  EXPECT_GT((*packer)->bytes_written(), 0u);
}

// If each new file had a longer name than the one before, the names would soon be longer than a
// file system allows.
TEST(WindowTest, ANameThatIsNearlyTooLongLastsForTheWholeRun) {
  const TempFolder folder;
  auto packer = CreatePacked(folder / std::string(240, 't'), {.keep = kKeep});
  ASSERT_TRUE(packer.has_value());
  Source source(**packer);
  std::uint64_t early = 0;
  std::uint64_t late = 0;
  for (std::int64_t s = 0; s < 240; ++s) {
    source.Second(s, 2000);
    std::uint64_t& largest = s < 60 ? early : late;
    largest = std::max(largest, (*packer)->bytes_written());
  }
  EXPECT_LT(late, early + early / 10);
}

TEST(WindowTest, WhatIsOnDiskIsATraceAtEveryMoment) {
  const TempFolder folder;
  auto packer = CreatePacked(folder / "t", {.keep = kKeep});
  Source source(**packer);
  for (std::int64_t s = 0; s < 80; ++s) {
    source.Second(s, 3000);
    const auto trace = OpenWindow(folder / "t.part");
    ASSERT_NE(trace, nullptr);
    Losses expected;
    expected.unsealed = true;
    ASSERT_EQ(trace->losses(), expected) << s;
    ASSERT_GE(CountSpans(*trace), 6000u * static_cast<std::uint64_t>(std::min<std::int64_t>(s, 9)));
    if (s % 16 == 0) ExpectConsistent(*trace);
  }
}

TEST(WindowTest, ThreadsThatAreLongGoneAreNotInTheFile) {
  const TempFolder folder;
  auto packer = CreatePacked(folder / "t", {.keep = kKeep});
  Source source(**packer);
  const std::vector<ThreadId> always = source.threads();
  for (std::int64_t s = 0; s < 300; ++s) {
    const auto number = static_cast<std::uint32_t>(s);
    source.Use(source.AddThread(number % 2, 1000 + number));
    source.Second(s, 5000);
  }
  ASSERT_TRUE((*packer)->Finish().has_value());
  const auto trace = OpenWindow(folder / "t");
  EXPECT_FALSE(trace->losses().any());
  EXPECT_LE(trace->threads().size(), 12u);
  for (const ThreadInfo& thread : trace->threads()) {
    EXPECT_EQ(trace->processes()[thread.process.value].pid, 100 + thread.tid % 2);
  }
  ExpectConsistent(*trace);
}

TEST(WindowTest, AThreadThatWasSilentForLongComesBack) {
  const TempFolder folder;
  auto packer = CreatePacked(folder / "t", {.keep = kKeep});
  Source source(**packer);
  const ThreadId silent = source.AddThread(0, 7);
  source.Add(silent, TimeNs{kStart}, 1000);
  for (std::int64_t s = 0; s < 100; ++s) source.Second(s, 3000);
  source.Add(silent, TimeNs{kStart + 100 * kSecond}, 1000);
  ASSERT_TRUE((*packer)->Finish().has_value());
  const auto trace = OpenWindow(folder / "t");
  std::uint64_t of_silent = 0;
  for (std::uint32_t i = 0; i < trace->threads().size(); ++i) {
    if (trace->threads()[i].tid == 7) of_silent += trace->Spans(ThreadId{i}).size();
  }
  EXPECT_EQ(of_silent, 1u);
  ExpectConsistent(*trace);
}

// A flight recorder must show what happened before the program stood still.
TEST(WindowTest, ARunThatStandsStillKeepsWhatItDidLast) {
  const TempFolder folder;
  auto packer = CreatePacked(folder / "t", {.keep = kKeep});
  Source source(**packer);
  std::uint64_t largest = 0;
  for (std::int64_t s = 0; s < 5'000; ++s) {
    source.Second(s, s < 50 ? 1000 : 0);
    largest = std::max(largest, (*packer)->bytes_written());
  }
  EXPECT_LT(largest, 6u << 20);
  // The span in which the run stands still is unfinished. Its recorded end is long ago, but it must
  // be kept.
  Span stuck;
  stuck.start.value = kStart + 49 * kSecond;
  stuck.duration.value = kSecond / 2;
  stuck.stage = StageId::kSample;
  stuck.flags = wire::kFlagUnfinished;
  (*packer)->AddSpan(source.AddThread(1, 9), stuck);
  ASSERT_TRUE((*packer)->Finish().has_value());
  const auto trace = OpenWindow(folder / "t");
  EXPECT_NEAR(static_cast<double>(trace->span_count()), 20'000, 10);
  std::map<std::int64_t, int> seconds;
  for (const CounterSample& sample : trace->counters()) ++seconds[sample.value];
  EXPECT_EQ(seconds.begin()->first, 40);
  EXPECT_EQ(seconds.rbegin()->first, 4'999);
  EXPECT_LE(seconds.size(), 23u);
  std::uint64_t unfinished = 0;
  for (std::uint32_t i = 0; i < trace->threads().size(); ++i) {
    for (const Span& span : trace->Spans(ThreadId{i})) {
      unfinished += (span.flags & wire::kFlagUnfinished) != 0 ? 1 : 0;
    }
  }
  EXPECT_EQ(unfinished, 1u);
}

// A damaged record that was not noticed may have a time far in the future. Other spans must not be
// dropped as too old because of it.
TEST(WindowTest, ATimeFarAheadDropsNothing) {
  const TempFolder folder;
  auto packer = CreatePacked(folder / "t", {.keep = kKeep});
  Source source(**packer);
  for (std::int64_t s = 0; s < 30; ++s) {
    source.Second(s, 3000);
    if (s == 5) source.Add(source.threads()[0], TimeNs{kStart + 100'000 * kSecond}, 1000);
  }
  ASSERT_TRUE((*packer)->Finish().has_value());
  EXPECT_GT(CountSpans(*OpenWindow(folder / "t")), 5'000u);
}

// Mounts a small file system that only this test sees.
bool MountSmall(const fs::path& where, const char* size) {
  fs::create_directory(where);
  return unshare(CLONE_NEWNS) == 0 &&
         mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0 &&
         mount("tmpfs", where.c_str(), "tmpfs", 0, size) == 0;
}

TEST(FullDiskTest, NothingIsLostWhenRoomComesBack) {
  const TempFolder folder;
  if (!MountSmall(folder / "small", "size=1m")) GTEST_SKIP() << "mounting is not permitted";
  const fs::path ballast = folder / "small" / "ballast";
  auto packer = CreatePacked(folder / "small" / "t");
  ASSERT_TRUE(packer.has_value());
  Source source(**packer);
  source.Second(0, 500);
  std::ofstream(ballast) << std::string(std::size_t{2} << 20, 'x');  // fills the disk
  std::uint64_t on_disk = 1000;
  for (std::int64_t s = 1; s < 5; ++s) {
    source.Second(s, 500);
    if (source.last()) on_disk = source.spans();
  }
  ASSERT_TRUE((*packer)->WaitsForRoom());
  // A flush is in the file as a whole or not at all. In a real run the ring still holds the spans
  // of flushes that are not in the file.
  EXPECT_EQ(CountSpans(*OpenWindow(folder / "small" / "t.part")), on_disk);
  fs::remove(ballast);
  source.Second(5, 500);
  EXPECT_TRUE(source.last().has_value()) << source.last().error().message;
  ASSERT_TRUE((*packer)->Finish().has_value());
  const auto trace = OpenWindow(folder / "small" / "t");
  EXPECT_EQ(trace->span_count(), source.spans());
  EXPECT_FALSE(trace->losses().any());
  ExpectConsistent(*trace);
}

TEST(FullDiskTest, AFlightRecorderWithoutRoomForTwoFilesGoesOnWithOne) {
  const TempFolder folder;
  if (!MountSmall(folder / "small", "size=4m")) GTEST_SKIP() << "mounting is not permitted";
  auto packer = CreatePacked(folder / "small" / "t", {.keep = kKeep});
  Source source(**packer);
  const fs::path ballast = folder / "small" / "ballast";
  // From second 14 on, there is room for one file, but not for a copy of it.
  for (std::int64_t s = 0; s < 40; ++s) {
    if (s == 14) std::ofstream(ballast) << std::string(std::size_t{1} << 20, 'x');
    source.Second(s, 2000);
  }
  fs::remove(ballast);
  for (std::int64_t s = 40; s < 60; ++s) source.Second(s, 2000);
  ASSERT_TRUE((*packer)->Finish().has_value());
  const auto trace = OpenWindow(folder / "small" / "t");
  EXPECT_EQ(trace->losses().damaged_chunks, 0u);
  EXPECT_NEAR(static_cast<double>(CountSpans(*trace)), 40'000, 4'100);
  ExpectConsistent(*trace);
}

}  // namespace
}  // namespace penstock::traces
