// SPDX-License-Identifier: Apache-2.0
//
// The texts of a packed trace. They are decoded on demand: a run of a million images has a million
// paths, and most readers need a dozen names. Refers to the file. Call Add() first, from one
// thread; then Get() from any number of threads.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "traces/base/file.h"
#include "traces/packed/section.h"

namespace penstock::traces::packed {

class PackedStrings {
 public:
  explicit PackedStrings(const MappedFile& file) : file_(file) {}

  // Registers the ids in `payload`, which is that of `section`. A later text of an id replaces an
  // earlier one. Returns false, and registers nothing, if the payload is damaged, if its texts have
  // more than kMaxSectionBytes, or if `may` refuses the memory that its texts and ids need. They
  // may need much more than the payload: texts share beginnings in the file, and ids may have gaps.
  [[nodiscard]] bool Add(const SectionRef& section, std::span<const std::byte> payload,
                         const std::function<bool(std::uint64_t bytes)>& may);

  // The text of an id; "" if it is unknown. The text lives as long as this object. If the text is
  // "#<hash>", returns the text with that hash, if there is one.
  // Cost: the first text of a section decodes that section, which then stays in memory; the first
  //       "#<hash>" decodes all sections, one after the other.
  [[nodiscard]] std::string_view Get(StringId id) const;

 private:
  struct Entry {
    std::uint32_t id;
    std::uint32_t offset;  // position in `text`, which has at most kMaxSectionBytes
    std::uint32_t size;
  };
  struct Part {
    explicit Part(const SectionRef& where) : section(where) {}
    SectionRef section;
    // Stored with release once `text` and `entries` are final; loaded with acquire before they are
    // used.
    std::atomic<bool> loaded{false};
    std::string text;
    std::vector<Entry> entries;  // ascending by id
  };

  // An id whose text is "#<hash>": the text with that hash had not come when the id was needed.
  struct Missing {
    std::uint32_t id;
    std::uint64_t hash;
    bool name;  // `hash` is the lower half of the hash of a name
  };

  void Load(Part& part) const;
  void FindMissing() const;
  [[nodiscard]] std::string_view TextOf(std::uint32_t id) const;

  const MappedFile& file_;
  mutable std::mutex loading_;
  mutable std::deque<Part> parts_;
  std::vector<std::uint32_t> part_of_;  // by id: index into parts_ + 1, 0: unknown
  std::vector<Missing> missing_;        // includes ids that have their texts by now
  mutable std::once_flag looked_;
  // Ascending by id: the id of the text found for it.
  mutable std::vector<std::pair<std::uint32_t, std::uint32_t>> found_;
};

}  // namespace penstock::traces::packed
