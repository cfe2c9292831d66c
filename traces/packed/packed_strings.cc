// SPDX-License-Identifier: Apache-2.0
#include "traces/packed/packed_strings.h"

#include <algorithm>
#include <charconv>

#include "traces/packed/string_table.h"
#include "traces/wire.h"

namespace penstock::traces::packed {
namespace {

constexpr std::uint32_t kNoText = 0xffffffffu;  // ReadStrings() gives no text this id

// Reads "#" and 8 or 16 hexadecimal digits, as RecordingStrings writes them.
bool ReadHash(std::string_view text, std::uint64_t* hash) {
  if ((text.size() != 9 && text.size() != 17) || text.front() != '#') return false;
  const auto read = std::from_chars(text.data() + 1, text.data() + text.size(), *hash, 16);
  return read.ec == std::errc() && read.ptr == text.data() + text.size();
}

}  // namespace

bool PackedStrings::Add(const SectionRef& section, std::span<const std::byte> payload,
                        const std::function<bool(std::uint64_t)>& may) {
  std::vector<std::uint32_t> ids;
  std::uint64_t bytes = 0;
  const std::size_t missing = missing_.size();
  const auto known = static_cast<std::uint32_t>(part_of_.size());
  std::size_t reach = part_of_.size();  // after this section: one more than the largest id
  const bool sound = ReadStrings(payload, known, [&](std::uint32_t id, std::string_view text) {
    ids.push_back(id);
    reach = std::max(reach, id + std::size_t{1});
    bytes += text.size();
    std::uint64_t hash = 0;
    // A section with more texts is refused below.
    if (bytes <= kMaxSectionBytes && ReadHash(text, &hash)) {
      missing_.push_back({id, hash, text.size() == 9});
    }
  });
  // Each id may be far from the one before, so a few thousand could reach to 2^32.
  const std::uint64_t table = (reach - part_of_.size()) * sizeof part_of_[0];
  const std::uint64_t entries =
      ids.size() * sizeof(Entry) + (missing_.size() - missing) * sizeof(Missing);
  if (!sound || bytes > kMaxSectionBytes || !may(bytes + entries + table)) {
    missing_.resize(missing);
    return false;
  }
  if (ids.empty()) {
    return true;
  }
  parts_.emplace_back(section);
  part_of_.resize(reach, 0);
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
  // The section was sound when it was added. If the file has changed since, it has no texts.
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

// Searches all texts for the hashes of ids that still have no text. Keeps only one text for each
// hash: a file may have many ids with one hash, and as many copies of its text.
void PackedStrings::FindMissing() const {
  std::vector<Missing> wanted;
  std::vector<std::uint32_t> ids;  // of `wanted`, ascending
  for (const Missing& one : missing_) {
    std::uint64_t hash = 0;
    if (ReadHash(TextOf(one.id), &hash) && hash == one.hash) {
      wanted.push_back(one);
      ids.push_back(one.id);
    }
  }
  if (wanted.empty()) return;
  const auto before = [](const Missing& a, const Missing& b) {
    return a.hash != b.hash ? a.hash < b.hash : a.name < b.name;
  };
  std::sort(wanted.begin(), wanted.end(), before);
  std::sort(ids.begin(), ids.end());
  // For the first entry of each hash in `wanted`: the id of the first text that has it.
  std::vector<std::uint32_t> texts(wanted.size(), kNoText);
  SectionDecoder decoder;
  const auto known = static_cast<std::uint32_t>(part_of_.size());
  const auto take = [&](std::uint32_t id, std::string_view text) {
    const std::uint64_t hash = wire::HashOf(text.data(), text.size());
    const bool path = !text.empty() && text.front() == '/';
    for (const bool name : {false, true}) {
      if (name && path) continue;
      const Missing key{0, name ? hash & 0xffffffffu : hash, name};
      const auto first = std::lower_bound(wanted.begin(), wanted.end(), key, before);
      if (first == wanted.end() || before(key, *first)) continue;
      std::uint32_t& found = texts[static_cast<std::size_t>(first - wanted.begin())];
      // If this id is in `wanted` itself, a later "#<hash>" has replaced this text.
      if (found == kNoText && !std::binary_search(ids.begin(), ids.end(), id)) found = id;
    }
  };
  for (const Part& part : parts_) {
    std::span<const std::byte> payload;
    if (decoder.Decode(file_.bytes(), part.section, &payload)) {
      static_cast<void>(ReadStrings(payload, known, take));
    }
    ReleaseSection(file_, part.section);
  }
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    if (i > 0 && !before(wanted[i - 1], wanted[i])) texts[i] = texts[i - 1];
    if (texts[i] != kNoText) found_.emplace_back(wanted[i].id, texts[i]);
  }
  std::sort(found_.begin(), found_.end());
}

std::string_view PackedStrings::Get(StringId id) const {
  const std::string_view text = TextOf(id.value);
  std::uint64_t hash = 0;
  if (missing_.empty() || !ReadHash(text, &hash)) {
    return text;
  }
  std::call_once(looked_, [this] { FindMissing(); });
  const auto found = std::lower_bound(found_.begin(), found_.end(), std::pair(id.value, 0u));
  return found != found_.end() && found->first == id.value ? TextOf(found->second) : text;
}

std::string_view PackedStrings::TextOf(std::uint32_t id) const {
  if (id >= part_of_.size() || part_of_[id] == 0) {
    return {};
  }
  Part& part = parts_[part_of_[id] - 1];
  if (!part.loaded.load(std::memory_order_acquire)) {
    Load(part);
  }
  // If ids are equal, the last one counts.
  const auto after =
      std::upper_bound(part.entries.begin(), part.entries.end(), id,
                       [](std::uint32_t value, const Entry& entry) { return value < entry.id; });
  if (after == part.entries.begin() || (after - 1)->id != id) {
    return {};
  }
  return std::string_view(part.text).substr((after - 1)->offset, (after - 1)->size);
}

}  // namespace penstock::traces::packed
