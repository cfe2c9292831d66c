// SPDX-License-Identifier: Apache-2.0
//
// One chunk of a recording, read without trusting it. Does not own the memory, which an agent may
// be writing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>

#include "traces/wire.h"

namespace penstock::traces {

// What a drain remembers about a chunk between two visits.
struct ChunkState {
  std::uint32_t taken = 0;     // records read
  std::uint32_t thread = ~0u;  // index into the drain's threads
  bool anchored = false;       // its clock anchor was added to the clock
  bool damaged = false;        // the damage of its header was reported
  bool inflight_done = false;  // its unfinished operations were written
  bool finished = false;       // all was read; give it back when that is on disk
  // A text of which more parts are to come.
  std::uint64_t text_id = 0;
  std::uint16_t text_total = 0;
  std::uint16_t text_parts = 0;  // 0: none open
  std::uint8_t text_type = 0;
  std::string text;
};

// No read before this call is delayed until after it. ThreadSanitizer does not know fences, and gcc
// warns about that.
inline void FinishReads() {
#if defined(__SANITIZE_THREAD__)
  __asm__ volatile("" ::: "memory");
#else
  __atomic_thread_fence(__ATOMIC_ACQUIRE);
#endif
}

class ChunkView {
 public:
  // Requires: `bytes` begins at a chunk and is at most kChunkSize long; a file may end in it.
  explicit ChunkView(std::span<std::byte> bytes) : bytes_(bytes) {}

  [[nodiscard]] bool has_header() const { return bytes_.size() >= wire::kChunkHeaderSize; }
  // Requires: has_header().
  [[nodiscard]] wire::ChunkHeader& header() const {
    // NOLINTNEXTLINE(cppcoreguidelines-pro-type-reinterpret-cast): shared memory
    return *reinterpret_cast<wire::ChunkHeader*>(bytes_.data());
  }
  // Set last when a chunk is claimed: if it is not 0, the other fields are set.
  [[nodiscard]] std::uint32_t pid() const {
    return __atomic_load_n(&header().pid, __ATOMIC_ACQUIRE);
  }
  [[nodiscard]] std::uint32_t state() const {
    return __atomic_load_n(&header().state, __ATOMIC_ACQUIRE) & wire::kChunkStateMask;
  }
  // The slot of the process that is claiming the chunk; kMaxProcesses if none is, or if the state
  // does not name it.
  [[nodiscard]] std::uint32_t claimer() const {
    const std::uint32_t word = __atomic_load_n(&header().state, __ATOMIC_ACQUIRE);
    const std::uint32_t slot = (word >> wire::kChunkClaimerShift) - 1;
    return (word & wire::kChunkStateMask) == wire::kChunkOwned && slot < wire::kMaxProcesses
               ? slot
               : wire::kMaxProcesses;
  }
  [[nodiscard]] std::uint32_t committed() const {
    return __atomic_load_n(&header().committed, __ATOMIC_ACQUIRE);
  }
  [[nodiscard]] std::uint32_t inflight_depth() const {
    return __atomic_load_n(&header().inflight_depth, __ATOMIC_ACQUIRE);
  }
  // Copied word by word, because the thread of the entries may be running.
  [[nodiscard]] wire::Inflight InflightAt(std::uint32_t i) const {
    return Copy(header().inflight[i]);
  }
  // The operation that lasts over several calls; its stage is 0 if there is none.
  [[nodiscard]] wire::Inflight Operation() const { return Copy(header().operation); }
  // A copy of the reads that a thread has not yet written as records. It is from one moment if the
  // thread is dead, or if the thread changed nothing during one of eight tries.
  struct PendingReads {
    wire::PendingRead reads[wire::kPendingReads];
    std::uint64_t closing;
    std::uint64_t counting;
    std::uint32_t committed;
  };
  [[nodiscard]] PendingReads Pending() const {
    constexpr int kTries = 8;
    PendingReads out;
    const wire::ChunkHeader& h = header();
    for (int i = 0; i < kTries; ++i) {
      // `counting` is loaded before the reads: a read that is complete by then has been added to
      // the process's counts.
      out.closing = __atomic_load_n(&h.closing, __ATOMIC_ACQUIRE);
      out.counting = __atomic_load_n(&h.counting, __ATOMIC_ACQUIRE);
      out.committed = committed();
      for (std::uint32_t k = 0; k < wire::kPendingReads; ++k) {
        out.reads[k] = Copy(h.pending[k]);
      }
      FinishReads();
      if (committed() == out.committed &&
          __atomic_load_n(&h.closing, __ATOMIC_RELAXED) == out.closing) {
        break;
      }
    }
    return out;
  }
  // The number of records that lie within the file.
  [[nodiscard]] std::uint32_t room() const {
    return has_header() ? static_cast<std::uint32_t>((bytes_.size() - wire::kChunkHeaderSize) /
                                                     wire::kRecordSize)
                        : 0;
  }
  [[nodiscard]] const std::byte* record(std::uint32_t i) const {
    return bytes_.data() + wire::kChunkHeaderSize + std::size_t{i} * wire::kRecordSize;
  }
  // Whether nothing was written here. Requires: has_header().
  [[nodiscard]] bool IsZero() const {
    // NOLINTNEXTLINE(cppcoreguidelines-pro-type-reinterpret-cast): shared memory
    const auto* words = reinterpret_cast<const std::uint64_t*>(bytes_.data());
    for (std::size_t i = 0; i < offsetof(wire::ChunkHeader, reserved1) / 8; ++i) {
      if (__atomic_load_n(words + i, __ATOMIC_RELAXED) != 0) {
        return false;
      }
    }
    return true;
  }
  // How far a collector was when its file had mark number `mark` (Packer::Flush()). Two marks are
  // kept: while one is written, the previous one may be the last in the file.
  struct Drained {
    std::uint32_t records = 0;
    bool rest = false;  // the pending reads and open operations of a dead thread were taken too
  };
  [[nodiscard]] Drained DrainedAt(std::uint64_t mark) const {
    const std::uint64_t both = __atomic_load_n(&header().drained, __ATOMIC_RELAXED);
    const auto half = static_cast<std::uint32_t>(both >> ShiftOf(mark));
    return {half & ~kRest, (half & kRest) != 0};
  }
  void SetDrained(std::uint64_t mark, Drained drained) const {
    const std::uint64_t half = drained.records | (drained.rest ? kRest : 0);
    const std::uint64_t both = __atomic_load_n(&header().drained, __ATOMIC_RELAXED);
    const std::uint64_t other = both & ~(std::uint64_t{0xffffffff} << ShiftOf(mark));
    __atomic_store_n(&header().drained, other | half << ShiftOf(mark), __ATOMIC_RELAXED);
  }
  // Gives the chunk back to the agents. Requires: its writer is done with it.
  void Recycle() const {
    wire::ChunkHeader& h = header();
    __atomic_store_n(&h.inflight_depth, 0u, __ATOMIC_RELAXED);
    __atomic_store_n(&h.operation.stage, std::uint8_t{0}, __ATOMIC_RELAXED);
    __atomic_store_n(&h.committed, 0u, __ATOMIC_RELAXED);
    __atomic_store_n(&h.pid, 0u, __ATOMIC_RELAXED);
    __atomic_store_n(&h.drained, std::uint64_t{0}, __ATOMIC_RELAXED);
    for (wire::PendingRead& read : h.pending) {
      __atomic_store_n(&read.bytes, std::uint64_t{0}, __ATOMIC_RELAXED);
    }
    h.tid = 0;
    h.writer = 0;
    h.process_start = 0;
    __atomic_store_n(&h.state, std::uint32_t{wire::kChunkFree}, __ATOMIC_RELEASE);
  }

 private:
  static constexpr std::uint32_t kRest = 0x80000000u;
  static constexpr unsigned ShiftOf(std::uint64_t mark) { return mark % 2 == 0 ? 0 : 32; }
  template <class Entry>
  static Entry Copy(const Entry& entry) {
    std::uint64_t words[sizeof(Entry) / 8];
    // NOLINTNEXTLINE(cppcoreguidelines-pro-type-reinterpret-cast): shared memory
    const auto* from = reinterpret_cast<const std::uint64_t*>(&entry);
    for (std::size_t w = 0; w < std::size(words); ++w) {
      words[w] = __atomic_load_n(from + w, __ATOMIC_RELAXED);
    }
    Entry out;
    std::memcpy(&out, words, sizeof out);
    return out;
  }

  std::span<std::byte> bytes_;
};

}  // namespace penstock::traces
