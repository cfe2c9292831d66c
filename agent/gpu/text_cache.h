// SPDX-License-Identifier: Apache-2.0
//
// Maps texts of NVTX and names of kernels to string ids. Hashing a name with the recording's own
// hash (4 cycles a byte) takes longer than pushing a range, so each thread remembers the ids of its
// last names under a faster hash.
#pragma once

#include <stddef.h>
#include <stdint.h>

namespace penstock::agent {

// The last names of one thread. Zeroed memory is an empty cache.
struct NameCache {
  static constexpr size_t kEntries = 256;  // a power of two
  struct Entry {
    uint64_t hash;
    uint64_t id;
  };
  Entry entries[kEntries];
};

// Returns the id of a text, and writes the text to the recording if it is new there. Leaves out the
// running number that PyTorch's emit_nvtx adds to the names of operators ("aten::add, seq = 7,
// op_id = 12").
// Cost: about 10 ns for a name of 20 bytes that the cache has.
uint64_t CachedName(NameCache* cache, const char* text);
// The same for a wide text, which is recorded as UTF-8.
uint64_t CachedName(NameCache* cache, const wchar_t* text);

}  // namespace penstock::agent
