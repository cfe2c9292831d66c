// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <link.h>

namespace penstock::agent {

// The version of `name` to which the object refers; nullptr if it does not refer to it, or without
// a version.
const char* VersionNeeded(const link_map* map, const char* name);

}  // namespace penstock::agent
