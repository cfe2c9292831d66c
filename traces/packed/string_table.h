// SPDX-License-Identifier: Apache-2.0
//
// Texts by number. IdTable and IdCache map contents to ids without keeping the contents. StringRuns
// collects texts for a file; packed_strings.h finds them there again. Not thread-safe while
// written.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "traces/base/bytes.h"

namespace penstock::traces {

// Maps 64-bit keys to 32-bit values. Open addressing: 16 bytes per slot, at most 2/3 full.
class IdTable {
 public:
  // nullptr if the key is not there. Key 0 counts as 1.
  [[nodiscard]] const std::uint32_t* Find(std::uint64_t key) const;
  // The value of `key`; `inserted` says whether it is new (value 0).
  std::uint32_t& At(std::uint64_t key, bool* inserted);
  [[nodiscard]] std::size_t size() const { return used_; }

 private:
  struct Slot {
    std::uint64_t key = 0;
    std::uint32_t value = 0;
  };
  [[nodiscard]] std::size_t Locate(std::uint64_t key) const;
  void Grow();

  std::vector<Slot> slots_;
  std::size_t used_ = 0;
};

// As IdTable, but in bounded memory. Once about 3/4 of `most` slots are taken, a new key replaces
// another one. 12 bytes per slot. Cost: two cache lines.
class IdCache {
 public:
  // Requires: `most` is a power of two, at least 64.
  explicit IdCache(std::size_t most) : most_(most) {}

  // nullptr if the key is not there, or no longer there. Key 0 counts as 1.
  [[nodiscard]] const std::uint32_t* Find(std::uint64_t key) const {
    const std::size_t slot = Locate(key | (key == 0 ? 1u : 0u));
    return slot != keys_.size() ? &values_[slot] : nullptr;
  }
  // The value of `key`, until the next call; `inserted` says whether it is new (value 0).
  std::uint32_t& At(std::uint64_t key, bool* inserted);
  // Whether keys were forgotten.
  [[nodiscard]] bool overflowed() const { return overflowed_; }

 private:
  static constexpr std::size_t kWays = 8;  // keys in a cache line

  [[nodiscard]] std::size_t Locate(std::uint64_t key) const;  // keys_.size() if it is not there
  // One of the two cache lines that may contain `key`.
  [[nodiscard]] std::size_t Line(std::uint64_t key, int which) const;
  // A free slot for `key`; keys_.size() if there is none.
  [[nodiscard]] std::size_t FreeSlot(std::uint64_t key) const;
  void Grow();

  std::size_t most_;
  std::size_t victim_ = 0;
  bool overflowed_ = false;
  std::vector<std::uint64_t> keys_;  // 0: free
  std::vector<std::uint32_t> values_;
};

// Collects texts for kStrings sections.
class StringRuns {
 public:
  void Add(std::uint32_t id, std::string_view text);
  [[nodiscard]] std::size_t pending_bytes() const { return texts_.size(); }
  [[nodiscard]] bool empty() const { return items_.empty(); }
  [[nodiscard]] std::uint32_t count() const { return static_cast<std::uint32_t>(items_.size()); }
  // Writes everything, then forgets it.
  void Write(ByteWriter& out);

 private:
  struct Item {
    std::uint32_t id;
    std::uint32_t size;
  };
  std::string texts_;
  std::vector<Item> items_;
};

// Reads the texts that StringRuns wrote, one by one; false if something does not fit. `known`:
// number of ids seen before; an id far beyond them counts as damage.
[[nodiscard]] bool ReadStrings(
    std::span<const std::byte> payload, std::uint32_t known,
    const std::function<void(std::uint32_t id, std::string_view text)>& take);

}  // namespace penstock::traces
