// SPDX-License-Identifier: Apache-2.0
#include "loader/io/ram_cache.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <mutex>
#include <new>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "traces/base/xxh64.h"

namespace penstock::loader {
namespace {

constexpr std::size_t kParts = 64;
// Bytes of the table's node, its bucket, and malloc's overhead for three blocks. The estimate is
// high, so that resident memory stays within the budget too.
constexpr std::uint64_t kOverhead = 192;
constexpr std::uint64_t kLarge = 128 << 10;  // from this size on malloc maps pages of its own

struct Key {
  std::string_view path;
  std::uint64_t offset;
  std::uint64_t ref_size;  // differs where an empty sample begins at the next one's offset
  std::uint64_t hash;

  explicit Key(const SampleRef& ref)
      : path(ref.path),
        offset(ref.offset),
        ref_size(ref.size),
        hash(Xxh64(path.data(), path.size(), offset)) {}
};

struct Entry {
  std::string path;
  std::uint64_t offset = 0;
  std::uint64_t ref_size = 0;          // SampleRef::size, which may be 0 for a whole file
  std::unique_ptr<std::byte[]> bytes;  // NOLINT(modernize-avoid-c-arrays): not zeroed first
  std::size_t size = 0;

  [[nodiscard]] bool Is(const Key& key) const {
    return offset == key.offset && ref_size == key.ref_size && path == key.path;
  }
};

struct Identity {
  std::size_t operator()(std::uint64_t hash) const { return hash; }
};

struct alignas(64) Part {
  mutable std::mutex mutex;
  std::unordered_multimap<std::uint64_t, Entry, Identity> entries;  // by Key::hash

  [[nodiscard]] const Entry* Find(const Key& key) const {
    const auto [from, to] = entries.equal_range(key.hash);
    const auto found =
        std::find_if(from, to, [&](const auto& entry) { return entry.second.Is(key); });
    return found == to ? nullptr : &found->second;
  }
};

std::uint64_t Cost(const SampleRef& ref, std::size_t size) {
  const std::uint64_t payload =
      size < kLarge ? size : (size + std::uint64_t{4095}) / 4096 * 4096 + 4096;
  return payload + ref.path.size() + kOverhead;
}

}  // namespace

struct RamCache::State {
  explicit State(Bytes limit) : budget(limit.value) {}

  // Uses the high bits of the hash, so the hashes within a part still differ in the low ones.
  [[nodiscard]] Part& PartOf(const Key& key) { return parts[key.hash >> 58]; }

  std::uint64_t budget;
  std::array<Part, kParts> parts;
  // All are relaxed: they publish nothing. `used` is raised before the memory is allocated.
  std::atomic<std::uint64_t> used{0};
  std::atomic<std::uint64_t> hits{0};
  std::atomic<std::uint64_t> misses{0};
  std::atomic<std::uint64_t> refused{0};
  std::atomic<std::uint64_t> entries{0};
};

RamCache::RamCache(Bytes budget) : state_(std::make_unique<State>(budget)) {}
RamCache::~RamCache() = default;

std::optional<std::span<const std::byte>> RamCache::Find(const SampleRef& ref) {
  const Key key(ref);
  Part& part = state_->PartOf(key);
  {
    const std::scoped_lock lock(part.mutex);
    if (const Entry* entry = part.Find(key)) {
      state_->hits.fetch_add(1, std::memory_order_relaxed);
      return std::span<const std::byte>(entry->bytes.get(), entry->size);
    }
  }
  state_->misses.fetch_add(1, std::memory_order_relaxed);
  return std::nullopt;
}

bool RamCache::Insert(const SampleRef& ref, std::span<const std::byte> bytes) {
  const Key key(ref);
  Part& part = state_->PartOf(key);
  {
    const std::scoped_lock lock(part.mutex);
    if (part.Find(key) != nullptr) {
      return true;
    }
  }
  const std::uint64_t cost = Cost(ref, bytes.size());
  std::uint64_t used = state_->used.load(std::memory_order_relaxed);
  do {
    if (cost > state_->budget || used > state_->budget - cost) {
      state_->refused.fetch_add(1, std::memory_order_relaxed);
      return false;
    }
  } while (!state_->used.compare_exchange_weak(used, used + cost, std::memory_order_relaxed));

  Entry entry;
  // NOLINTNEXTLINE(modernize-avoid-c-arrays,cppcoreguidelines-owning-memory)
  entry.bytes.reset(new (std::nothrow) std::byte[bytes.size()]);
  if (entry.bytes == nullptr) {
    state_->used.fetch_sub(cost, std::memory_order_relaxed);
    state_->refused.fetch_add(1, std::memory_order_relaxed);
    return false;
  }
  std::copy(bytes.begin(), bytes.end(), entry.bytes.get());
  entry.size = bytes.size();
  entry.path = ref.path;
  entry.offset = ref.offset;
  entry.ref_size = ref.size;
  const std::scoped_lock lock(part.mutex);
  if (part.Find(key) != nullptr) {  // another thread was faster
    state_->used.fetch_sub(cost, std::memory_order_relaxed);
    return true;
  }
  part.entries.emplace(key.hash, std::move(entry));
  state_->entries.fetch_add(1, std::memory_order_relaxed);
  return true;
}

RamCacheStats RamCache::stats() const {
  const auto get = [](const std::atomic<std::uint64_t>& value) {
    return value.load(std::memory_order_relaxed);
  };
  return {get(state_->hits),    get(state_->misses),      get(state_->refused),
          get(state_->entries), Bytes{get(state_->used)}, Bytes{state_->budget}};
}

}  // namespace penstock::loader
