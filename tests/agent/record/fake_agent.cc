// SPDX-License-Identifier: Apache-2.0
#include "tests/agent/record/fake_agent.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/shm.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <ctime>

#include "agent/record/sample/proc_fs.h"
#if defined(__x86_64__)
#include <x86intrin.h>
#endif

namespace penstock::record {

namespace {

// Returns nullptr if there is no such ring.
void* MapRing(const char* arena) {
  int segment = -1;
  if (std::sscanf(arena, "sysv:%d:", &segment) == 1) {
    void* at = shmat(segment, nullptr, 0);
    return at == reinterpret_cast<void*>(-1) ? nullptr : at;
  }
  const int fd = open(arena, O_RDWR | O_CLOEXEC);
  struct stat info {};
  if (fd < 0 || fstat(fd, &info) != 0) return nullptr;
  void* memory = mmap(nullptr, static_cast<std::size_t>(info.st_size), PROT_READ | PROT_WRITE,
                      MAP_SHARED, fd, 0);
  close(fd);
  return memory == MAP_FAILED ? nullptr : memory;
}

}  // namespace

FakeProcess::FakeProcess(const char* arena) {
  void* memory = arena != nullptr ? MapRing(arena) : nullptr;
  if (memory == nullptr) return;
  header_ = static_cast<wire::FileHeader*>(memory);
  if (std::memcmp(header_->magic, wire::kMagic, sizeof wire::kMagic) != 0) {
    header_ = nullptr;
    return;
  }
  Claim();
}

void FakeProcess::Claim() {
  for (slot_ = 0; slot_ < wire::kMaxProcesses; ++slot_) {
    std::uint32_t expected = wire::kProcessFree;
    if (__atomic_compare_exchange_n(&slot().state, &expected, wire::kProcessClaimed, false,
                                    __ATOMIC_ACQ_REL, __ATOMIC_RELAXED)) {
      break;
    }
  }
  slot().pid = static_cast<std::uint32_t>(getpid());
  slot().parent = static_cast<std::uint32_t>(getppid());
  slot().role = wire::kRoleWorker;
  slot().worker_id = -1;
  const auto stat = ParseStat(ReadFile("/proc/self/stat").value_or(""));
  slot().process_start = stat ? stat->start : 0;
  const auto io = ParseIo(ReadFile("/proc/self/io").value_or(""));
  slot().rchar_at_start = io ? io->rchar.value : 0;
  __atomic_store_n(&slot().state, wire::kProcessLive, __ATOMIC_RELEASE);
}

wire::ChunkHeader* FakeProcess::chunk(std::uint32_t index) const {
  return reinterpret_cast<wire::ChunkHeader*>(reinterpret_cast<char*>(header_) + wire::kHeaderSize +
                                              std::size_t{index} * wire::kChunkSize);
}

std::uint64_t FakeProcess::Now() const {
#if defined(__x86_64__)
  if (header_->clock == wire::kClockTsc) return __rdtsc();
#endif
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000u +
         static_cast<std::uint64_t>(now.tv_nsec);
}

bool FakeThread::NextChunk() {
  wire::FileHeader& header = process_.header();
  const std::uint32_t count = header.chunk_count;
  const std::uint32_t hint = __atomic_load_n(&header.next_chunk, __ATOMIC_RELAXED);
  wire::ChunkHeader* found = nullptr;
  for (std::uint32_t i = 0; i < count && found == nullptr; ++i) {
    wire::ChunkHeader* chunk = process_.chunk((hint + i) % count);
    std::uint32_t expected = wire::kChunkFree;
    if (__atomic_compare_exchange_n(&chunk->state, &expected, wire::kChunkOwned, false,
                                    __ATOMIC_ACQ_REL, __ATOMIC_RELAXED)) {
      found = chunk;
      __atomic_store_n(&header.next_chunk, (hint + i + 1) % count, __ATOMIC_RELAXED);
    }
  }
  if (found == nullptr) return false;
  found->process = process_.slot_index();
  found->process_start = process_.slot().process_start;
  found->sequence = sequence_++;
  found->dropped = dropped_;
  timespec mono{};
  timespec real{};
  clock_gettime(CLOCK_MONOTONIC, &mono);
  clock_gettime(CLOCK_REALTIME, &real);
  const std::uint64_t ticks = process_.Now();
  // If the clock is not the TSC, ticks are monotonic time, so both values of the anchor must be
  // equal.
  found->anchor = {ticks,
                   header.clock != wire::kClockTsc
                       ? ticks
                       : static_cast<std::uint64_t>(mono.tv_sec) * 1'000'000'000u +
                             static_cast<std::uint64_t>(mono.tv_nsec),
                   static_cast<std::uint64_t>(real.tv_sec) * 1'000'000'000u +
                       static_cast<std::uint64_t>(real.tv_nsec)};
  std::strcpy(found->thread_name, "fake");
  found->tid = static_cast<std::uint32_t>(syscall(SYS_gettid));
  __atomic_store_n(&found->pid, process_.slot().pid, __ATOMIC_RELEASE);
  if (chunk_ != nullptr) __atomic_store_n(&chunk_->state, wire::kChunkFull, __ATOMIC_RELEASE);
  chunk_ = found;
  return true;
}

bool FakeThread::Room(std::uint32_t records) {
  return (chunk_ != nullptr && chunk_->committed + records <= wire::kRecordsPerChunk) ||
         NextChunk();
}

void FakeThread::Commit(const void* record) {
  const std::uint32_t at = chunk_->committed;
  char* to = reinterpret_cast<char*>(chunk_) + wire::kChunkHeaderSize + at * wire::kRecordSize;
  std::memcpy(to, record, wire::kRecordSize);
  const std::uint16_t check = wire::CheckOf(to);
  std::memcpy(to + offsetof(wire::Record, check), &check, sizeof check);
  __atomic_store_n(&chunk_->committed, at + 1, __ATOMIC_RELEASE);
}

bool FakeThread::Span(std::int64_t sample, std::uint64_t start) {
  if (__atomic_load_n(&process_.header().recording, __ATOMIC_RELAXED) == 0) return false;
  if (!Room(1)) {
    ++dropped_;
    __atomic_fetch_add(&process_.slot().dropped, 1u, __ATOMIC_RELAXED);
    __atomic_fetch_add(&process_.header().dropped, 1u, __ATOMIC_RELAXED);
    return false;
  }
  wire::Record record{};
  record.kind = wire::kKindSpan;
  record.stage = wire::kDecode;
  record.name = static_cast<std::uint32_t>(wire::HashOf("fake", 4));
  record.start = start;
  record.duration = process_.Now() - start;
  record.sample = sample;
  record.batch = wire::kNoBatch;
  Commit(&record);
  __atomic_store_n(&chunk_->inflight_depth, 0u, __ATOMIC_RELEASE);
  return true;
}

void FakeThread::Open(std::int64_t sample) {
  if (chunk_ == nullptr) return;
  wire::Inflight& open = chunk_->inflight[0];
  open = {};
  open.stage = wire::kSample;
  open.name = static_cast<std::uint32_t>(wire::HashOf("fake", 4));
  open.start = process_.Now();
  open.sample = sample;
  open.batch = wire::kNoBatch;
  __atomic_store_n(&chunk_->inflight_depth, 1u, __ATOMIC_RELEASE);
}

void FakeThread::Text(wire::TextType type, std::uint64_t id, const std::string& text) {
  const auto parts =
      static_cast<std::uint32_t>((text.size() + wire::kTextPayload - 1) / wire::kTextPayload);
  if (!Room(parts)) return;
  for (std::uint32_t part = 0; part < parts; ++part) {
    wire::TextRecord record{};
    record.kind = wire::kKindText;
    record.type = type;
    record.part = static_cast<std::uint16_t>(part);
    record.total = static_cast<std::uint16_t>(text.size());
    record.id = id;
    const std::size_t at = std::size_t{part} * wire::kTextPayload;
    std::memcpy(record.payload, text.data() + at,
                std::min<std::size_t>(text.size() - at, wire::kTextPayload));
    Commit(&record);
  }
}

}  // namespace penstock::record
