// SPDX-License-Identifier: Apache-2.0
//
// Loading a document: the order in which its parts become ready, cancelling, and traces that are
// still being written.
#include "gui/model/document.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <thread>

#include "analyzer/report/limits.h"
#include "tests/analyzer/long_trace/long_trace.h"
#include "tests/traces/support.h"
#include "traces/pack.h"
#include "traces/recording/recording_writer.h"

namespace penstock::gui {
namespace {

using traces::testing::TempFolder;

constexpr LivePace kQuick{std::chrono::milliseconds(5), std::chrono::milliseconds(5),
                          std::chrono::milliseconds(5), 0.9};

void WriteTrace(const std::filesystem::path& path, std::uint64_t spans) {
  auto packer = traces::CreatePacked(path);
  ASSERT_TRUE(packer.has_value());
  analyzer::testing::LongTrace run;
  run.spans = spans;
  run.epoch_batches = 20;
  WriteLongTrace(run, **packer);
  ASSERT_TRUE((*packer)->Finish().has_value());
}

// Waits until `holds` is true: a minute at least, because machines may be slow.
template <class Condition>
bool Eventually(const Condition& holds) {
  for (int i = 0; i < 60'000; ++i) {
    if (holds()) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return holds();
}

TEST(DocumentTest, ALongTraceIsSeenBeforeItIsRead) {
  const TempFolder folder;
  WriteTrace(folder / "t.penstock", traces::kPreviewSpans + 1000);
  std::atomic<bool> preview{false};
  std::atomic<LoadJob*> self{nullptr};
  LoadJob job(folder / "t.penstock", [&] {
    while (self.load() == nullptr) std::this_thread::yield();
    const Document document = self.load()->document();
    if (document.timeline && document.timeline->preview && !document.trace) preview = true;
  });
  self = &job;
  ASSERT_TRUE(Eventually([&] { return job.finished(); }));
  EXPECT_TRUE(preview.load());
  const Document document = job.document();
  ASSERT_TRUE(document.complete());
  EXPECT_FALSE(document.timeline->preview);
  EXPECT_EQ(document.live, Live::kNo);
  EXPECT_EQ(document.timeline->spans, document.trace->span_count());
}

TEST(DocumentTest, CancellingEndsTheJobWithoutAnError) {
  const TempFolder folder;
  WriteTrace(folder / "t.penstock", 300'000);
  LoadJob job(folder / "t.penstock", [] {});
  job.Cancel();
  ASSERT_TRUE(Eventually([&] { return job.finished(); }));
  EXPECT_FALSE(job.error().has_value());
}

TEST(DocumentTest, OfSeveralJobsInARowTheLastLoadsItsOwnFile) {
  const TempFolder folder;
  WriteTrace(folder / "a.penstock", 5000);
  WriteTrace(folder / "b.penstock", 9000);
  std::vector<std::unique_ptr<LoadJob>> jobs;
  for (int i = 0; i < 8; ++i) {
    if (!jobs.empty()) jobs.back()->Cancel();
    jobs.push_back(
        std::make_unique<LoadJob>(folder / (i % 2 == 0 ? "a.penstock" : "b.penstock"), [] {}));
  }
  ASSERT_TRUE(Eventually([&] { return jobs.back()->finished(); }));
  const Document last = jobs.back()->document();
  ASSERT_TRUE(last.complete());
  EXPECT_GE(last.trace->span_count(), 9000u);
  EXPECT_NE(last.serial, jobs.front()->document().serial);
}

TEST(DocumentTest, TheErrorNamesAMissingFile) {
  LoadJob job("/nowhere/t.penstock", [] {});
  ASSERT_TRUE(Eventually([&] { return job.finished(); }));
  ASSERT_TRUE(job.error().has_value());
  EXPECT_NE(job.error()->message.find("/nowhere/t.penstock"), std::string::npos);
}

// Writes a trace as a collector does: flushed spans can be read, and the file is named .part until
// the end.
class LiveRun {
 public:
  explicit LiveRun(const std::filesystem::path& path) {
    auto packer = traces::CreatePacked(path);
    EXPECT_TRUE(packer.has_value());
    packer_ = std::move(*packer);
    traces::ProcessInfo process;
    process.pid = 100;
    process.role = wire::kRoleConsumer;
    thread_ = packer_->AddThread({.process = packer_->AddProcess(process), .tid = 100});
    packer_->SetFact("command", "python train.py");
    EXPECT_TRUE(packer_->Flush().has_value());
  }
  void Steps(int count) {
    for (int i = 0; i < count; ++i, ++batch_) {
      packer_->AddSpan(thread_, {.start = TimeNs{at_},
                                 .duration = TimeNs{2'000'000},
                                 .batch = {batch_, 0},
                                 .stage = traces::StageId::kWait});
      packer_->AddSpan(thread_, {.start = TimeNs{at_ + 2'000'000},
                                 .duration = TimeNs{5'000'000},
                                 .batch = {batch_, 0},
                                 .stage = traces::StageId::kStep});
      at_ += 7'000'000;
    }
    EXPECT_TRUE(packer_->Flush().has_value());
  }
  void End() { EXPECT_TRUE(packer_->Finish().has_value()); }
  void Die() { packer_.reset(); }

 private:
  std::unique_ptr<traces::Packer> packer_;
  ThreadId thread_;
  std::int64_t at_ = 1'000'000'000;
  std::uint32_t batch_ = 0;
};

std::uint64_t SpansOf(const LoadJob& job) {
  const Document document = job.document();
  return document.timeline ? document.timeline->spans : 0;
}

TEST(LiveTest, ARunIsFollowedToItsEnd) {
  const TempFolder folder;
  LiveRun run(folder / "t.penstock");
  LoadJob job(
      folder / "t.penstock", [] {}, kQuick);
  std::int64_t length = 0;
  for (int i = 1; i <= 3; ++i) {
    run.Steps(10);
    ASSERT_TRUE(Eventually([&] { return SpansOf(job) == 20u * static_cast<unsigned>(i); })) << i;
    const Document document = job.document();
    EXPECT_EQ(document.live, Live::kWriting);
    EXPECT_GT(document.timeline->length, length);
    length = document.timeline->length;
    EXPECT_TRUE(job.following());
    EXPECT_FALSE(job.finished());
  }
  ASSERT_TRUE(Eventually([&] { return job.document().analysis != nullptr; }));
  // A growing file has no end yet, which does not count as a loss.
  const analyzer::Report& report = job.document().analysis->report;
  EXPECT_TRUE(analyzer::Lost(report.losses, report.diagnosis.run).empty());
  run.Steps(1);
  run.End();
  ASSERT_TRUE(Eventually([&] { return job.finished(); }));
  const Document document = job.document();
  EXPECT_EQ(document.live, Live::kEnded);
  EXPECT_EQ(document.trace->span_count(), 62u);
  EXPECT_EQ(document.timeline->spans, 62u);
  EXPECT_FALSE(document.trace->losses().any());
  EXPECT_FALSE(job.following());
}

TEST(LiveTest, AnOlderTraceOfTheSameNameIsNotShownInstead) {
  const TempFolder folder;
  WriteTrace(folder / "t.penstock", 5000);
  LiveRun run(folder / "t.penstock");
  run.Steps(3);
  LoadJob job(
      folder / "t.penstock", [] {}, kQuick);
  ASSERT_TRUE(Eventually([&] { return SpansOf(job) == 6; }));
  EXPECT_EQ(job.document().live, Live::kWriting);
}

TEST(LiveTest, WhatIsPausedStandsStill) {
  const TempFolder folder;
  LiveRun run(folder / "t.penstock");
  run.Steps(2);
  LoadJob job(
      folder / "t.penstock", [] {}, kQuick);
  ASSERT_TRUE(Eventually([&] { return SpansOf(job) == 4; }));
  job.Pause(true);
  // A read that was under way may still deliver a document. After it no further one is delivered.
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  run.Steps(5);
  run.End();
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  EXPECT_FALSE(job.finished());
  EXPECT_EQ(SpansOf(job), 4u);
  job.Pause(false);
  ASSERT_TRUE(Eventually([&] { return job.finished(); }));
  EXPECT_EQ(SpansOf(job), 14u);
  EXPECT_EQ(job.document().live, Live::kEnded);
}

TEST(LiveTest, ARecorderThatDiesIsShownAsSuch) {
  const TempFolder folder;
  LiveRun run(folder / "t.penstock");
  run.Steps(4);
  LoadJob job(
      folder / "t.penstock", [] {}, kQuick);
  ASSERT_TRUE(Eventually([&] { return SpansOf(job) == 8; }));
  run.Die();
  ASSERT_TRUE(Eventually([&] { return job.finished(); }));
  EXPECT_EQ(job.document().live, Live::kDied);
  EXPECT_EQ(SpansOf(job), 8u);
  EXPECT_TRUE(job.document().analysis->report.losses.unsealed);
  // A later load has the same result under both names of the file.
  for (const char* name : {"t.penstock", "t.penstock.part"}) {
    const auto later = LoadDocument(folder / name);
    ASSERT_TRUE(later.has_value()) << name;
    EXPECT_EQ(later->live, Live::kDied);
    EXPECT_EQ(later->timeline->spans, 8u);
  }
}

TEST(LiveTest, FollowingCanBeLeftAtAnyTime) {
  const TempFolder folder;
  LiveRun run(folder / "t.penstock");
  for (int i = 0; i < 5; ++i) {
    LoadJob job(
        folder / "t.penstock", [] {}, kQuick);
    run.Steps(1);
    if (i % 2 == 0) {
      ASSERT_TRUE(Eventually([&] { return job.following(); }));
    }
  }
}

// A recording without a collector, whose writer is this process.
TEST(LiveTest, ARecordingWithoutACollectorIsFollowedWhileItsProcessLives) {
  const TempFolder folder;
  const std::filesystem::path path = folder / "t.recording";
  std::ifstream stat("/proc/self/stat");
  std::string text((std::istreambuf_iterator<char>(stat)), {});
  std::istringstream fields(text.substr(text.rfind(')') + 2));
  std::string field;
  for (int i = 0; i < 20; ++i) fields >> field;
  traces::RecordingWriter recording({.chunks = 4, .start_ns = 1'000'000'000});
  const std::uint32_t slot = recording.AddProcess(static_cast<std::uint32_t>(::getpid()),
                                                  std::stoull(field), wire::kRoleConsumer, -1);
  recording.header().boot_id[0] = 0;
  traces::RecordingWriter::Thread thread(recording, slot, 100, "main");
  std::uint64_t at = 1'000'000'000;
  const auto save = [&] {
    const auto bytes = recording.memory();
    std::fstream file(path, std::ios::binary | std::ios::in | std::ios::out);
    if (!file) file.open(path, std::ios::binary | std::ios::out);
    // NOLINTNEXTLINE(cppcoreguidelines-pro-type-reinterpret-cast): bytes of a file
    file.write(reinterpret_cast<const char*>(bytes.data()),
               static_cast<std::streamsize>(bytes.size()));
  };
  const auto step = [&] {
    EXPECT_TRUE(thread.Write(SpanRecord(recording, wire::kStep, 0, at, 1'000'000)));
    at += 1'500'000;
  };
  step();
  save();
  LoadJob job(
      path, [] {}, kQuick);
  ASSERT_TRUE(Eventually([&] { return SpansOf(job) == 1; }));
  EXPECT_EQ(job.document().live, Live::kWriting);
  step();
  step();
  save();
  ASSERT_TRUE(Eventually([&] { return SpansOf(job) == 3; }));
  EXPECT_FALSE(job.finished());
  // Another start time means that another process has the pid now, so the writer has ended.
  recording.header().processes[slot].process_start += 1;
  save();
  ASSERT_TRUE(Eventually([&] { return job.finished(); }));
  EXPECT_EQ(job.document().live, Live::kEnded);
  EXPECT_EQ(SpansOf(job), 3u);
}

}  // namespace
}  // namespace penstock::gui
