// SPDX-License-Identifier: Apache-2.0
//
// An index on disk of samples that are parts of larger files: place, label and name of each. A
// tar's sidecar and a packed file have the same 32 bytes for each sample (little-endian). A
// MemberIndex may be read from any thread.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

#include "loader/source/record_file.h"
#include "traces/base/result.h"

namespace penstock::loader {

inline constexpr std::size_t kMaxNameSize = 4095;

struct MemberEntry {
  std::uint64_t offset = 0;
  std::uint64_t size = 0;
  std::int64_t label = -1;
  std::uint64_t name = 0;  // place in the names: offset << 16 | length

  [[nodiscard]] std::uint64_t name_at() const { return name >> 16; }
  [[nodiscard]] std::size_t name_size() const { return name & 0xffff; }
};
static_assert(sizeof(MemberEntry) == 32);

// The range of labels, for Source::classes().
class LabelRange {
 public:
  void Add(std::int64_t label) {
    if (label < 0) {
      known_ = false;
    } else if (static_cast<std::uint64_t>(label) + 1 > limit_) {
      limit_ = static_cast<std::uint64_t>(label) + 1;
    }
  }
  void AddClasses(std::uint64_t classes) {  // adds a part of the set with so many classes
    known_ = known_ && classes != 0;
    limit_ = classes > limit_ ? classes : limit_;
  }
  [[nodiscard]] std::uint64_t classes() const { return known_ ? limit_ : 0; }

 private:
  bool known_ = true;
  std::uint64_t limit_ = 0;
};

struct MemberIndex {
  FileRange entries;
  FileRange names;
  std::uint64_t count = 0;
  std::uint64_t classes = 0;

  // Reads an entry. False if the index cannot be read, or the entry points outside it.
  [[nodiscard]] bool Read(std::uint64_t index, MemberEntry& entry) const;
  // Appends the name of the entry to `out`.
  [[nodiscard]] bool AppendName(const MemberEntry& entry, std::string& out) const;
};

class MemberIndexBuilder {
 public:
  // `folder`: for temporary files, see RecordFile.
  explicit MemberIndexBuilder(const std::filesystem::path& folder = {})
      : entries_(folder), names_(folder) {}

  // Requires: name.size() <= kMaxNameSize. Errors: kOutput.
  Result<void> Add(std::uint64_t offset, std::uint64_t size, std::int64_t label,
                   std::string_view name);
  [[nodiscard]] std::uint64_t count() const { return count_; }
  [[nodiscard]] const LabelRange& labels() const { return labels_; }
  Result<MemberIndex> Finish();

 private:
  RecordFile entries_;
  RecordFile names_;
  std::uint64_t count_ = 0;
  LabelRange labels_;
};

// Calls each(entry, name) for every sample in order, reading large parts at a time. Stops and
// returns false if `each` returns false, the index cannot be read, or an entry's name lies outside
// the names.
template <class Each>
bool ForEachMember(const MemberIndex& index, Each&& each) {
  constexpr std::uint64_t kChunk = 2048;
  std::vector<MemberEntry> entries;
  std::string names;
  std::uint64_t names_from = 0;
  for (std::uint64_t at = 0; at < index.count; at += entries.size()) {
    entries.resize(static_cast<std::size_t>(index.count - at < kChunk ? index.count - at : kChunk));
    if (!index.entries.Read(at * sizeof(MemberEntry), std::as_writable_bytes(std::span(entries)))) {
      return false;
    }
    for (const MemberEntry& entry : entries) {
      const std::uint64_t end = entry.name_at() + entry.name_size();
      if (end > index.names.size()) {
        return false;
      }
      if (entry.name_at() < names_from || end > names_from + names.size()) {
        names_from = entry.name_at();
        const std::uint64_t left = index.names.size() - names_from;
        names.resize(static_cast<std::size_t>(left < 65536 ? left : 65536));
        if (!index.names.Read(names_from, std::as_writable_bytes(std::span(names)))) {
          return false;
        }
      }
      const auto from = static_cast<std::size_t>(entry.name_at() - names_from);
      if (!each(entry, std::string_view(names).substr(from, entry.name_size()))) {
        return false;
      }
    }
  }
  return true;
}

}  // namespace penstock::loader
