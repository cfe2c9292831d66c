// SPDX-License-Identifier: Apache-2.0
//
// Chunks: threads take them, leave them behind when they end, and take over those of dead
// processes.

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdint>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "agent/core/audit.h"
#include "agent/core/linear_chunks.h"
#include "agent/core/linear_output.h"
#include "agent/core/process.h"
#include "agent/core/recorder.h"
#include "agent/core/thread_state.h"
#include "agent/system/sys.h"
#include "tests/agent/core/recorder_fixture.h"
#include "traces/wire.h"

namespace penstock::agent {
namespace {

// Returns the last chunk of the recording. Threads take it only when all others are in use.
wire::ChunkHeader* LastChunk() {
  return reinterpret_cast<wire::ChunkHeader*>(
      reinterpret_cast<char*>(g_header) + wire::kHeaderSize +
      uint64_t{g_header->chunk_count - 1} * wire::kChunkSize);
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

// Reads the first `count` records of a chunk from the recording's file. The thread that wrote them
// has ended and has unmapped the chunk.
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

// A thread ends in the middle of a call. CPython's daemon threads end in this way when the
// interpreter does.
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

// Many threads claim chunks at once. At each claim a thread compares the hooks' count of bytes with
// the kernel's.
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
            KernelReadBytes() - kernel_before + 65536);  // 65536: bytes read before kernel_before
  EXPECT_LE(hooked, uint64_t{8} * 40 << 20);
  EXPECT_GE(audited, uint64_t{8} * 20 << 20);  // no audit covers what each thread reads last
  EXPECT_NEAR(static_cast<double>(hooked), static_cast<double>(audited), 10 << 20);
}

// A process was killed after the compare-and-swap that takes a chunk and before it stored its pid
// there.
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

// A place of the file that is full of records.
class FullPlace {
 public:
  FullPlace() : fd_(open(g_config.out, O_RDWR | O_CLOEXEC)) {
    EXPECT_TRUE(TakePlace(&index_));
    EXPECT_EQ(pwrite(fd_, records_.data(), records_.size(), Offset()),
              static_cast<ssize_t>(records_.size()));
  }
  ~FullPlace() { close(fd_); }
  FullPlace(const FullPlace&) = delete;
  FullPlace& operator=(const FullPlace&) = delete;

  [[nodiscard]] int fd() const { return fd_; }
  [[nodiscard]] uint32_t index() const { return index_; }
  // Whether the records are still there.
  [[nodiscard]] bool IsUntouched() const {
    std::string there(records_.size(), 0);
    EXPECT_EQ(pread(fd_, there.data(), there.size(), Offset()), static_cast<ssize_t>(there.size()));
    return there == records_;
  }

 private:
  [[nodiscard]] off_t Offset() const {
    return static_cast<off_t>(wire::kHeaderSize + uint64_t{index_} * wire::kChunkSize);
  }

  int fd_;
  uint32_t index_ = 0;
  std::string records_ = std::string(wire::kChunkSize, 'r');
};

// The owner was killed after it had written its chunk to the file and emptied it. It had not yet
// given the chunk another place in the file.
TEST_F(RecorderTest, AnEmptyChunkIsNotWrittenOverItsRecords) {
  const pid_t child = fork();
  if (child == 0) {
    _exit(0);
  }
  ASSERT_EQ(waitpid(child, nullptr, 0), child);
  const uint32_t slot = wire::kMaxProcesses - 1;
  g_header->processes[slot].pid = static_cast<uint32_t>(child);
  g_header->processes[slot].pid_namespace = g_slot->pid_namespace;
  const FullPlace place;
  wire::ChunkHeader* last = LastChunk();
  ASSERT_EQ(last->state, wire::kChunkFree);
  last->index = place.index();
  last->process = slot;
  last->drained = 1;
  last->tid = last->pid = static_cast<uint32_t>(child);
  last->state = wire::kChunkOwned | (slot + 1) << wire::kChunkClaimerShift;
  ReclaimDeadChunks();
  EXPECT_EQ(last->state, wire::kChunkFree);
  EXPECT_TRUE(place.IsUntouched());
  g_header->processes[slot].pid_namespace = 0;
  g_header->processes[slot].pid = 0;
}

// A process that has ended left a chunk to others. The chunk has no records, but a sum of reads
// that is not yet a span. Writing the chunk again must not take a new place, or these bytes count
// twice.
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

// A process ends while a thread frees a chunk: the header of the chunk is already empty, and its
// records are in the file.
TEST_F(RecorderTest, AChunkThatAnotherThreadFreesIsNotWrittenAtTheEnd) {
  constexpr uint32_t kSweeping = 3;  // as in linear_chunks.cc
  const FullPlace place;
  wire::ChunkHeader* last = LastChunk();
  ASSERT_EQ(last->state, wire::kChunkFree);
  last->magic = wire::kChunkMagic;
  last->index = place.index();
  last->process = g_slot_index;
  last->drained = 0;
  last->tid = last->pid = static_cast<uint32_t>(getpid());
  last->state = kSweeping;
  WriteUnlessRetired(place.fd(), last);
  EXPECT_TRUE(place.IsUntouched());
  EXPECT_EQ(last->state, kSweeping);
  const uint32_t owned = wire::kChunkOwned | (g_slot_index + 1) << wire::kChunkClaimerShift;
  last->state = owned;
  WriteUnlessRetired(place.fd(), last);
  EXPECT_FALSE(place.IsUntouched());
  EXPECT_EQ(last->state, owned);
  RetireChunk(last);
  EXPECT_EQ(last->state, wire::kChunkFree);
}

}  // namespace
}  // namespace penstock::agent
