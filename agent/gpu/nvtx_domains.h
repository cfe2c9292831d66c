// SPDX-License-Identifier: Apache-2.0
//
// The domains of NVTX: groups of ranges with a name. A domain's handle points at its entry in a
// bounded table of the ids of names. Domains of the same name are one domain.
// Threads: any. Nobody waits, and nothing is allocated.
#pragma once

#include <stdint.h>

namespace penstock::agent::nvtx {

inline constexpr uint32_t kDomains = 256;

// The handle of the domain whose name has the string id `name`. If `name` is 0 or the table is
// full, the handle counts as the default domain.
void* DomainNamed(uint64_t name);
// The string id of the domain's name; 0 for the default domain and for unknown handles.
uint64_t DomainId(const void* handle);
// The index of the domain with this id in the table; kDomains for the default domain.
uint32_t PlaceOf(uint64_t domain);

}  // namespace penstock::agent::nvtx
