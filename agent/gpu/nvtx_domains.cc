// SPDX-License-Identifier: Apache-2.0
#include "agent/gpu/nvtx_domains.h"

namespace penstock::agent::nvtx {
namespace {

uint64_t g_domains[kDomains];
char g_no_domain;  // the handle of a domain that has no entry points here

}  // namespace

void* DomainNamed(uint64_t name) {
  for (uint32_t i = 0; i < kDomains && name != 0; ++i) {
    uint64_t known = __atomic_load_n(&g_domains[i], __ATOMIC_RELAXED);
    if (known == 0 && __atomic_compare_exchange_n(&g_domains[i], &known, name, false,
                                                  __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
      return &g_domains[i];
    }
    if (known == name) {
      return &g_domains[i];
    }
  }
  return &g_no_domain;
}

uint64_t DomainId(const void* handle) {
  const auto* entry = static_cast<const uint64_t*>(handle);
  return entry >= g_domains && entry < g_domains + kDomains ? *entry : 0;
}

uint32_t PlaceOf(uint64_t domain) {
  for (uint32_t i = 0; i < kDomains && domain != 0; ++i) {
    if (__atomic_load_n(&g_domains[i], __ATOMIC_RELAXED) == domain) {
      return i;
    }
  }
  return kDomains;
}

}  // namespace penstock::agent::nvtx
