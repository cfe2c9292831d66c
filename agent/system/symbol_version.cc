// SPDX-License-Identifier: Apache-2.0
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "agent/system/symbol_version.h"

#include <elf.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

namespace penstock::agent {
namespace {

using ElfSymbol = ElfW(Sym);
using ElfNeed = ElfW(Verneed);
using ElfNeedAux = ElfW(Vernaux);

// The value of an entry in the dynamic section; 0 if there is none.
uintptr_t Tagged(const link_map* map, int64_t tag) {
  for (const ElfW(Dyn)* entry = map->l_ld; entry != nullptr && entry->d_tag != DT_NULL; ++entry) {
    if (entry->d_tag == tag) return entry->d_un.d_ptr;
  }
  return 0;
}

template <typename T>
const T* TaggedTable(const link_map* map, int64_t tag) {
  uintptr_t address = Tagged(map, tag);
  // glibc replaces these offsets by addresses in place, except that of DT_VERNEED, and except in a
  // read-only dynamic section (the vDSO). A value smaller than the object's address is still an
  // offset.
  if (address != 0 && address < map->l_addr) address += map->l_addr;
  return reinterpret_cast<const T*>(address);
}

// An index above those of all undefined symbols; 0 if it is not known.
size_t UndefinedEnd(const link_map* map, const ElfSymbol* symbols, const char* strings) {
  if (const auto* const hash = TaggedTable<uint32_t>(map, DT_HASH)) return hash[1];
  const auto* const gnu = TaggedTable<uint32_t>(map, DT_GNU_HASH);
  if (gnu == nullptr) return 0;
  if (gnu[1] > 1) return gnu[1];  // the hash table holds the defined symbols, which come last
  // GNU ld writes 1 for an object that defines nothing; the strings then follow the symbols.
  const auto first = reinterpret_cast<uintptr_t>(symbols);
  const auto last = reinterpret_cast<uintptr_t>(strings);
  return last > first ? (last - first) / sizeof(ElfSymbol) : 0;
}

}  // namespace

const char* VersionNeeded(const link_map* map, const char* name) {
  const auto* const symbols = TaggedTable<ElfSymbol>(map, DT_SYMTAB);
  const auto* const strings = TaggedTable<char>(map, DT_STRTAB);
  const auto* const versions = TaggedTable<uint16_t>(map, DT_VERSYM);
  const char* need_at = TaggedTable<char>(map, DT_VERNEED);
  if (symbols == nullptr || strings == nullptr || versions == nullptr || need_at == nullptr) {
    return nullptr;
  }
  const size_t end = UndefinedEnd(map, symbols, strings);
  size_t index = 1;
  while (index < end && (symbols[index].st_shndx != SHN_UNDEF ||
                         strcmp(strings + symbols[index].st_name, name) != 0)) {
    ++index;
  }
  if (index >= end) return nullptr;
  const unsigned wanted = versions[index] & 0x7fffu;
  if (wanted <= VER_NDX_GLOBAL) return nullptr;
  for (uintptr_t left = Tagged(map, DT_VERNEEDNUM); left != 0; --left) {
    const auto* const need = reinterpret_cast<const ElfNeed*>(need_at);
    const char* aux_at = need_at + need->vn_aux;
    for (unsigned k = 0; k < need->vn_cnt; ++k) {
      const auto* const aux = reinterpret_cast<const ElfNeedAux*>(aux_at);
      if ((aux->vna_other & 0x7fffu) == wanted) return strings + aux->vna_name;
      aux_at += aux->vna_next;
    }
    if (need->vn_next == 0) break;
    need_at += need->vn_next;
  }
  return nullptr;
}

}  // namespace penstock::agent
