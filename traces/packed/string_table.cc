// SPDX-License-Identifier: Apache-2.0
#include "traces/packed/string_table.h"

#include <algorithm>
#include <utility>

#include "traces/packed/packed_layout.h"

namespace penstock::traces {

std::size_t IdTable::Locate(std::uint64_t key) const {
  const std::size_t mask = slots_.size() - 1;
  std::size_t at = (key * 0x9e3779b97f4a7c15u >> 20) & mask;
  while (slots_[at].key != 0 && slots_[at].key != key) {
    at = (at + 1) & mask;
  }
  return at;
}

const std::uint32_t* IdTable::Find(std::uint64_t key) const {
  if (slots_.empty()) {
    return nullptr;
  }
  const Slot& slot = slots_[Locate(key | (key == 0 ? 1u : 0u))];
  return slot.key != 0 ? &slot.value : nullptr;
}

std::uint32_t& IdTable::At(std::uint64_t key, bool* inserted) {
  if ((used_ + 1) * 3 > slots_.size() * 2) {
    Grow();
  }
  key |= key == 0 ? 1u : 0u;
  Slot& slot = slots_[Locate(key)];
  *inserted = slot.key == 0;
  if (*inserted) {
    slot.key = key;
    ++used_;
  }
  return slot.value;
}

void IdTable::Grow() {
  std::vector<Slot> old = std::exchange(slots_, {});
  slots_.resize(std::max<std::size_t>(64, old.size() * 2));
  for (const Slot& slot : old) {
    if (slot.key != 0) {
      slots_[Locate(slot.key)] = slot;
    }
  }
}

std::size_t IdCache::Line(std::uint64_t key, int which) const {
  const std::uint64_t mixed = key * (which == 0 ? 0x9e3779b97f4a7c15u : 0xc2b2ae3d27d4eb4fu);
  return (mixed >> 32 & (keys_.size() / kWays - 1)) * kWays;
}

std::size_t IdCache::Locate(std::uint64_t key) const {
  for (int which = 0; which < 2 && !keys_.empty(); ++which) {
    const std::size_t line = Line(key, which);
    for (std::size_t i = line; i < line + kWays; ++i) {
      if (keys_[i] == key) return i;
    }
  }
  return keys_.size();
}

// The emptier of the two lines is filled first, so both are full only when most of the table is.
std::size_t IdCache::FreeSlot(std::uint64_t key) const {
  std::size_t best = keys_.size();
  std::size_t most = 0;
  for (int which = 0; which < 2 && !keys_.empty(); ++which) {
    const std::size_t line = Line(key, which);
    const auto first = keys_.begin() + static_cast<std::ptrdiff_t>(line);
    const auto free = static_cast<std::size_t>(std::count(first, first + kWays, 0u));
    if (free > most) {
      most = free;
      best = line + kWays - free;  // a line is filled from its beginning
    }
  }
  return best;
}

std::uint32_t& IdCache::At(std::uint64_t key, bool* inserted) {
  key |= key == 0 ? 1u : 0u;
  if (const std::size_t found = Locate(key); found != keys_.size()) {
    *inserted = false;
    return values_[found];
  }
  *inserted = true;
  std::size_t slot = FreeSlot(key);
  while (slot == keys_.size() && keys_.size() < most_) {
    Grow();
    slot = FreeSlot(key);
  }
  if (slot == keys_.size()) {
    overflowed_ = true;
    const std::size_t turn = victim_++;
    slot = Line(key, static_cast<int>(turn % 2)) + turn / 2 % kWays;
  }
  keys_[slot] = key;
  values_[slot] = 0;
  return values_[slot];
}

void IdCache::Grow() {
  const std::vector<std::uint64_t> keys = std::exchange(keys_, {});
  const std::vector<std::uint32_t> values = std::exchange(values_, {});
  keys_.resize(std::max<std::size_t>(64, keys.size() * 2));
  values_.resize(keys_.size());
  for (std::size_t i = 0; i < keys.size(); ++i) {
    if (keys[i] == 0) continue;
    const std::size_t slot = FreeSlot(keys[i]);
    if (slot == keys_.size()) {
      overflowed_ = true;  // in a half-empty table this is unlikely, and harmless
      continue;
    }
    keys_[slot] = keys[i];
    values_[slot] = values[i];
  }
}

void StringRuns::Add(std::uint32_t id, std::string_view text) {
  items_.push_back({id, static_cast<std::uint32_t>(text.size())});
  texts_ += text;
}

// Writes ids as differences, then how much each text shares with the one before, then the rest of
// each text. Paths of one directory tree take a few bytes each.
void StringRuns::Write(ByteWriter& out) {
  out.Varint(items_.size());
  std::uint32_t expected = 0;
  for (const Item& item : items_) {
    out.Signed(std::int64_t{item.id} - std::int64_t{expected});
    expected = item.id + 1;
  }
  ByteWriter rest;
  std::string_view before;
  std::string_view all = texts_;
  for (const Item& item : items_) {
    const std::string_view text = all.substr(0, item.size);
    all.remove_prefix(item.size);
    const auto limit = std::min(text.size(), before.size());
    std::size_t shared = 0;
    while (shared < limit && text[shared] == before[shared]) {
      ++shared;
    }
    out.Varint(shared);
    out.Varint(text.size() - shared);
    rest.Raw(std::as_bytes(std::span(text.data() + shared, text.size() - shared)));
    before = text;
  }
  out.Raw(rest.bytes());
  items_.clear();
  texts_.clear();
}

bool ReadStrings(std::span<const std::byte> payload, std::uint32_t known,
                 const std::function<void(std::uint32_t id, std::string_view text)>& take) {
  ByteReader ids(payload);
  const std::uint64_t count = ids.Bounded(payload.size());
  // The lists follow each other: ids, lengths, texts. Skips the ids to find the lengths, and the
  // lengths to find the texts.
  ByteReader lengths = ids;
  for (std::uint64_t i = 0; i < count; ++i) {
    lengths.Varint();
  }
  ByteReader texts = lengths;
  for (std::uint64_t i = 0; i < 2 * count; ++i) {
    texts.Varint();
  }
  if (!texts.ok()) {
    return false;
  }
  std::int64_t expected = 0;
  std::string text;
  for (std::uint64_t i = 0; i < count; ++i) {
    const std::int64_t id = WrapAdd(expected, ids.Signed());
    const std::uint64_t shared = lengths.Bounded(text.size());
    const std::span<const std::byte> rest = texts.Raw(lengths.Varint());
    if (!lengths.ok() || !texts.ok() || id < 0 ||
        id > std::int64_t{known} + packed::kMaxStringGap || id > std::int64_t{0xffffffff} - 1) {
      return false;
    }
    text.resize(shared);
    for (const std::byte byte : rest) {
      text.push_back(static_cast<char>(byte));
    }
    take(static_cast<std::uint32_t>(id), text);
    expected = id + 1;
    known = std::max(known, static_cast<std::uint32_t>(expected));
  }
  return true;
}

}  // namespace penstock::traces
