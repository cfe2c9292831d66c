// SPDX-License-Identifier: Apache-2.0
#include "loader/source/member_index.h"

#include <bit>
#include <span>
#include <utility>

namespace penstock::loader {

static_assert(std::endian::native == std::endian::little, "indexes are little-endian");

bool MemberIndex::Read(std::uint64_t index, MemberEntry& entry) const {
  return index < count && entries.ReadValue(index * sizeof(MemberEntry), entry);
}

bool MemberIndex::AppendName(const MemberEntry& entry, std::string& out) const {
  const std::size_t before = out.size();
  out.resize(before + entry.name_size());
  return names.Read(entry.name_at(), std::as_writable_bytes(std::span(out).subspan(before)));
}

Result<void> MemberIndexBuilder::Add(std::uint64_t offset, std::uint64_t size, std::int64_t label,
                                     std::string_view name) {
  const MemberEntry entry{offset, size, label, names_.size() << 16 | name.size()};
  if (Result<void> added = entries_.AppendValue(entry); !added) {
    return added;
  }
  labels_.Add(label);
  ++count_;
  return names_.Append(std::as_bytes(std::span(name)));
}

Result<MemberIndex> MemberIndexBuilder::Finish() {
  Result<FileRange> entries = entries_.Finish();
  PENSTOCK_TRY(entries);
  Result<FileRange> names = names_.Finish();
  PENSTOCK_TRY(names);
  return MemberIndex{std::move(*entries), std::move(*names), count_, labels_.classes()};
}

}  // namespace penstock::loader
