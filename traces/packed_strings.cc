// SPDX-License-Identifier: Apache-2.0
#include "traces/packed_strings.h"

#include <algorithm>

#include "traces/string_table.h"

namespace penstock::traces::packed {

bool PackedStrings::Add(const SectionRef& section, std::span<const std::byte> payload,
                        const std::function<bool(std::uint64_t)>& may) {
  std::vector<std::uint32_t> ids;
  std::uint64_t bytes = 0;
  const auto known = static_cast<std::uint32_t>(part_of_.size());
  if (!ReadStrings(payload, known,
                   [&](std::uint32_t id, std::string_view text) {
                     ids.push_back(id);
                     bytes += text.size();
                   }) ||
      bytes > kMaxSectionBytes || !may(bytes + ids.size() * sizeof(Entry))) {
    return false;
  }
  if (ids.empty()) {
    return true;
  }
  parts_.emplace_back(section);
  const std::uint32_t most = *std::max_element(ids.begin(), ids.end());
  if (most >= part_of_.size()) {
    part_of_.resize(most + std::size_t{1}, 0);
  }
  for (const std::uint32_t id : ids) {
    part_of_[id] = static_cast<std::uint32_t>(parts_.size());
  }
  return true;
}

void PackedStrings::Load(Part& part) const {
  const std::lock_guard lock(loading_);
  if (part.loaded.load(std::memory_order_relaxed)) {
    return;
  }
  SectionDecoder decoder;
  std::span<const std::byte> payload;
  const auto known = static_cast<std::uint32_t>(part_of_.size());
  // It was sound when it was added; a file that has changed since then has no texts.
  if (decoder.Decode(file_.bytes(), part.section, &payload)) {
    static_cast<void>(ReadStrings(payload, known, [&](std::uint32_t id, std::string_view text) {
      part.entries.push_back({id, static_cast<std::uint32_t>(part.text.size()),
                              static_cast<std::uint32_t>(text.size())});
      part.text += text;
    }));
  }
  std::stable_sort(part.entries.begin(), part.entries.end(),
                   [](const Entry& a, const Entry& b) { return a.id < b.id; });
  ReleaseSection(file_, part.section);
  part.loaded.store(true, std::memory_order_release);
}

std::string_view PackedStrings::Get(StringId id) const {
  if (id.value >= part_of_.size() || part_of_[id.value] == 0) {
    return {};
  }
  Part& part = parts_[part_of_[id.value] - 1];
  if (!part.loaded.load(std::memory_order_acquire)) {
    Load(part);
  }
  // The last of equal ids holds.
  const auto after =
      std::upper_bound(part.entries.begin(), part.entries.end(), id.value,
                       [](std::uint32_t value, const Entry& entry) { return value < entry.id; });
  if (after == part.entries.begin() || (after - 1)->id != id.value) {
    return {};
  }
  return std::string_view(part.text).substr((after - 1)->offset, (after - 1)->size);
}

}  // namespace penstock::traces::packed
