// SPDX-License-Identifier: Apache-2.0

#include "agent/gpu/cupti_buffers.h"

#include <sys/mman.h>

#include "agent/core/process.h"
#include "agent/gpu/cupti_abi.h"
#include "agent/system/sys.h"

namespace penstock::agent::cupti {
namespace {

enum State : uint32_t {
  kNone,     // the entry has no memory
  kMaking,   // a thread is mapping its memory
  kFree,     // zeroed
  kOut,      // CUPTI has it
  kFull,     // CUPTI has given it back
  kReading,  // the flush thread has it
};

struct Buffer {
  uint8_t* data;
  size_t valid;
  uint32_t state;  // atomic State; whoever changes it owns the other fields until the next change
};
Buffer g_buffers[kReserved];
bool g_may_refuse = false;
BufferCounts g_counts;          // atomics
uint64_t g_read_bytes = 0;      // atomic: of all records that were read
uint64_t g_read_records = 0;    // atomic
constexpr uint32_t kStock = 4;  // free buffers that StockBuffers() keeps ready

bool Move(Buffer& buffer, State from, State to) {
  uint32_t expected = from;
  return __atomic_load_n(&buffer.state, __ATOMIC_RELAXED) == from &&
         __atomic_compare_exchange_n(&buffer.state, &expected, uint32_t{to}, false,
                                     __ATOMIC_ACQ_REL, __ATOMIC_RELAXED);
}

void Set(Buffer& buffer, State to) {
  __atomic_store_n(&buffer.state, uint32_t{to}, __ATOMIC_RELEASE);
}

void Count(uint64_t* counter, uint64_t by = 1) {
  __atomic_fetch_add(counter, by, __ATOMIC_RELAXED);
}

// Counts the records in `bytes` bytes that nobody will read. Estimates their number from the mean
// size of those that were read, or, before any was read, from the size of a call: most are calls.
void CountLost(size_t bytes) {
  const uint64_t read = __atomic_load_n(&g_read_bytes, __ATOMIC_RELAXED);
  const uint64_t records = __atomic_load_n(&g_read_records, __ATOMIC_RELAXED);
  const uint64_t size = records != 0 && read >= records ? read / records : at::Api::kSize;
  const uint64_t lost = (bytes + size - 1) / size;
  Count(&g_counts.lost, lost);
  CountDropped(lost);  // so that reports include them in "events dropped"
}

// Maps a buffer for one of the first `limit` entries and sets that entry's state to `state`.
// nullptr: all these entries have a buffer, or there is no memory.
Buffer* Make(uint32_t limit, State state) {
  for (uint32_t i = 0; i < limit; ++i) {
    Buffer& buffer = g_buffers[i];
    if (!Move(buffer, kNone, kMaking)) {
      continue;
    }
    buffer.data =
        static_cast<uint8_t*>(sys::Map(nullptr, kBufferSize, PROT_READ | PROT_WRITE,
                                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0));
    if (buffer.data == nullptr) {
      Set(buffer, kNone);
      return nullptr;
    }
    Set(buffer, state);
    return &buffer;
  }
  return nullptr;
}

Buffer* Take(State from, State to) {
  for (Buffer& buffer : g_buffers) {
    if (Move(buffer, from, to)) {
      return &buffer;
    }
  }
  return nullptr;
}

}  // namespace

bool PrepareBuffers(bool may_refuse) {
  g_may_refuse = may_refuse;
  StockBuffers();
  return g_buffers[0].data != nullptr;
}

uint8_t* HandOutBuffer(bool open) {
  if (!open && g_may_refuse) {
    return nullptr;
  }
  Buffer* buffer = Take(kFree, kOut);
  if (buffer == nullptr && open) {
    buffer = Make(kBuffers, kOut);
  }
  if (buffer == nullptr && !g_may_refuse) {
    // This CUPTI crashes the program if it gets no buffer, so it gets a full one: the records in it
    // are lost.
    buffer = Take(kFull, kOut);
    if (buffer != nullptr) {
      __builtin_memset(buffer->data, 0, buffer->valid);
      if (open) {
        CountLost(buffer->valid);
      }
    } else {
      buffer = Make(kReserved, kOut);
    }
  }
  if (buffer == nullptr) {
    Count(&g_counts.refused);
    return nullptr;
  }
  return buffer->data;
}

void TakeBackBuffer(uint8_t* data, size_t valid) {
  if (data == nullptr) {
    return;  // the request was refused: there is no buffer
  }
  for (Buffer& buffer : g_buffers) {
    if (__atomic_load_n(&buffer.state, __ATOMIC_ACQUIRE) == kOut && buffer.data == data) {
      buffer.valid = valid < kBufferSize ? valid : kBufferSize;
      Set(buffer, kFull);
      return;
    }
  }
  Count(&g_counts.foreign);
}

uint8_t* NextFullBuffer(size_t* valid) {
  Buffer* buffer = Take(kFull, kReading);
  if (buffer == nullptr) {
    return nullptr;
  }
  *valid = buffer->valid;
  return buffer->data;
}

void RecycleBuffer(uint8_t* data, size_t valid, uint64_t records, size_t unread) {
  Count(&g_read_bytes, valid - unread);
  Count(&g_read_records, records);
  if (unread != 0) {
    CountLost(unread);
  }
  for (Buffer& buffer : g_buffers) {
    if (__atomic_load_n(&buffer.state, __ATOMIC_RELAXED) == kReading && buffer.data == data) {
      __builtin_memset(data, 0, valid);
      Set(buffer, kFree);
      return;
    }
  }
}

void StockBuffers() {
  uint32_t free = 0;
  for (const Buffer& buffer : g_buffers) {
    free += __atomic_load_n(&buffer.state, __ATOMIC_RELAXED) == kFree ? 1u : 0u;
  }
  while (free < kStock && Make(kBuffers, kFree) != nullptr) {
    ++free;
  }
}

BufferCounts CountBuffers() {
  BufferCounts counts = {__atomic_load_n(&g_counts.refused, __ATOMIC_RELAXED),
                         __atomic_load_n(&g_counts.lost, __ATOMIC_RELAXED),
                         __atomic_load_n(&g_counts.foreign, __ATOMIC_RELAXED), 0};
  for (const Buffer& buffer : g_buffers) {
    counts.out += __atomic_load_n(&buffer.state, __ATOMIC_RELAXED) == kOut ? 1u : 0u;
  }
  return counts;
}

}  // namespace penstock::agent::cupti
