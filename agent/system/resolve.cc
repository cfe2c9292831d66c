// SPDX-License-Identifier: Apache-2.0
//
// A lookup follows the order of ld.so (tests/agent/resolve compares the two). First comes the
// global scope after the agent (RTLD_NEXT), then the local scope of the calling object. In both,
// the symbol must have the version that the caller's reference names. Last come all other objects,
// since after a tail call the return address may lie in the caller's caller.
//
// Cached entries can outlive their objects (dlclose). dlpi_subs of dl_iterate_phdr would show that,
// but dl_iterate_phdr takes the loader's write lock, which fork() does not reset in the child. If a
// DataLoader forked while a thread holds that lock, the worker would hang at its next import. So a
// cache hit is checked with _dl_find_object (glibc 2.35 and later: lock-free, 10 ns). If the C
// library lacks it, the objects of caller and definition are pinned in memory, so that their
// addresses are never used again.
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "agent/system/resolve.h"

#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <link.h>
#include <string.h>

#include <new>

#include "agent/system/scratch.h"
#include "agent/system/symbol_version.h"
#include "agent/system/symver.h"

extern "C" {
extern const char __ehdr_start[] __attribute__((visibility("hidden")));
extern const char _end[] __attribute__((visibility("hidden")));
// The linker's names for the bounds of the section of PENSTOCK_SYMBOL.
extern penstock::agent::Symbol __start_penstock_symbols[]
    __attribute__((visibility("hidden"), weak));
extern penstock::agent::Symbol __stop_penstock_symbols[]
    __attribute__((visibility("hidden"), weak));
}

// musl lacks both functions. Its loader refuses a library that needs an unknown name, and the
// program would not start. A weak name may be unknown.
#pragma weak dlvsym
#pragma weak dladdr1

namespace penstock::agent {
namespace {

uintptr_t Bits(const void* pointer) {
  return reinterpret_cast<uintptr_t>(pointer);
}

// ---- which object an address lies in ----------------------------------------------------------

// The first fields of glibc's struct dl_find_object, with room for the whole struct of any
// architecture.
struct FoundObject {
  unsigned long long flags;
  void* map_start;
  void* map_end;
  link_map* map;
  void* eh_frame;
  unsigned long long rest[11];
};
using FindObjectFn = int (*)(void* address, FoundObject* result);

void* find_object = nullptr;  // atomic: null: not looked for yet; &find_object: the C library has
                              // none

FindObjectFn FindObject() {
#ifdef PENSTOCK_TEST_OLD_LOADER
  return nullptr;
#endif
  void* known = __atomic_load_n(&find_object, __ATOMIC_RELAXED);
  if (known == nullptr) {
    known = dlsym(RTLD_DEFAULT, "_dl_find_object");
    if (known == nullptr) known = &find_object;
    __atomic_store_n(&find_object, known, __ATOMIC_RELAXED);
  }
  return known == &find_object ? nullptr : reinterpret_cast<FindObjectFn>(known);
}

// A number for the object that holds `address`; 0 if unknown. Two objects that had the same address
// one after the other have different numbers, unless they also have the same size.
uint64_t ObjectMark(FindObjectFn find, const void* address) {
  FoundObject found;
  if (find(const_cast<void*>(address), &found) != 0) return 0;
  uint64_t mark = Bits(found.map_start) * 0x9e3779b97f4a7c15u;
  mark = (mark ^ Bits(found.map_end)) * 0x9e3779b97f4a7c15u;
  mark = (mark ^ Bits(found.map)) * 0x9e3779b97f4a7c15u;
#if defined(__aarch64__)
  // Segments begin at multiples of 64 KiB, so small objects with different code may have the same
  // end. Their .eh_frame lies at different places.
  mark = (mark ^ Bits(found.eh_frame)) * 0x9e3779b97f4a7c15u;
#endif
  return mark != 0 ? mark : 1;
}

link_map* MapOf(const void* address) {
  if (const FindObjectFn find = FindObject()) {
    FoundObject found;
    return find(const_cast<void*>(address), &found) == 0 ? found.map : nullptr;
  }
  Dl_info info;
  void* map = nullptr;
  if (dladdr1 == nullptr || dladdr1(address, &info, &map, RTLD_DL_LINKMAP) == 0) return nullptr;
  return static_cast<link_map*>(map);
}

// Keeps the object that holds `address` mapped until the process ends.
void Pin(const void* address) {
  const link_map* const map = MapOf(address);
  if (map == nullptr || map->l_name[0] == 0) return;
  if (void* const handle = dlopen(map->l_name, RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE)) {
    dlclose(handle);
  }
}

// ---- cache -------------------------------------------------------------------------------------

// One call site, or one library for RealInObjectOf(). Guarded by `sequence`, which is odd while the
// entry is written. A reader that finds an odd or changed number ignores the entry; a writer that
// finds an odd number does not write to the entry. So nobody waits, and an entry that was being
// written during a fork stays unused in the child.
struct Entry {
  uint32_t sequence;
  uint32_t reserved;
  uintptr_t symbol;
  uintptr_t address;
  void* real;
  uint64_t address_mark;
  uint64_t real_mark;
};

constexpr uint32_t kEntries = 512;  // a power of two
constexpr uint32_t kProbes = 8;
Entry entries[kEntries];

enum class Kind : uintptr_t { kCaller = 0, kObject = 1 };  // kept in bit 0 of Entry::symbol

uint32_t Slot(uintptr_t symbol, uintptr_t address) {
  return static_cast<uint32_t>(((symbol ^ (address << 7)) * 0x9e3779b97f4a7c15u) >> 48);
}

template <typename T>
T Load(const T& field) {
  return __atomic_load_n(&field, __ATOMIC_RELAXED);
}

void* Lookup(uintptr_t symbol, uintptr_t address, const void* object) {
  const uint32_t home = Slot(symbol, address);
  for (uint32_t probe = 0; probe < kProbes; ++probe) {
    const Entry& entry = entries[(home + probe) % kEntries];
    const uint32_t before = __atomic_load_n(&entry.sequence, __ATOMIC_ACQUIRE);
    if (before == 0) return nullptr;
    if ((before & 1) != 0 || Load(entry.symbol) != symbol || Load(entry.address) != address) {
      continue;
    }
    void* const real = Load(entry.real);
    const uint64_t address_mark = Load(entry.address_mark);
    const uint64_t real_mark = Load(entry.real_mark);
    __atomic_thread_fence(__ATOMIC_ACQUIRE);
    if (Load(entry.sequence) != before) return nullptr;
    if (const FindObjectFn find = FindObject()) {
      if (ObjectMark(find, object) != address_mark || ObjectMark(find, real) != real_mark) {
        return nullptr;
      }
    }
    return real;
  }
  return nullptr;
}

void Insert(uintptr_t symbol, uintptr_t address, const void* object, void* real) {
  uint64_t address_mark = 0;
  uint64_t real_mark = 0;
  if (const FindObjectFn find = FindObject()) {
    address_mark = ObjectMark(find, object);
    real_mark = ObjectMark(find, real);
  } else {
    Pin(object);
    Pin(real);
  }
  const uint32_t home = Slot(symbol, address);
  uint32_t chosen = home % kEntries;  // if all places are taken, replace the first
  for (uint32_t probe = 0; probe < kProbes; ++probe) {
    const uint32_t index = (home + probe) % kEntries;
    const uint32_t sequence = __atomic_load_n(&entries[index].sequence, __ATOMIC_ACQUIRE);
    const bool same = (sequence & 1) == 0 && Load(entries[index].symbol) == symbol &&
                      Load(entries[index].address) == address;
    if (sequence == 0 || same) {
      chosen = index;
      break;
    }
  }
  Entry& entry = entries[chosen];
  uint32_t sequence = __atomic_load_n(&entry.sequence, __ATOMIC_RELAXED);
  if ((sequence & 1) != 0 ||
      !__atomic_compare_exchange_n(&entry.sequence, &sequence, sequence + 1, false,
                                   __ATOMIC_ACQUIRE, __ATOMIC_RELAXED)) {
    return;  // another thread is writing this entry: look the site up again next time
  }
  __atomic_thread_fence(__ATOMIC_RELEASE);
  __atomic_store_n(&entry.symbol, symbol, __ATOMIC_RELAXED);
  __atomic_store_n(&entry.address, address, __ATOMIC_RELAXED);
  __atomic_store_n(&entry.real, real, __ATOMIC_RELAXED);
  __atomic_store_n(&entry.address_mark, address_mark, __ATOMIC_RELAXED);
  __atomic_store_n(&entry.real_mark, real_mark, __ATOMIC_RELAXED);
  const uint32_t next = sequence + 2;
  __atomic_store_n(&entry.sequence, next != 0 ? next : 2, __ATOMIC_RELEASE);
}

// ---- lookups -----------------------------------------------------------------------------------

void* Accept(void* found) {
  return InsideAgent(found) ? nullptr : found;
}

// The volatile results prevent tail calls: RTLD_NEXT searches after the object of the caller, which
// must be the agent.
void* FindIn(void* handle, const char* name, const char* version) {
  void* volatile found = nullptr;
  if (version != nullptr && dlvsym != nullptr) {
    found = dlvsym(handle, name, version);
    if (Accept(found) != nullptr) return found;
  }
  return nullptr;
}

void* FindAny(void* handle, const char* name) {
  void* volatile found = dlsym(handle, name);
  return Accept(found);
}

// Looks for the name without "64": musl 1.2.4 and later lack the names with 64, since off_t always
// has 64 bits there.
void* FindWithout64(const char* name) {
  char plain[32];
  const char* at = strstr(name, "64");
  if (at == nullptr || strlen(name) >= sizeof plain) return nullptr;
  const auto size = static_cast<size_t>(at - name);
  memcpy(plain, name, size);
  memcpy(plain + size, at + 2, strlen(at + 2) + 1);
  return FindAny(RTLD_NEXT, plain);
}

// Looks in the object `map` and in what it depends on.
void* FindInMap(const link_map* map, const char* name, const char* version) {
  if (map->l_name == nullptr || map->l_name[0] == 0) return nullptr;  // "" is the global scope
  void* const handle = dlopen(map->l_name, RTLD_LAZY | RTLD_NOLOAD);
  if (handle == nullptr) return nullptr;
  void* found = FindIn(handle, name, version);
  if (found == nullptr) found = FindAny(handle, name);
  dlclose(handle);
  return found;
}

// Names of loaded objects, copied page by page, since dlopen inside the callback of dl_iterate_phdr
// would take the loader's locks in the wrong order.
struct NamePage {
  char text[8192];
  size_t used = 0;
  size_t skip = 0;  // objects of earlier pages
  size_t seen = 0;
  size_t taken = 0;
};

static_assert(sizeof(NamePage) <= kScratch);

int CollectName(dl_phdr_info* info, size_t, void* data) {
  NamePage* const page = static_cast<NamePage*>(data);
  if (page->seen++ < page->skip) return 0;
  const size_t size = strlen(info->dlpi_name) + 1;
  if (size <= sizeof page->text) {
    if (page->used + size > sizeof page->text) return 1;
    memcpy(page->text + page->used, info->dlpi_name, size);
    page->used += size;
  }
  ++page->taken;
  return 0;
}

__attribute__((noinline)) void* FindAnywhere(const char* name, const char* version) {
  PENSTOCK_SCRATCH(memory);
  for (size_t skip = 0;;) {
    NamePage& page = *new (memory) NamePage;
    page.skip = skip;
    const bool more = dl_iterate_phdr(CollectName, &page) != 0;
    for (size_t at = 0; at < page.used; at += strlen(page.text + at) + 1) {
      if (page.text[at] == 0) continue;
      void* const handle = dlopen(page.text + at, RTLD_LAZY | RTLD_NOLOAD);
      if (handle == nullptr) continue;
      void* found = FindIn(handle, name, version);
      if (found == nullptr) found = FindAny(handle, name);
      dlclose(handle);
      if (found != nullptr) return found;
    }
    if (!more) return nullptr;
    skip += page.taken;
  }
}

__attribute__((noinline)) void* FindForCaller(const char* name, const void* address) {
  const link_map* const map = MapOf(address);
  const char* const version = map != nullptr ? VersionNeeded(map, name) : nullptr;
  // A reference with a version takes a definition of that version, or one without a version; dlvsym
  // accepts both. If neither scope has one, it takes the default version. A reference without a
  // version takes the default version at once.
  void* found = version != nullptr ? FindIn(RTLD_NEXT, name, version) : FindAny(RTLD_NEXT, name);
  if (found == nullptr && map != nullptr) found = FindInMap(map, name, version);
  if (found == nullptr && version != nullptr) found = FindAny(RTLD_NEXT, name);
  if (found == nullptr) found = FindAnywhere(name, version);
  return found;
}

}  // namespace

bool IsGlibc() {
  return dlvsym != nullptr;
}

bool InsideAgent(const void* address) {
  return Bits(address) >= Bits(__ehdr_start) && Bits(address) < Bits(_end);
}

void* RealLibc(Symbol* symbol) {
  void* real = __atomic_load_n(&symbol->next, __ATOMIC_RELAXED);
  if (__builtin_expect(real == nullptr, 0)) {
    const int saved = errno;
    real = FindAny(RTLD_NEXT, symbol->name);
    if (real == nullptr) {
      real = FindWithout64(symbol->name);
    }
    __atomic_store_n(&symbol->next, real, __ATOMIC_RELAXED);
    errno = saved;
  }
  return real;
}

void FindLibc() {
  bool missing = false;
  for (Symbol* symbol = __start_penstock_symbols; symbol < __stop_penstock_symbols; ++symbol) {
    missing = RealLibc(symbol) == nullptr || missing;
  }
  // The program must not find the error of our lookup in dlerror(). The second call frees the text
  // that the first one returned.
  if (missing && dlerror() != nullptr) {
    dlerror();
  }
}

void* RealForCaller(Symbol* symbol, void* return_address) {
  const uintptr_t key = Bits(symbol) | static_cast<uintptr_t>(Kind::kCaller);
  // The call lies before the return address, which may already be the first byte of the next
  // object.
  const void* const site = static_cast<const char*>(return_address) - 1;
  void* real = Lookup(key, Bits(return_address), site);
  if (__builtin_expect(real == nullptr, 0)) {
    const int saved = errno;
    real = FindForCaller(symbol->name, site);
    if (real != nullptr) Insert(key, Bits(return_address), site, real);
    errno = saved;
  }
  return real;
}

void* RealInObjectOf(Symbol* symbol, const void* address) {
  const uintptr_t key = Bits(symbol) | static_cast<uintptr_t>(Kind::kObject);
  void* real = Lookup(key, Bits(address), address);
  if (__builtin_expect(real == nullptr, 0)) {
    const int saved = errno;
    const link_map* const map = MapOf(address);
    if (map != nullptr) real = FindInMap(map, symbol->name, nullptr);
    if (real != nullptr) Insert(key, Bits(address), address, real);
    errno = saved;
  }
  return real;
}

}  // namespace penstock::agent
