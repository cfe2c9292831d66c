// SPDX-License-Identifier: Apache-2.0
//
// A collector is killed somewhere between draining, flushing and giving chunks back. Its file up to
// the last mark, and the ring from there on, must together hold every span once.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "tests/traces/support.h"
#include "traces/pack.h"
#include "traces/recording/recording.h"
#include "traces/recording/recording_writer.h"
#include "traces/trace.h"
#include "traces/trace_builder.h"

namespace penstock::traces {
namespace {

using testing::TempFolder;

constexpr std::uint64_t kFirstSpan = 1'000'000'000'000;

bool NoneIsDead(std::uint32_t, std::uint64_t, std::uint32_t) {
  return false;
}

// Adds up how often each sample is in a trace. Shapes: samples: [written samples]
void CountSamples(const Trace& trace, std::vector<int>& samples) {
  for (std::uint32_t t = 0; t < trace.threads().size(); ++t) {
    for (const Span& span : trace.Spans(ThreadId{t})) {
      ++samples.at(static_cast<std::size_t>(span.sample));
    }
  }
}

// Threads that write, and a collector. Leave() checks what would be left if the collector were
// killed now.
class Collected {
 public:
  Collected(std::uint32_t threads, std::uint32_t chunks, TimeNs keep = {})
      : ring_({.mode = wire::kRing, .chunks = chunks}), drain_(ring_.memory(), true), keep_(keep) {
    const std::uint32_t slot = ring_.AddProcess(7, 1, wire::kRoleOther, -1);
    for (std::uint32_t t = 0; t < threads; ++t) {
      threads_.push_back(std::make_unique<RecordingWriter::Thread>(ring_, slot, t + 1, "t"));
    }
    auto packer = CreatePacked(folder_ / "t.penstock", {.keep = keep});
    EXPECT_TRUE(packer.has_value());
    packer_ = std::move(*packer);
    EXPECT_TRUE(packer_->Flush().has_value());  // as the collector does before the command starts
  }

  void Write(std::size_t thread, int spans) {
    for (int i = 0; i < spans; ++i) {
      wire::Record record = SpanRecord(ring_, wire::kRead, 0, kFirstSpan + written_ * 1000, 900);
      record.sample = static_cast<std::int64_t>(written_++);
      ASSERT_TRUE(threads_[thread]->Write(record));
    }
  }
  // Opens an operation of the thread. It is never closed.
  void Open(std::size_t thread) {
    wire::Inflight open{};
    open.stage = wire::kDecode;
    open.start = ring_.Ticks(kFirstSpan + written_ * 1000);
    open.sample = static_cast<std::int64_t>(written_++);
    threads_[thread]->Open(open);
  }
  void Text(std::size_t thread, const std::string& text) {
    threads_[thread]->Text(wire::kTextString, text);
  }
  void Drain() { drain_.Drain(*packer_, NoneIsDead); }
  void DrainTheDead() {
    drain_.Drain(*packer_, [](std::uint32_t, std::uint64_t, std::uint32_t) { return true; });
  }
  // Flushes, and calls Leave() after `steps` of the flush's steps; 4: does not call it.
  void Flush(int steps = 4) {
    ASSERT_TRUE(packer_
                    ->Flush([&](std::uint64_t mark) {
                      if (steps == 0) Leave();
                      drain_.SaveProgress(mark);
                      if (steps == 1) Leave();
                    })
                    .has_value());
    if (steps == 2) Leave();
    drain_.Release();
    if (steps == 3) Leave();
  }

  // Checks what `penstock recover` would find if the collector were killed now.
  void Leave() {
    const std::filesystem::path left = folder_ / "left.penstock.part";
    const auto copy = [this](const char* from, const std::filesystem::path& to) {
      std::filesystem::remove(to);
      if (std::filesystem::exists(folder_ / from)) {
        testing::WriteFile(to, testing::ReadFile(folder_ / from));
      }
    };
    copy("t.penstock.part", left);
    copy("t.penstock.part.tail", folder_ / "left.penstock.part.tail");
    std::uint64_t mark = 0;
    OpenControl control;
    control.last_mark = &mark;
    std::vector<int> samples(written_);
    if (const auto trace = OpenTrace(left, control)) {
      CountSamples(**trace, samples);
      marks_.push_back(mark);
    }
    std::vector<std::byte> memory(ring_.memory().begin(), ring_.memory().end());
    RecordingDrain rest(memory, true);
    rest.ContinueFrom(mark);
    TraceBuilder builder;
    rest.Finish(builder);
    const auto trace = builder.Build();
    EXPECT_EQ(trace->losses().damaged_records, 0u);
    CountSamples(*trace, samples);
    const std::uint64_t kept =
        keep_.value == 0 ? written_
                         : std::min(static_cast<std::uint64_t>(keep_.value) / 1000, written_);
    for (std::uint64_t sample = 0; sample < written_; ++sample) {
      const int least = sample < written_ - kept ? 0 : 1;  // older samples may be missing
      ASSERT_TRUE(samples[sample] >= least && samples[sample] <= 1)
          << "sample " << sample << " of " << written_ << ": " << samples[sample] << " times";
    }
    ++left_;
  }
  [[nodiscard]] int left() const { return left_; }
  [[nodiscard]] std::uint64_t written() const { return written_; }
  [[nodiscard]] std::uint64_t last_mark() const { return marks_.empty() ? 0 : marks_.back(); }
  [[nodiscard]] bool HasTail() const {
    return std::filesystem::exists(folder_ / "t.penstock.part.tail");
  }

 private:
  TempFolder folder_;
  RecordingWriter ring_;
  RecordingDrain drain_;
  TimeNs keep_;
  std::vector<std::unique_ptr<RecordingWriter::Thread>> threads_;
  std::unique_ptr<Packer> packer_;
  std::uint64_t written_ = 0;
  std::vector<std::uint64_t> marks_;
  int left_ = 0;
};

TEST(ContinueTest, EverySpanIsThereOnceWhereverTheCollectorIsKilled) {
  constexpr std::size_t kThreads = 24;
  Collected run(kThreads, 64);
  std::mt19937_64 random(1);
  for (int round = 0; round < 110; ++round) {
    for (std::size_t t = 0; t < kThreads; ++t) run.Write(t, static_cast<int>(random() % 20));
    if (random() % 4 == 0) run.Write(random() % kThreads, 800);
    run.Drain();
    if (random() % 8 == 0) run.Leave();
    run.Write(random() % kThreads, 3);
    if (random() % 2 == 0) run.Drain();
    run.Flush(static_cast<int>(random() % 5));
  }
  EXPECT_TRUE(run.HasTail());
  EXPECT_GT(run.left(), 70);
  EXPECT_GT(run.last_mark(), 80u);
}

TEST(ContinueTest, BlocksThatWereWrittenBetweenTwoFlushesAreTakenFromTheRing) {
  Collected run(2, 140);
  run.Write(0, 100);
  run.Drain();
  run.Flush();
  for (int i = 0; i < 7; ++i) {  // thread 0 writes more than a block
    run.Write(0, 10'000);
    run.Write(1, 1'000);
    run.Drain();
    run.Leave();
  }
  run.Flush(0);
  run.Write(1, 500);
  run.Drain();
  run.Flush(1);
  EXPECT_EQ(run.left(), 9);
}

// When many spans have been gathered, the packer moves the spans of the tail into blocks. Until the
// next mark, `penstock recover` still needs the tail.
TEST(ContinueTest, TheTailIsKeptUntilTheMarkThatCanDoWithoutIt) {
  constexpr std::size_t kThreads = 40;
  Collected run(kThreads, 700);
  for (int round = 0; round < 30; ++round) {
    for (std::size_t t = 0; t < kThreads; ++t) run.Write(t, 20);
    run.Drain();
    run.Flush();
  }
  ASSERT_TRUE(run.HasTail());
  run.Leave();
  for (int round = 0; round < 10; ++round) {
    for (std::size_t t = 0; t < kThreads; ++t) run.Write(t, 1000);
    run.Drain();
    run.Leave();
  }
  ASSERT_GT(run.written(), 400'000u);
  run.Flush(2);
}

TEST(ContinueTest, WhatADeadThreadWasInTheMiddleOfIsTakenOnce) {
  for (int steps = 0; steps < 4; ++steps) {
    Collected run(2, 8);
    run.Write(0, 10);
    run.Write(1, 10);
    run.Drain();
    run.Flush();
    run.Open(0);
    run.DrainTheDead();
    run.Leave();
    run.Flush(steps);
    EXPECT_EQ(run.left(), 2);
  }
}

TEST(ContinueTest, AFlightRecorderThatThrowsOldSpansAwayKeepsItsLastPart) {
  Collected run(3, 200, TimeNs{20'000'000});  // keeps 20,000 spans
  for (int round = 0; round < 60; ++round) {
    run.Write(0, 2'500);
    run.Write(1, 350);
    run.Drain();
    run.Flush(round % 5);
  }
  EXPECT_GT(run.left(), 40);
}

TEST(ContinueTest, WithoutAMarkTheFileIsReadAsAWhole) {
  const TempFolder folder;
  RecordingWriter recording = testing::SmallRecording();
  testing::WriteFile(folder / "a.recording", testing::Bytes(recording));
  ASSERT_TRUE(PackTrace(folder / "a.recording", folder / "a.penstock").has_value());
  std::uint64_t mark = 9;
  OpenControl control;
  control.last_mark = &mark;
  const auto trace = OpenTrace(folder / "a.penstock", control);
  ASSERT_TRUE(trace.has_value());
  EXPECT_EQ(mark, 0u);
  EXPECT_FALSE((*trace)->losses().unsealed);
}

}  // namespace
}  // namespace penstock::traces
