// SPDX-License-Identifier: Apache-2.0
//
// How much of a sample is in the page cache, and so whether a run is cold or warm. Asking does not
// change the cache. Thread-safe.
#pragma once

#include <cstdint>

#include "loader/source/sample.h"

namespace penstock::loader {

struct CacheState {
  std::uint64_t pages = 0;   // that the sample touches
  std::uint64_t cached = 0;  // those of them that are in memory
  // False: the file cannot be opened or is no regular file, or the kernel does not tell.
  bool known = false;
};

// Uses cachestat(2) (Linux 6.5), else mincore(2), which is right only for files that the caller
// owns or could write. Cost: about 2 us with cachestat, most of it for opening the file.
[[nodiscard]] CacheState PageCacheState(const SampleRef& ref);

// Asks the kernel to drop the sample's clean pages, for a cold run. Dirty, mapped and locked pages
// stay, and so do pages that hold other bytes too. On tmpfs all stay. False if the file cannot be
// opened or is no regular file, or the kernel refuses.
bool DropFromPageCache(const SampleRef& ref);

}  // namespace penstock::loader
