// SPDX-License-Identifier: Apache-2.0
//
// Texts of NVTX and names of kernels to string ids. A range is pushed in less time than hashing its
// name with the recording's own hash takes (4 cycles a byte), so each thread remembers the ids of
// its last names under a faster hash.
#pragma once

#include <stddef.h>
#include <stdint.h>

namespace penstock::agent {

// The last names of one thread. Zeroed memory is an empty one.
struct NameCache {
  static constexpr size_t kEntries = 256;  // a power of two
  struct Entry {
    uint64_t hash;
    uint64_t id;
  };
  Entry entries[kEntries];
};

// The id of a text, written to the recording if it is new there. PyTorch's emit_nvtx adds a running
// number to the names of its operators ("aten::add, seq = 7, op_id = 12"); it is left out.
// Cost: about 10 ns for a name of 20 bytes that the cache has.
uint64_t CachedName(NameCache* cache, const char* text);
// The same of a wide text, as UTF-8.
uint64_t CachedName(NameCache* cache, const wchar_t* text);

}  // namespace penstock::agent
