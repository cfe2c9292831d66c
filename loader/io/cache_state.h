// SPDX-License-Identifier: Apache-2.0
//
// Tells how much of a sample is in the page cache without changing the cache, and so whether a run
// is cold or warm. Thread-safe.
#pragma once

#include <cstdint>

#include "loader/source/sample.h"

namespace penstock::loader {

struct CacheState {
  std::uint64_t pages = 0;   // that the sample touches
  std::uint64_t cached = 0;  // those of them that are in memory
  bool known = false;        // false: the file cannot be opened, or the kernel does not tell
};

// Uses cachestat(2) (Linux 6.5), else mincore(2), which is right only for files that the caller
// could write. Cost: about 2 us with cachestat, most of it for opening the file.
[[nodiscard]] CacheState PageCacheState(const SampleRef& ref);

// Asks the kernel to drop the sample's clean pages, for a cold run. Dirty, mapped and locked pages
// stay, and on tmpfs all do. False if the file cannot be opened.
bool DropFromPageCache(const SampleRef& ref);

}  // namespace penstock::loader
