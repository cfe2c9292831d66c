// SPDX-License-Identifier: Apache-2.0
//
// Samples kept in memory after their first read, up to a budget. Shared by all threads.
//
// Nothing is ever evicted, so a span stays valid as long as the cache. An epoch reads each sample
// once. With the first samples kept, the share of the reads that hit is the budget over the size of
// the set. With a set larger than the budget, LRU would hit less often, and never if the order
// stays the same: it would evict each sample before its next use.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>

#include "loader/source/sample.h"
#include "traces/base/units.h"

namespace penstock::loader {

struct RamCacheStats {
  std::uint64_t hits = 0;
  std::uint64_t misses = 0;
  std::uint64_t refused = 0;  // not kept: the budget was used up, or there was no memory
  std::uint64_t entries = 0;
  Bytes used;  // payload and bookkeeping, never above the budget
  Bytes budget;
};

class RamCache {
 public:
  explicit RamCache(Bytes budget);
  ~RamCache();
  RamCache(const RamCache&) = delete;
  RamCache& operator=(const RamCache&) = delete;

  // Returns the bytes of this sample if the cache has them. Counts a hit or a miss.
  // Cost: one hash of the path, one lock of 1/64 of the table.
  [[nodiscard]] std::optional<std::span<const std::byte>> Find(const SampleRef& ref);

  // Keeps a copy if the budget allows. True if the sample is in the cache afterwards. A sample that
  // is already there stays as it is.
  bool Insert(const SampleRef& ref, std::span<const std::byte> bytes);

  [[nodiscard]] RamCacheStats stats() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace penstock::loader
