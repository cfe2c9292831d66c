// SPDX-License-Identifier: Apache-2.0
//
// Maps texts of NVTX and names of kernels and CUDA calls to string ids. The recording's own hash
// takes 4 cycles a byte, so hashing a name would take longer than pushing a range. A cache finds
// recent names by a faster hash.
#pragma once

#include <stddef.h>
#include <stdint.h>

namespace penstock::agent {

// The ids of recent names; names whose hashes share a slot replace each other. Zeroed memory is an
// empty cache. Threads: one at a time.
struct NameCache {
  static constexpr size_t kEntries = 256;  // a power of two
  struct Entry {
    uint64_t hash;
    uint64_t id;
  };
  Entry entries[kEntries];
};

// Returns the id of `text`, or 0 if it is null or empty. If the cache lacks it, writes the text to
// the recording, unless this process has done so lately. Cuts texts at 1,024 bytes. Drops the
// sequence number and the operator's number that PyTorch's emit_nvtx appends ("aten::add, seq = 7,
// op_id = 12").
// Cost: about 10 ns for a cached name of 20 bytes.
uint64_t CachedName(NameCache* cache, const char* text);
// The same for a wide-character string, which is recorded as UTF-8.
uint64_t CachedName(NameCache* cache, const wchar_t* text);

}  // namespace penstock::agent
