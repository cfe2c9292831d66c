// SPDX-License-Identifier: Apache-2.0
//
// Checks the records that the recorder writes for spans, contexts and texts.

#include "agent/core/recorder.h"

#include <gtest/gtest.h>
#include <setjmp.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "agent/core/process.h"
#include "agent/core/thread_state.h"
#include "tests/agent/core/recorder_fixture.h"
#include "traces/wire.h"

namespace penstock::agent {
namespace {

TEST_F(RecorderTest, SpanCarriesWhatItWasGiven) {
  const Token t = Begin(wire::kDecode, Name(&g_outer), __builtin_frame_address(0), false);
  End(t, 4711, 99, wire::kFlagError);
  const auto r = RecordsSince(first_);
  ASSERT_EQ(r.size(), 1u);
  EXPECT_EQ(r[0].stage, wire::kDecode);
  EXPECT_EQ(r[0].name, g_outer.id);
  EXPECT_EQ(r[0].bytes, 4711u);
  EXPECT_EQ(r[0].object, 99u);
  EXPECT_EQ(r[0].flags, wire::kFlagError);
}

TEST_F(RecorderTest, CheckOfEveryRecordHolds) {
  End(Begin(wire::kDecode, Name(&g_outer), __builtin_frame_address(0), true), 1, 2, 0);
  EmitEvent(wire::kBatchPut, Context{5, 6, 7}, -8);
  EmitCounter(3, -4);
  const auto r = RecordsSince(first_);
  ASSERT_EQ(r.size(), 3u);
  for (const wire::Record& record : r) {
    EXPECT_EQ(record.check, wire::CheckOf(&record));
  }
}

TEST_F(RecorderTest, ContextIsInheritedAndRestored) {
  const Context sample{41, 7, 3};
  const Token s = BeginPython(wire::kSample, Name(&g_outer), &sample);
  End(Begin(wire::kDecode, Name(&g_inner), __builtin_frame_address(0), false), 0, 0, 0);
  End(s, 0, 0, 0);
  End(Begin(wire::kDecode, Name(&g_inner), __builtin_frame_address(0), false), 0, 0, 0);
  const auto r = RecordsSince(first_);
  ASSERT_EQ(r.size(), 3u);
  EXPECT_EQ(r[0].sample, 41);
  EXPECT_EQ(r[0].batch, 7u);
  EXPECT_EQ(r[0].generation, 3u);
  EXPECT_EQ(r[1].sample, 41);
  EXPECT_EQ(r[2].sample, wire::kNoSample);
}

TEST_F(RecorderTest, DepthCountsEnclosingSpans) {
  const Token outer = Begin(wire::kSample, Name(&g_outer), nullptr, false);
  const Token inner = Begin(wire::kDecode, Name(&g_inner), nullptr, false);
  End(inner, 0, 0, 0);
  End(outer, 0, 0, 0);
  const auto r = RecordsSince(first_);
  ASSERT_EQ(r.size(), 2u);
  EXPECT_EQ(r[0].depth, 1);
  EXPECT_EQ(r[1].depth, 0);
}

TEST_F(RecorderTest, CancelWritesNothing) {
  Cancel(Begin(wire::kDecode, Name(&g_outer), __builtin_frame_address(0), false));
  EXPECT_TRUE(RecordsSince(first_).empty());
  EXPECT_EQ(Self()->depth, 0u);
}

TEST_F(RecorderTest, EndingTwiceRecordsOnce) {
  const Token t = Begin(wire::kDecode, Name(&g_outer), __builtin_frame_address(0), false);
  End(t, 0, 0, 0);
  End(t, 0, 0, 0);
  EXPECT_EQ(RecordsSince(first_).size(), 1u);
}

TEST_F(RecorderTest, EndOfOuterForgetsInner) {
  const Token outer = Begin(wire::kSample, Name(&g_outer), nullptr, false);
  const Token inner = Begin(wire::kDecode, Name(&g_inner), nullptr, false);
  End(outer, 0, 0, 0);
  End(inner, 0, 0, 0);
  EXPECT_EQ(RecordsSince(first_).size(), 1u);
  EXPECT_EQ(Self()->depth, 0u);
  EXPECT_EQ(OpenSpans(wire::kDecode), 0u);
}

jmp_buf g_jump;

__attribute__((noinline)) void LeaveByLongjmp() {
  Begin(wire::kDecode, Name(&g_inner), __builtin_frame_address(0), false);
  longjmp(g_jump, 1);
}

TEST_F(RecorderTest, SpanLeftByLongjmpIsHealed) {
  static int rounds = 0;
  setjmp(g_jump);
  if (++rounds <= 100) {
    LeaveByLongjmp();
  }
  End(Begin(wire::kDecode, Name(&g_outer), __builtin_frame_address(0), false), 0, 0, 0);
  EXPECT_EQ(Self()->depth, 0u);
  EXPECT_EQ(RecordsSince(first_).size(), 1u);
}

TEST_F(RecorderTest, InflightShowsWhatIsOpen) {
  const Token t = Begin(wire::kRead, Name(&g_outer), nullptr, false);
  const wire::ChunkHeader* chunk = Self()->chunk;
  EXPECT_EQ(chunk->inflight_depth, 1u);
  EXPECT_EQ(chunk->inflight[0].stage, wire::kRead);
  EXPECT_EQ(chunk->inflight[0].name, g_outer.id);
  End(t, 0, 0, 0);
  EXPECT_EQ(chunk->inflight_depth, 0u);
}

TEST_F(RecorderTest, DeeperThanTheStackIsNotRecordedAndHarmless) {
  std::vector<Token> tokens;
  for (int i = 0; i < 100; ++i) {
    tokens.push_back(Begin(wire::kMark, Name(&g_outer), nullptr, false));
  }
  while (!tokens.empty()) {
    End(tokens.back(), 0, 0, 0);
    tokens.pop_back();
  }
  EXPECT_EQ(RecordsSince(first_).size(), size_t{kMaxDepth});
  EXPECT_EQ(Self()->depth, 0u);
}

// A signal handler forks while the interrupted thread is inside the core. The child returns from
// the handler into the core.
TEST_F(RecorderTest, AChildThatAHandlerForkedKeepsTheStateOfTheInterruptedCore) {
  const Token open = Begin(wire::kMark, Name(&g_outer), nullptr, false);
  ThreadState* const s = Self();
  const wire::ChunkHeader* const chunk = s->chunk;
  pid_t child = -1;
  {
    const BusyScope core(s);
    child = fork();
    if (child == 0) {
      const bool dropped = Self() == nullptr;
      _exit(dropped && s->busy == 1 && s->depth == 1 && s->chunk == chunk ? 0 : 1);
    }
  }
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  Cancel(open);
}

TEST_F(RecorderTest, NoObjectHasNoOperation) {
  EXPECT_EQ(FindOperation(nullptr), nullptr);
  EXPECT_EQ(AddOperation(nullptr), nullptr);
}

TEST_F(RecorderTest, TextLongerThanOneRecordIsConsecutive) {
  const std::string text(200, 'x');
  EmitText(wire::kTextFact, 5, text.data(), text.size());
  ASSERT_EQ(Used() - first_, 5u);
  wire::TextRecord part;
  std::memcpy(&part, Self()->records + first_ + 4, sizeof part);
  EXPECT_EQ(part.part, 4);
  EXPECT_EQ(part.total, 200);
  EXPECT_EQ(part.check, wire::CheckOf(&part));
}

TEST_F(RecorderTest, AStringIsWrittenOnce) {
  Intern("only once", 9);
  const uint32_t after = Used();
  Intern("only once", 9);
  EXPECT_EQ(after, first_ + 1);
  EXPECT_EQ(Used(), after);
}

TEST_F(RecorderTest, NamesDoNotEnd) {
  constexpr int kNames = 400'000;  // more than the cache of written ids holds
  int untold = 0;
  for (int i = 0; i < kNames; ++i) {
    const std::string text = "/data/" + std::to_string(i);
    const uint32_t before = Used();
    Intern(text.data(), text.size());
    untold += Used() == before ? 1 : 0;
  }
  EXPECT_EQ(untold, 0);
}

TEST_F(RecorderTest, ATextWithoutRoomIsToldLater) {
  ThreadState* s = Self();
  const uint32_t used = s->used;
  s->used = wire::kRecordsPerChunk;
  s->dropped = 1;  // after a drop, a thread looks for a chunk only at every 64th record
  Intern("told later", 10);
  EXPECT_EQ(s->dropped, 2u);
  static PENSTOCK_NAME(late, "a late name");
  Name(&late);
  EXPECT_EQ(late.written, 0u);
  s->dropped = 0;
  s->used = used;
  Intern("told later", 10);
  Name(&late);
  EXPECT_EQ(Used(), used + 2);
}

TEST_F(RecorderTest, BatchLimitEndsTheRecording) {
  const uint64_t saved = g_header->batch_limit;
  g_header->batch_limit = g_header->batches + 2;
  CountBatch();
  EXPECT_TRUE(Recording());
  CountBatch();
  EXPECT_FALSE(Recording());
  g_header->batch_limit = saved;
  g_header->recording = 1;
}

}  // namespace
}  // namespace penstock::agent
