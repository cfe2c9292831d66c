// SPDX-License-Identifier: Apache-2.0

#include "agent/core/text.h"

#include <sys/mman.h>

#include "agent/core/process.h"
#include "agent/core/recorder.h"
#include "agent/core/thread_state.h"
#include "agent/system/sys.h"

namespace penstock::agent {
namespace {

// A cache of the last ids whose text this process, or the parent it was forked from, has written.
// An id that has fallen out of it gets its text written again, and readers treat both texts as one.
// Each line holds eight ids, the newest first. Threads that shift a line at the same time may lose
// or double one of its ids; an id whose text was not written is never in it.
constexpr uint64_t kWays = 8;
constexpr uint64_t kLines = 1 << 14;
constexpr size_t kSize = kLines * kWays * sizeof(uint64_t);  // 1 MiB
uint64_t* g_seen = nullptr;

uint64_t* Seen() {
  uint64_t* table = __atomic_load_n(&g_seen, __ATOMIC_ACQUIRE);
  if (table != nullptr) {
    return table;
  }
  auto* fresh = static_cast<uint64_t*>(
      sys::Map(nullptr, kSize, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  if (fresh == nullptr) {
    return nullptr;
  }
  if (!__atomic_compare_exchange_n(&g_seen, &table, fresh, false, __ATOMIC_ACQ_REL,
                                   __ATOMIC_ACQUIRE)) {
    sys::Unmap(fresh, kSize);
    return table;
  }
  return fresh;
}

uint64_t* LineOf(uint64_t* table, uint64_t id) {
  return table + (id * 0x9e3779b97f4a7c15u >> 50) * kWays;
}
static_assert(kLines == uint64_t{1} << (64 - 50));

bool WasWritten(const uint64_t* line, uint64_t id) {
  for (uint64_t i = 0; i < kWays; ++i) {
    if (__atomic_load_n(&line[i], __ATOMIC_RELAXED) == id) {
      return true;
    }
  }
  return false;
}

void Remember(uint64_t* line, uint64_t id) {
  for (uint64_t i = kWays - 1; i > 0; --i) {
    __atomic_store_n(&line[i], __atomic_load_n(&line[i - 1], __ATOMIC_RELAXED), __ATOMIC_RELAXED);
  }
  __atomic_store_n(&line[0], id, __ATOMIC_RELAXED);
}

// Writes the text of `id` unless that was done lately. False if it could not be written: there was
// no room, or the thread does not record.
bool Tell(uint64_t id, const char* text, size_t size) {
  if (Self() == nullptr) {
    return false;
  }
  uint64_t* table = Seen();  // without memory for it every text is written every time
  uint64_t* line = table != nullptr ? LineOf(table, id) : nullptr;
  if (line != nullptr && WasWritten(line, id)) {
    return true;
  }
  if (!WriteText(wire::kTextString, id, text, size)) {
    return false;
  }
  if (line != nullptr) {
    Remember(line, id);
  }
  return true;
}

}  // namespace

uint64_t Intern(const char* text, size_t size) {
  const uint64_t id = wire::HashOf(text, size);
  static_cast<void>(Tell(id, text, size));
  return id;
}

bool InternAs(uint64_t* id, const char* text, size_t size) {
  *id = wire::HashOf(text, size);
  return Tell(*id, text, size);
}

uint32_t Name(NameTag* tag) {
  if (__builtin_expect(__atomic_load_n(&tag->written, __ATOMIC_RELAXED) == 0, 0) &&
      Tell(wire::HashOf(tag->text, tag->size), tag->text, tag->size)) {
    __atomic_store_n(&tag->written, 1u, __ATOMIC_RELAXED);
  }
  return tag->id;
}

void EmitText(uint8_t type, uint64_t id, const char* text, size_t size) {
  WriteText(type, id, text, size);
}

}  // namespace penstock::agent
