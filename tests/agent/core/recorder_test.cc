// SPDX-License-Identifier: Apache-2.0
//
// The recording core in this very process. It records without a collector, and the tests read the
// mapped chunk.

#include "agent/core/recorder.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <setjmp.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "agent/core/audit.h"
#include "agent/core/linear_chunks.h"
#include "agent/core/linear_output.h"
#include "agent/core/pending_reads.h"
#include "agent/core/process.h"
#include "agent/core/thread_state.h"
#include "agent/system/sys.h"
#include "traces/wire.h"

namespace penstock::agent {
namespace {

PENSTOCK_NAME(g_outer, "outer");
PENSTOCK_NAME(g_inner, "inner");

// Records of this thread's chunk from `first` on.
std::vector<wire::Record> RecordsSince(uint32_t first) {
  ThreadState* s = Self();
  std::vector<wire::Record> out;
  for (uint32_t i = first; s != nullptr && i < s->used; ++i) {
    out.push_back(s->records[i]);
  }
  return out;
}

uint32_t Used() {
  return Self()->used;
}

class RecorderTest : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    ASSERT_TRUE(Recording()) << "the agent's constructor found no place to record to";
    Name(&g_outer);
    Name(&g_inner);
    ASSERT_NE(Self(), nullptr);
  }
  static void TearDownTestSuite() { unlink(g_config.out); }
  // Makes room, so that a test does not cross into another chunk.
  void SetUp() override {
    while (Self()->used > 900 || Self()->used == 0) {
      Emit({.stage = wire::kMark, .start = Now(), .duration = 1});
    }
    first_ = Used();
  }
  uint32_t first_ = 0;
};

// The chunk that is taken last.
wire::ChunkHeader* LastChunk() {
  return reinterpret_cast<wire::ChunkHeader*>(
      reinterpret_cast<char*>(g_header) + wire::kHeaderSize +
      uint64_t{g_header->chunk_count - 1} * wire::kChunkSize);
}

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
  s->dropped = 1;  // a thread that drops looks for a chunk at every 64th record only
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

TEST_F(RecorderTest, MoreThanAChunkGoesOn) {
  const uint32_t before = Self()->sequence;
  for (uint32_t i = 0; i < 3 * wire::kRecordsPerChunk; ++i) {
    Emit({.stage = wire::kMark, .start = Now(), .duration = 1});
  }
  EXPECT_EQ(Self()->sequence, before + 3);
  EXPECT_EQ(Self()->dropped, 0u);
}

TEST_F(RecorderTest, ThreadsHaveTheirOwnChunks) {
  const wire::ChunkHeader* mine = Self()->chunk;
  const wire::ChunkHeader* other = nullptr;
  uint32_t depth = 9;
  std::thread([&] {
    End(Begin(wire::kMark, 0, nullptr, false), 0, 0, 0);
    other = Self()->chunk;
    depth = Self()->depth;
  }).join();
  EXPECT_NE(other, mine);
  EXPECT_EQ(depth, 0u);
}

// The records of a chunk of the recording's file, which its thread has unmapped.
std::vector<wire::Record> RecordsOfChunk(uint32_t index, uint32_t count) {
  std::vector<wire::Record> records(count);
  std::ifstream file(g_config.out, std::ios::binary);
  file.seekg(static_cast<std::streamoff>(wire::kHeaderSize + uint64_t{index} * wire::kChunkSize +
                                         wire::kChunkHeaderSize));
  file.read(reinterpret_cast<char*>(records.data()),
            static_cast<std::streamsize>(count * sizeof(wire::Record)));
  EXPECT_TRUE(file.good());
  return records;
}

// An interpreter ends its daemon threads in this way: in the middle of a call, without a notice.
TEST_F(RecorderTest, WhatAThreadEndsInTheMiddleOfIsUnfinished) {
  uint32_t chunk = 0;
  uint32_t before = 0;
  std::thread([&] {
    const Context batch = {.batch = 7, .generation = 2};
    BeginPython(wire::kPut, Name(&g_outer), &batch);
    Begin(wire::kDecode, Name(&g_inner), __builtin_frame_address(0), false);  // left by a longjmp
    chunk = Self()->chunk->index;
    before = Self()->used;
  }).join();
  const auto records = RecordsOfChunk(chunk, before + 2);
  const wire::Record& put = records[before];
  EXPECT_EQ(put.kind, wire::kKindSpan);
  EXPECT_EQ(put.stage, wire::kPut);
  EXPECT_EQ(put.flags, wire::kFlagUnfinished);
  EXPECT_EQ(put.batch, 7u);
  EXPECT_EQ(put.generation, 2);
  EXPECT_EQ(put.depth, 0);
  EXPECT_EQ(put.check, wire::CheckOf(&put));
  EXPECT_EQ(records[before + 1].kind, 0);  // the span of the C call is dropped
}

// Many threads claim chunks at once and compare the hooks' bytes with the kernel's each time.
TEST_F(RecorderTest, AuditsOfManyThreadsCountEveryByteOnce) {
  const uint64_t kernel_before = KernelReadBytes();
  const uint64_t audited_before = g_slot->rchar_last;
  const uint64_t hooked_before = g_slot->hooked_last;
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t) {
    threads.emplace_back([] {
      std::vector<char> buffer(1 << 20);
      const int fd = sys::Open("/dev/zero", 0);
      for (uint32_t chunk = 0; chunk < 40; ++chunk) {
        AddHooked(static_cast<uint64_t>(sys::Read(fd, buffer.data(), buffer.size())));
        for (uint32_t i = 0; i < wire::kRecordsPerChunk; ++i) {
          Emit({.stage = wire::kMark, .start = Now(), .duration = 1});
        }
      }
      sys::Close(fd);
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  const uint64_t audited = g_slot->rchar_last - audited_before;
  const uint64_t hooked = g_slot->hooked_last - hooked_before;
  EXPECT_LE(audited,
            KernelReadBytes() - kernel_before + 65536);  // bytes since the last audit before it
  EXPECT_LE(hooked, uint64_t{8} * 40 << 20);
  EXPECT_GE(audited, uint64_t{8} * 20 << 20);  // nobody audits after the last chunks
  EXPECT_NEAR(static_cast<double>(hooked), static_cast<double>(audited), 10 << 20);
}

// The claimer was killed between the compare-and-swap that takes a chunk and the store of its pid.
TEST_F(RecorderTest, AChunkWhoseClaimerDiedIsFreed) {
  const pid_t child = fork();
  if (child == 0) {
    _exit(0);
  }
  ASSERT_EQ(waitpid(child, nullptr, 0), child);
  const uint32_t slot = wire::kMaxProcesses - 1;
  g_header->processes[slot].pid = static_cast<uint32_t>(child);
  g_header->processes[slot].pid_namespace = g_slot->pid_namespace;
  wire::ChunkHeader* last = LastChunk();
  ASSERT_EQ(last->state, wire::kChunkFree);
  last->state = wire::kChunkOwned | (g_slot_index + 1) << wire::kChunkClaimerShift;
  ReclaimDeadChunks();
  EXPECT_NE(last->state, wire::kChunkFree) << "it is alive";
  last->state = wire::kChunkOwned | (slot + 1) << wire::kChunkClaimerShift;
  ReclaimDeadChunks();
  EXPECT_EQ(last->state, wire::kChunkFree);
  g_header->processes[slot].pid_namespace = 0;
  g_header->processes[slot].pid = 0;
}

// The owner was killed after it had written its chunk to the file and emptied it, and before it
// gave the chunk another place.
TEST_F(RecorderTest, AnEmptyChunkIsNotWrittenOverItsRecords) {
  const pid_t child = fork();
  if (child == 0) {
    _exit(0);
  }
  ASSERT_EQ(waitpid(child, nullptr, 0), child);
  const uint32_t slot = wire::kMaxProcesses - 1;
  g_header->processes[slot].pid = static_cast<uint32_t>(child);
  g_header->processes[slot].pid_namespace = g_slot->pid_namespace;
  uint32_t place = 0;
  ASSERT_TRUE(TakePlace(&place));
  const std::string records(wire::kChunkSize, 'r');
  const auto offset = static_cast<off_t>(wire::kHeaderSize + uint64_t{place} * wire::kChunkSize);
  const int fd = open(g_config.out, O_RDWR | O_CLOEXEC);
  ASSERT_EQ(pwrite(fd, records.data(), records.size(), offset),
            static_cast<ssize_t>(records.size()));
  wire::ChunkHeader* last = LastChunk();
  ASSERT_EQ(last->state, wire::kChunkFree);
  last->index = place;
  last->process = slot;
  last->drained = 1;
  last->tid = last->pid = static_cast<uint32_t>(child);
  last->state = wire::kChunkOwned | (slot + 1) << wire::kChunkClaimerShift;
  ReclaimDeadChunks();
  EXPECT_EQ(last->state, wire::kChunkFree);
  std::string there(records.size(), 0);
  EXPECT_EQ(pread(fd, there.data(), there.size(), offset), static_cast<ssize_t>(there.size()));
  EXPECT_TRUE(there == records);
  close(fd);
  g_header->processes[slot].pid_namespace = 0;
  g_header->processes[slot].pid = 0;
}

// A process has ended and left its chunk to others. The pending read in the chunk counts once.
TEST_F(RecorderTest, AnEmptyChunkThatWasWrittenKeepsItsPlace) {
  uint32_t place = 0;
  ASSERT_TRUE(TakePlace(&place));
  wire::ChunkHeader* last = LastChunk();
  ASSERT_EQ(last->state, wire::kChunkFree);
  last->index = place;
  last->process = g_slot_index;
  last->drained = 0;
  last->tid = last->pid = static_cast<uint32_t>(getpid());
  last->pending[0].bytes = 17;
  last->state = wire::kChunkOwned | (g_slot_index + 1) << wire::kChunkClaimerShift;
  for (int i = 0; i < 2; ++i) {
    ASSERT_TRUE(WriteOut(last));
    EXPECT_NE(last->drained, 0u);
    EXPECT_EQ(last->index, place);
  }
  const pid_t child = fork();
  if (child == 0) {
    _exit(0);
  }
  ASSERT_EQ(waitpid(child, nullptr, 0), child);
  last->tid = last->pid = static_cast<uint32_t>(child);
  const uint32_t next = g_header->next_chunk;
  ASSERT_TRUE(WriteOut(last));
  EXPECT_EQ(last->index, place);
  EXPECT_EQ(g_header->next_chunk, next);
  last->pending[0].bytes = 0;
  RetireChunk(last);
}

// Only the program that ran in this process before is replaced, not a process of another container
// with the same pid that started at the same time.
TEST_F(RecorderTest, AClaimRetiresNoSlotOfAnotherPidNamespace) {
  const pid_t child = fork();
  if (child == 0) {
    if (Self() == nullptr || g_slot_index + 1 >= wire::kMaxProcesses) {
      _exit(1);
    }
    wire::ProcessSlot* const own = g_slot;
    wire::ProcessSlot* const other = own + 1;
    if (other->state != wire::kProcessFree) {
      _exit(2);
    }
    other->pid = own->pid;
    other->process_start = own->process_start;
    other->pid_namespace = own->pid_namespace + 1;
    other->state = wire::kProcessLive;
    if (!ClaimSlot() || g_slot != own + 2) {
      _exit(3);
    }
    const bool kept = other->state == wire::kProcessLive;
    other->state = wire::kProcessReplaced;
    _exit(kept && own->state == wire::kProcessReplaced ? 0 : 4);
  }
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

// The collector frees slots of processes that have ended.
TEST_F(RecorderTest, AClaimRetiresAnEarlierSlotBehindAFreeOne) {
  const pid_t child = fork();
  if (child == 0) {
    if (Self() == nullptr || g_slot_index + 3 >= wire::kMaxProcesses) {
      _exit(1);
    }
    wire::ProcessSlot* const own = g_slot;
    wire::ProcessSlot* const earlier = own + 3;
    if (own[1].state != wire::kProcessFree || earlier->state != wire::kProcessFree) {
      _exit(2);
    }
    earlier->pid = own->pid;
    earlier->process_start = own->process_start;
    earlier->pid_namespace = own->pid_namespace;
    earlier->state = wire::kProcessLive;
    if (!ClaimSlot() || g_slot != own + 1) {
      _exit(3);
    }
    _exit(earlier->state == wire::kProcessReplaced ? 0 : 4);
  }
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

// Its start was read before the process attached.
TEST_F(RecorderTest, AReadWhoseStartIsOfAnotherClockIsLost) {
  const bool saved = g_tsc;
  g_tsc = true;
  const uint64_t lost = g_slot->bytes_lost;
  const uint64_t counted = g_slot->bytes_dataset;
  const Descriptor from{200, 0, FdKind::kDataset, 0};
  CountRead(from, g_attached_at - 1, g_attached_at + 1, 100);
  CountRead(from, g_attached_at + 2, g_attached_at + 1, 100);
  CountRead(from, g_attached_at + 1, g_attached_at + 2, 10);
  g_tsc = saved;
  EXPECT_EQ(g_slot->bytes_lost, lost + 200);
  EXPECT_EQ(g_slot->bytes_dataset, counted + 10);
  FlushReads(Self());
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
