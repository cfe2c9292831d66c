// SPDX-License-Identifier: Apache-2.0
//
// Texts by number. IdTable: content to id, without keeping the content. StringRuns: texts on their
// way into a file; packed_strings.h finds them there again. Not thread-safe while written.
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

// Texts on their way into kStrings sections.
class StringRuns {
 public:
  void Add(std::uint32_t id, std::string_view text);
  [[nodiscard]] std::size_t pending_bytes() const { return texts_.size(); }
  [[nodiscard]] bool empty() const { return items_.empty(); }
  [[nodiscard]] std::uint32_t count() const { return static_cast<std::uint32_t>(items_.size()); }
  // Writes and forgets everything.
  void Write(ByteWriter& out);

 private:
  struct Item {
    std::uint32_t id;
    std::uint32_t size;
  };
  std::string texts_;
  std::vector<Item> items_;
};

// Reads what StringRuns wrote, text by text; false at the first thing that does not fit. `known`:
// so many ids were seen before; one far beyond them is taken for damage.
[[nodiscard]] bool ReadStrings(
    std::span<const std::byte> payload, std::uint32_t known,
    const std::function<void(std::uint32_t id, std::string_view text)>& take);

}  // namespace penstock::traces
