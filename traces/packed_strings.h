// SPDX-License-Identifier: Apache-2.0
//
// The texts of a packed trace, read when they are asked for: a run of a million images has a
// million paths, and most readers ask for a dozen names. Refers to the file. Add() first, from one
// thread; Get() afterwards, from any number.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "traces/base/file.h"
#include "traces/section.h"

namespace penstock::traces::packed {

class PackedStrings {
 public:
  explicit PackedStrings(const MappedFile& file) : file_(file) {}

  // Takes note of the ids in `payload`, which is that of `section`. A later text of an id replaces
  // the earlier one. False, and nothing noted, if the payload is damaged, or if `may` says no to
  // the memory that its texts will take (they share beginnings in the file: a few bytes can be
  // many).
  [[nodiscard]] bool Add(const SectionRef& section, std::span<const std::byte> payload,
                         const std::function<bool(std::uint64_t bytes)>& may);

  // "" if unknown. The text lives as long as this object.
  // Cost: the first text of a section decodes that section, which then stays in memory.
  [[nodiscard]] std::string_view Get(StringId id) const;

 private:
  struct Entry {
    std::uint32_t id;
    std::uint32_t offset;  // in `text`: a section is smaller than 64 MiB
    std::uint32_t size;
  };
  struct Part {
    explicit Part(const SectionRef& where) : section(where) {}
    SectionRef section;
    // Stored with release when `text` and `entries` are final, loaded with acquire before use.
    std::atomic<bool> loaded{false};
    std::string text;
    std::vector<Entry> entries;  // ascending by id
  };

  void Load(Part& part) const;

  const MappedFile& file_;
  mutable std::mutex loading_;
  mutable std::deque<Part> parts_;
  std::vector<std::uint32_t> part_of_;  // by id: index into parts_ + 1, 0: unknown
};

}  // namespace penstock::traces::packed
