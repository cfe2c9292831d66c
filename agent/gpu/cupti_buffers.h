// SPDX-License-Identifier: Apache-2.0
//
// The buffers that CUPTI fills: a fixed table, zeroed and touched before they are handed out
// (otherwise CUPTI zeroes them on the program's thread). CUPTI's callbacks come on any thread,
// under its lock: they change one state each and wait for nobody. One flush thread takes what is
// full.
#pragma once

#include <stddef.h>
#include <stdint.h>

namespace penstock::agent::cupti {

inline constexpr size_t kBufferSize = 1 << 20;
inline constexpr uint32_t kBuffers = 64;    // 64 MiB: what is handed out at most
inline constexpr uint32_t kReserved = 128;  // where CUPTI cannot bear to get none

struct BufferCounts {
  uint64_t refused;  // requests that got none
  uint64_t lost;  // records in buffers that were handed out again before they were read, or behind
                  // one that could not be; by the mean size of those that were read
  uint64_t foreign;  // came back without being ours
  uint64_t out;      // at this moment with CUPTI
};

// `may_refuse`: CUPTI survives to get no buffer (CUDA 12.9). Returns false without memory.
bool PrepareBuffers(bool may_refuse);
// For CUPTI's request callback; nullptr: none. `open`: what comes is read. If not, CUPTI gets no
// buffer where it bears that, else the same few in turn.
uint8_t* HandOutBuffer(bool open);
// For CUPTI's completion callback.
void TakeBackBuffer(uint8_t* buffer, size_t valid);

// For the flush thread: the next full one, or nullptr. Give it back with RecycleBuffer(), which is
// told how many records were in it, and how many of its bytes could not be read.
uint8_t* NextFullBuffer(size_t* valid);
void RecycleBuffer(uint8_t* buffer, size_t valid, uint64_t records, size_t unread);
// Keeps a few in stock, so that no request maps memory.
void StockBuffers();
BufferCounts CountBuffers();

}  // namespace penstock::agent::cupti
