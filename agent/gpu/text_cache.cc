// SPDX-License-Identifier: Apache-2.0

#include "agent/gpu/text_cache.h"

#include "agent/core/recorder.h"
#include "agent/system/strings.h"

namespace penstock::agent {
namespace {

constexpr size_t kMaxName = 1024;  // bytes; longer names are cut

uint64_t Word(const char* p) {
  uint64_t w;
  __builtin_memcpy(&w, p, sizeof w);
  return w;
}

// Hashes eight bytes at a time, by multiplication. Reads nothing beyond the end of the text.
uint64_t FastHash(const char* text, size_t size) {
  constexpr uint64_t kOdd = 0x9e3779b97f4a7c15u;
  uint64_t hash = size * kOdd;
  size_t at = 0;
  for (; at + 8 <= size; at += 8) {
    hash = (hash ^ Word(text + at)) * kOdd;
    hash ^= hash >> 32;
  }
  if (at < size) {
    uint64_t tail = 0;
    if (size >= 8) {
      tail = Word(text + size - 8);
    } else {
      for (size_t i = 0; i < size; ++i) {
        tail |= uint64_t{static_cast<uint8_t>(text[i])} << (8 * i);
      }
    }
    hash = (hash ^ tail) * kOdd;
    hash ^= hash >> 29;
  }
  hash *= kOdd;
  hash ^= hash >> 32;
  return hash != 0 ? hash : 1;
}

// Length of the text before the running number that emit_nvtx adds; `size` if there is none.
size_t WithoutNumber(const char* text, size_t size) {
  for (size_t i = 0; i + 8 < size; ++i) {
    if (text[i] == ',' && text[i + 1] == ' ' &&
        (__builtin_memcmp(text + i + 2, "seq = ", 6) == 0 ||
         (i + 10 < size && __builtin_memcmp(text + i + 2, "op_id = ", 8) == 0))) {
      return i;
    }
  }
  return size;
}

NameCache::Entry* Find(NameCache* cache, uint64_t hash) {
  return &cache->entries[hash & (NameCache::kEntries - 1)];
}

__attribute__((noinline)) uint64_t Miss(NameCache* cache, const char* text, size_t size,
                                        uint64_t hash) {
  size = size < kMaxName ? size : kMaxName;
  const size_t kept = WithoutNumber(text, size);
  if (kept != size) {
    hash = FastHash(text, kept);
    if (const NameCache::Entry* known = Find(cache, hash); known->hash == hash) {
      return known->id;
    }
  }
  uint64_t id;
  if (InternAs(&id, text, kept)) {
    *Find(cache, hash) = {hash, id};
  }
  return id;
}

// Writes `from` as UTF-8 of at most `room` bytes. Never writes half of a character.
size_t Utf8(const wchar_t* from, char* to, size_t room) {
  size_t n = 0;
  for (; *from != 0; ++from) {
    const auto c = static_cast<uint32_t>(*from);
    if (c < 0x80) {
      if (n + 1 > room) break;
      to[n++] = static_cast<char>(c);
    } else if (c < 0x800) {
      if (n + 2 > room) break;
      to[n++] = static_cast<char>(0xc0 | c >> 6);
      to[n++] = static_cast<char>(0x80 | (c & 0x3f));
    } else if (c < 0x10000) {
      if (n + 3 > room) break;
      to[n++] = static_cast<char>(0xe0 | c >> 12);
      to[n++] = static_cast<char>(0x80 | (c >> 6 & 0x3f));
      to[n++] = static_cast<char>(0x80 | (c & 0x3f));
    } else {
      if (n + 4 > room) break;
      to[n++] = static_cast<char>(0xf0 | (c >> 18 & 7));
      to[n++] = static_cast<char>(0x80 | (c >> 12 & 0x3f));
      to[n++] = static_cast<char>(0x80 | (c >> 6 & 0x3f));
      to[n++] = static_cast<char>(0x80 | (c & 0x3f));
    }
  }
  return n;
}

uint64_t NameOf(NameCache* cache, const char* text, size_t size) {
  if (size == 0) {
    return 0;
  }
  const uint64_t hash = FastHash(text, size);
  if (const NameCache::Entry* known = Find(cache, hash); __builtin_expect(known->hash == hash, 1)) {
    return known->id;
  }
  return Miss(cache, text, size, hash);
}

}  // namespace

uint64_t CachedName(NameCache* cache, const char* text) {
  return text != nullptr ? NameOf(cache, text, Length(text)) : 0;
}

uint64_t CachedName(NameCache* cache, const wchar_t* text) {
  char utf8[kMaxName];
  return text != nullptr ? NameOf(cache, utf8, Utf8(text, utf8, sizeof utf8)) : 0;
}

}  // namespace penstock::agent
