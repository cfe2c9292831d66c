// SPDX-License-Identifier: Apache-2.0
#include "loader/trace/file_tracer.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "loader/trace/file_thread.h"
#include "traces/trace.h"
#include "traces/validate.h"

namespace penstock::loader {
namespace {

namespace fs = std::filesystem;
using traces::EventType;
using traces::StageId;

class FileTracerTest : public testing::Test {
 protected:
  void SetUp() override {
    char name[] = "/tmp/penstock-tracer-XXXXXX";
    directory_ = mkdtemp(name);
    path_ = directory_ / "run.penstock";
  }
  void TearDown() override { fs::remove_all(directory_); }

  std::unique_ptr<Tracer> Make(FileTracerOptions options = {}) const {
    options.path = path_;
    if (options.command.empty()) options.command = {"penstock-load", "a b"};
    auto tracer = FileTracer(options);
    EXPECT_TRUE(tracer.has_value());
    return tracer.has_value() ? std::move(*tracer) : nullptr;
  }

  static std::unique_ptr<traces::Trace> Open(const fs::path& path) {
    auto trace = traces::OpenTrace(path);
    EXPECT_TRUE(trace.has_value()) << (trace.has_value() ? "" : trace.error().message);
    return trace.has_value() ? std::move(*trace) : traces::MakeTrace({});
  }

  fs::path Part() const { return directory_ / "run.penstock.part"; }

  fs::path directory_;
  fs::path path_;
};

TEST_F(FileTracerTest, ASpanComesBackAsItWasGiven) {
  const auto tracer = Make();
  const NameId name = tracer->Name("jpeg");
  ThreadTracer& thread = tracer->Thread("worker 3", ThreadRole::kWorker, 3);
  thread.SetContext({41, 7, 2});
  thread.Begin(StageId::kSample, name);
  thread.Begin(StageId::kDecode, name);
  thread.End(Bytes{99}, "/data/a.jpg", wire::kFlagError);
  thread.End();
  tracer->Leave(thread);
  ASSERT_TRUE(tracer->Finish());

  const auto trace = Open(path_);
  ASSERT_EQ(trace->threads().size(), 1u);
  EXPECT_EQ(trace->threads()[0].name, "worker 3");
  EXPECT_EQ(trace->threads()[0].tid, static_cast<std::uint32_t>(gettid()));
  const std::vector<traces::Span> spans = trace->Spans(ThreadId{0});
  ASSERT_EQ(spans.size(), 2u);
  EXPECT_EQ(spans[0].stage, StageId::kSample);
  EXPECT_EQ(spans[0].depth, 0);
  const traces::Span& decode = spans[1];
  EXPECT_EQ(decode.stage, StageId::kDecode);
  EXPECT_EQ(decode.depth, 1);
  EXPECT_EQ(decode.sample, 41);
  EXPECT_EQ(decode.batch, (traces::BatchKey{7, 2}));
  EXPECT_EQ(decode.bytes.value, 99u);
  EXPECT_EQ(trace->String(decode.name), "jpeg");
  EXPECT_EQ(trace->String(decode.object), "/data/a.jpg");
  EXPECT_EQ(decode.flags, wire::kFlagError | wire::kFlagCpu);
  EXPECT_GE(decode.cpu.value, 0);
  EXPECT_LE(decode.cpu, spans[0].cpu);
  EXPECT_GE(decode.start, spans[0].start);
  EXPECT_LE(decode.end(), spans[0].end());
}

TEST_F(FileTracerTest, WaitsTakeNoCpuTime) {
  const auto tracer = Make();
  ThreadTracer& thread = tracer->Thread("consumer", ThreadRole::kConsumer);
  thread.Begin(StageId::kWait, tracer->Name("next"));
  thread.End();
  ASSERT_TRUE(tracer->Finish());
  const auto spans = Open(path_)->Spans(ThreadId{0});
  ASSERT_EQ(spans.size(), 1u);
  EXPECT_LT(spans[0].cpu.value, 0);
}

TEST_F(FileTracerTest, ASpanOfKnownEndsHasItsOwnPlace) {
  const auto tracer = Make();
  ThreadTracer& thread = tracer->Thread("worker 0", ThreadRole::kWorker, 0);
  const Tick start = thread.Now();
  thread.SetContext({1, 0, 0});
  thread.Begin(StageId::kSample, tracer->Name("sample"));
  thread.Emit(StageId::kRead, tracer->Name("uring"), {2, 1, 0}, start, thread.Now(), Bytes{5},
              "/x");
  // Ends before it starts, so it is no span.
  thread.Emit(StageId::kRead, tracer->Name("uring"), {2, 1, 0}, thread.Now(), start);
  thread.End();
  ASSERT_TRUE(tracer->Finish());
  const auto trace = Open(path_);
  const auto spans = trace->Spans(ThreadId{0});
  ASSERT_EQ(spans.size(), 2u);
  EXPECT_EQ(spans[0].stage, StageId::kRead);
  EXPECT_EQ(spans[0].sample, 2);
  EXPECT_EQ(spans[0].batch.index, 1u);
  EXPECT_EQ(spans[0].depth, 1);
}

TEST_F(FileTracerTest, EventsAndCountersComeBack) {
  const auto tracer = Make();
  ThreadTracer& thread = tracer->Thread("consumer", ThreadRole::kConsumer);
  thread.Event(EventType::kEpochStart, {-1, wire::kNoBatch, 4}, 2);
  thread.Delivered({-1, 9, 4});
  thread.Counter(tracer->Name("ready"), -3);
  ASSERT_TRUE(tracer->Finish());
  const auto trace = Open(path_);
  ASSERT_EQ(trace->events().size(), 2u);
  EXPECT_EQ(trace->events()[0].type, EventType::kEpochStart);
  EXPECT_EQ(trace->events()[0].value, 2);
  EXPECT_EQ(trace->events()[1].type, EventType::kBatchDelivered);
  EXPECT_EQ(trace->events()[1].batch, (traces::BatchKey{9, 4}));
  bool found = false;
  for (const traces::CounterSample& c : trace->counters()) {
    found = found || (trace->String(c.name) == "ready" && c.value == -3);
  }
  EXPECT_TRUE(found);
}

TEST_F(FileTracerTest, AWorkerSaysWhenItStartsAndEnds) {
  const auto tracer = Make();
  ThreadTracer& thread = tracer->Thread("worker 5", ThreadRole::kWorker, 5);
  tracer->Leave(thread);
  ASSERT_TRUE(tracer->Finish());
  const auto trace = Open(path_);
  ASSERT_EQ(trace->events().size(), 2u);
  EXPECT_EQ(trace->events()[0].type, EventType::kWorkerStart);
  EXPECT_EQ(trace->events()[0].value, 5);
  EXPECT_EQ(trace->events()[1].type, EventType::kWorkerEnd);
}

TEST_F(FileTracerTest, FactsOfRunAndProcessAreTold) {
  const auto tracer = Make({.version = "9.9", .rank = 1, .world_size = 4});
  tracer->Fact("loader.0.kind", "penstock");
  tracer->Fact("dataset.root", directory_.string());
  ASSERT_TRUE(tracer->Finish());
  const auto trace = Open(path_);
  const auto& facts = trace->facts();
  EXPECT_EQ(facts.at("record.mode"), "loader");
  EXPECT_EQ(facts.at("command"), "penstock-load 'a b'");
  EXPECT_EQ(facts.at("penstock.version"), "9.9");
  EXPECT_EQ(facts.at("dataset.root"), directory_.string());
  EXPECT_EQ(facts.count("loader.0.kind"), 0u);
  for (const char* key : {"cpu.cores", "cpu.affinity", "memory.total", "duration_ns",
                          "record.start_realtime_ns", "dataset.storage"}) {
    EXPECT_EQ(facts.count(key), 1u) << key;
  }
  ASSERT_EQ(trace->processes().size(), 1u);
  const traces::ProcessInfo& process = trace->processes()[0];
  EXPECT_EQ(process.pid, static_cast<std::uint32_t>(getpid()));
  EXPECT_EQ(process.role, wire::kRoleConsumer);
  EXPECT_EQ(process.rank, 1);
  EXPECT_EQ(process.world_size, 4);
  EXPECT_GT(process.process_start, 0u);
  EXPECT_EQ(process.facts.at("loader.0.kind"), "penstock");
  EXPECT_EQ(process.command, (std::vector<std::string>{"penstock-load", "a b"}));
}

TEST_F(FileTracerTest, BytesOfReadsAreTheCoverage) {
  const auto tracer = Make();
  ThreadTracer& thread = tracer->Thread("worker 0", ThreadRole::kWorker, 0);
  const NameId name = tracer->Name("read");
  for (const std::uint8_t flags : {std::uint8_t{0}, wire::kFlagMapped}) {
    thread.Begin(StageId::kRead, name);
    thread.End(Bytes{flags == 0 ? 1000u : 50u}, "/data/a", flags);
  }
  ASSERT_TRUE(tracer->Finish());
  const auto trace = Open(path_);
  EXPECT_EQ(trace->processes()[0].bytes_hooked.value, 1000u);
  EXPECT_EQ(trace->processes()[0].bytes_mapped.value, 50u);
  EXPECT_EQ(trace->processes()[0].features, wire::kFeatureNative | wire::kFeatureMapped);
}

TEST_F(FileTracerTest, ManyThreadsLoseNothing) {
  constexpr int kThreads = 4;
  constexpr int kSpans = 20000;
  const auto tracer = Make({.interval = std::chrono::milliseconds(1)});
  const NameId name = tracer->Name("op");
  std::vector<std::jthread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      ThreadTracer& thread = tracer->Thread("t", ThreadRole::kOther);
      for (int i = 0; i < kSpans; ++i) {
        thread.SetContext({i, static_cast<std::uint32_t>(t), 0});
        thread.Begin(StageId::kMark, name);
        thread.End(Bytes{1}, i % 100 == 0 ? "/data/" + std::to_string(i) : std::string());
      }
      tracer->Leave(thread);
    });
  }
  threads.clear();
  ASSERT_TRUE(tracer->Finish());
  const auto trace = Open(path_);
  EXPECT_EQ(trace->span_count(), std::uint64_t{kThreads} * kSpans);
  EXPECT_FALSE(trace->losses().any());
  for (std::uint32_t t = 0; t < kThreads; ++t) {
    const auto spans = trace->Spans(ThreadId{t});
    ASSERT_EQ(spans.size(), static_cast<std::size_t>(kSpans));
    for (int i = 0; i < kSpans; i += 100) {
      const traces::Span& span = spans[static_cast<std::size_t>(i)];
      ASSERT_EQ(span.sample, i);
      ASSERT_EQ(trace->String(span.object), "/data/" + std::to_string(i));
    }
  }
}

TEST_F(FileTracerTest, WhatDoesNotFitIsDroppedAndCounted) {
  // The writer looks only when a chunk is taken. The spans are recorded before it can look again.
  const auto tracer = Make({.memory = Bytes{1}, .interval = std::chrono::hours(1)});
  ThreadTracer& thread = tracer->Thread("t", ThreadRole::kOther);
  const NameId name = tracer->Name("op");
  constexpr std::uint64_t kSpans = 200000;
  for (std::uint64_t i = 0; i < kSpans; ++i) {
    thread.Begin(StageId::kMark, name);
    thread.End();
  }
  ASSERT_TRUE(tracer->Finish());
  const auto trace = Open(path_);
  EXPECT_GT(trace->span_count(), 0u);
  EXPECT_EQ(trace->span_count() + trace->losses().dropped_events, kSpans);
}

TEST_F(FileTracerTest, WithoutFinishThePartFileIsReadable) {
  {
    const auto tracer = Make();
    ThreadTracer& thread = tracer->Thread("t", ThreadRole::kOther);
    thread.Begin(StageId::kMark, tracer->Name("op"));
    thread.End();
  }
  EXPECT_FALSE(fs::exists(path_));
  const auto trace = Open(Part());
  EXPECT_EQ(trace->span_count(), 1u);
  EXPECT_TRUE(trace->losses().unsealed);
}

TEST_F(FileTracerTest, FinalNameAppearsWhenAllIsWritten) {
  const auto tracer = Make();
  EXPECT_TRUE(fs::exists(Part()));
  EXPECT_FALSE(fs::exists(path_));
  ASSERT_TRUE(tracer->Finish());
  ASSERT_TRUE(tracer->Finish());  // once is enough
  EXPECT_FALSE(fs::exists(Part()));
  EXPECT_FALSE(Open(path_)->losses().any());
}

TEST_F(FileTracerTest, NoFileWhereNoneCanBe) {
  const auto tracer = FileTracer({.path = "/proc/nowhere/run.penstock"});
  ASSERT_FALSE(tracer.has_value());
  EXPECT_EQ(tracer.error().kind, ErrorKind::kOutput);
  EXPECT_NE(tracer.error().message.find("/proc/nowhere/run.penstock"), std::string::npos);
}

TEST_F(FileTracerTest, AFullDiskEndsTheTraceAndNothingElse) {
  signal(SIGXFSZ, SIG_IGN);
  rlimit saved{};
  getrlimit(RLIMIT_FSIZE, &saved);
  const auto tracer = Make({.interval = std::chrono::milliseconds(1)});
  rlimit limit = saved;
  limit.rlim_cur = 64 * 1024;
  setrlimit(RLIMIT_FSIZE, &limit);
  ThreadTracer& thread = tracer->Thread("t", ThreadRole::kOther);
  const NameId name = tracer->Name("op");
  for (int i = 0; i < 100000; ++i) {
    thread.SetContext({rand(), 0, 0});  // does not compress
    thread.Begin(StageId::kMark, name);
    thread.End(Bytes{static_cast<std::uint64_t>(rand())});
  }
  const Result<void> finished = tracer->Finish();
  setrlimit(RLIMIT_FSIZE, &saved);
  ASSERT_FALSE(finished.has_value());
  EXPECT_EQ(finished.error().kind, ErrorKind::kOutput);
  EXPECT_NE(finished.error().message.find("free some space"), std::string::npos);
  EXPECT_FALSE(fs::exists(path_));
  const auto trace = Open(Part());
  EXPECT_EQ(trace->facts().at("record.mode"), "loader");
}

TEST(ChunkPoolTest, StaysWithinItsBudget) {
  int taken = 0;
  ChunkPool pool(Bytes{3 * sizeof(TraceChunk) + 5}, [&] { ++taken; });
  std::vector<TraceChunk*> chunks;
  for (TraceChunk* chunk; (chunk = pool.Take()) != nullptr;) chunks.push_back(chunk);
  EXPECT_EQ(chunks.size(), 3u);
  EXPECT_EQ(taken, 4);
  chunks[0]->committed = 7;
  pool.Give(chunks[0]);
  TraceChunk* again = pool.Take();
  EXPECT_EQ(again, chunks[0]);
  EXPECT_EQ(again->committed.load(), 0u);
  EXPECT_EQ(pool.allocated(), 3u);
}

TEST(ChunkPoolTest, AFullChunkGoesWhereItIsNeeded) {
  ChunkPool pool(Bytes{1}, [] {});  // two chunks for two threads
  FileThread first(pool, ThreadId{0}, -1);
  FileThread second(pool, ThreadId{1}, -1);
  const auto fill = [](FileThread& thread, std::uint32_t count) {
    for (std::uint32_t i = 0; i < count; ++i) thread.Counter({}, 1);
  };
  fill(first, TraceChunk::kEntries);
  fill(second, TraceChunk::kEntries);
  fill(first, 1);  // none left: dropped
  EXPECT_EQ(first.dropped(), 1u);
  std::uint64_t collected = 0;
  const auto count = [&](const TraceEntry&, std::string_view) { ++collected; };
  first.Collect(count);
  fill(second, 2);
  second.Collect(count);
  EXPECT_EQ(second.dropped(), 0u);
  EXPECT_EQ(collected, 2u * TraceChunk::kEntries + 2);
}

TEST(FileThreadTest, DeeperThanTheStackIsNotRecordedAndHarmless) {
  ChunkPool pool(Bytes{1}, [] {});
  FileThread thread(pool, ThreadId{0}, -1);
  for (int i = 0; i < 50; ++i) thread.Begin(StageId::kMark, {});
  for (int i = 0; i < 60; ++i) thread.End();
  std::vector<int> depths;
  thread.Collect([&](const TraceEntry& e, std::string_view) { depths.push_back(e.span.depth); });
  ASSERT_EQ(depths.size(), 32u);
  EXPECT_EQ(depths.front(), 31);
  EXPECT_EQ(depths.back(), 0);
}

TEST(NoTracerTest, ListensToNothing) {
  const auto tracer = NoTracer();
  EXPECT_FALSE(tracer->on());
  ThreadTracer& thread = tracer->Thread("t", ThreadRole::kConsumer);
  EXPECT_FALSE(thread.on());
  const SpanScope span(thread, StageId::kSample, tracer->Name("x"));
  EXPECT_EQ(thread.Now().value, 0u);
  EXPECT_TRUE(tracer->Finish());
}

TEST(WithNvtxTest, StepsAsideWithoutATool) {
  unsetenv("NVTX_INJECTION64_PATH");
  auto inner = NoTracer();
  const Tracer* const before = inner.get();
  EXPECT_EQ(WithNvtx(std::move(inner)).get(), before);
}

}  // namespace
}  // namespace penstock::loader
