// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <link.h>

namespace penstock::agent {

// The version of `name` that the object's reference asks for; nullptr if the object has no
// reference to `name`, or one without a version.
const char* VersionNeeded(const link_map* map, const char* name);

}  // namespace penstock::agent
