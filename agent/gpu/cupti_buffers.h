// SPDX-License-Identifier: Apache-2.0
//
// The buffers that CUPTI fills, in a table of fixed size. They are zeroed before they are handed
// out, since CUPTI would otherwise zero them on the program's thread. CUPTI calls its callbacks on
// any thread, and holds a lock of its own meanwhile. Each callback changes the state of one buffer
// and waits for nobody. One flush thread reads the full buffers.
#pragma once

#include <stddef.h>
#include <stdint.h>

namespace penstock::agent::cupti {

inline constexpr size_t kBufferSize = 1 << 20;
inline constexpr uint32_t kBuffers = 64;    // 64 MiB: the most that is handed out
inline constexpr uint32_t kReserved = 128;  // the most for a CUPTI that must not be refused

struct BufferCounts {
  uint64_t refused;  // requests that got no buffer while records were read
  uint64_t lost;     // records in buffers that were handed out again before they were read, and
                     // behind an unreadable record; estimated from the mean size of a record
  uint64_t foreign;  // buffers that came back and are not ours
  uint64_t out;      // buffers that CUPTI has now
};

// `may_refuse`: CUPTI goes on if a request gets no buffer (CUDA 12.9 and later). Returns false if
// there is no memory.
bool PrepareBuffers(bool may_refuse);
// For CUPTI's request callback. nullptr: no buffer. `open`: whether records are still read. If they
// are not, CUPTI gets no buffer. A CUPTI that must not be refused gets the same few buffers in
// turn.
uint8_t* HandOutBuffer(bool open);
// For CUPTI's completion callback.
void TakeBackBuffer(uint8_t* buffer, size_t valid);

// For the flush thread: returns a full buffer, or nullptr. The order of the buffers is not the
// order in which CUPTI gave them back. The caller passes the buffer to RecycleBuffer(), with the
// number of records that it read and the number of bytes that it could not read.
uint8_t* NextFullBuffer(size_t* valid);
void RecycleBuffer(uint8_t* buffer, size_t valid, uint64_t records, size_t unread);
// Makes free buffers until a few are in stock, so that requests seldom have to map memory.
void StockBuffers();
BufferCounts CountBuffers();

}  // namespace penstock::agent::cupti
