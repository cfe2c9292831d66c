// SPDX-License-Identifier: Apache-2.0

#include "agent/text.h"

#include <sys/mman.h>

#include "agent/process.h"
#include "agent/recorder.h"
#include "agent/sys.h"
#include "agent/thread_state.h"

namespace penstock::agent {
namespace {

// Ids whose text this process (or the parent it was forked from) has written. Open addressing;
// bounded: past kFull ids are recorded without text.
constexpr uint64_t kSlots = 1 << 17;
constexpr uint64_t kFull = kSlots / 4 * 3;
uint64_t* g_seen = nullptr;
uint64_t g_count = 0;

uint64_t* Seen() {
  uint64_t* table = __atomic_load_n(&g_seen, __ATOMIC_ACQUIRE);
  if (table != nullptr) {
    return table;
  }
  auto* fresh =
      static_cast<uint64_t*>(sys::Map(nullptr, kSlots * sizeof(uint64_t), PROT_READ | PROT_WRITE,
                                      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  if (fresh == nullptr) {
    return nullptr;
  }
  if (!__atomic_compare_exchange_n(&g_seen, &table, fresh, false, __ATOMIC_ACQ_REL,
                                   __ATOMIC_ACQUIRE)) {
    sys::Unmap(fresh, kSlots * sizeof(uint64_t));
    return table;
  }
  return fresh;
}

// True if `id` was not there and is now.
bool Insert(uint64_t id) {
  uint64_t* table = Seen();
  if (table == nullptr) {
    return false;
  }
  for (uint64_t i = id & (kSlots - 1);; i = (i + 1) & (kSlots - 1)) {
    uint64_t found = __atomic_load_n(&table[i], __ATOMIC_RELAXED);
    if (found == id) {
      return false;
    }
    if (found == 0) {
      if (__atomic_load_n(&g_count, __ATOMIC_RELAXED) >= kFull) {
        return false;
      }
      if (__atomic_compare_exchange_n(&table[i], &found, id, false, __ATOMIC_RELAXED,
                                      __ATOMIC_RELAXED)) {
        __atomic_fetch_add(&g_count, uint64_t{1}, __ATOMIC_RELAXED);
        return true;
      }
      if (found == id) {
        return false;
      }
    }
  }
}

}  // namespace

uint64_t Intern(const char* text, size_t size) {
  const uint64_t id = wire::HashOf(text, size);
  if (Self() != nullptr && Insert(id)) {
    WriteText(wire::kTextString, id, text, size);
  }
  return id;
}

uint32_t Name(NameTag* tag) {
  if (__builtin_expect(__atomic_load_n(&tag->token, __ATOMIC_RELAXED) == 0, 0) &&
      Self() != nullptr) {
    Intern(tag->text, tag->size);
    __atomic_store_n(&tag->token, 1u, __ATOMIC_RELAXED);
  }
  return tag->id;
}

void EmitText(uint8_t type, uint64_t id, const char* text, size_t size) {
  WriteText(type, id, text, size);
}

}  // namespace penstock::agent
