// SPDX-License-Identifier: Apache-2.0
//
// How many threads are worth starting. Asks only the kernel.
#pragma once

namespace penstock::loader {

// Cores that this process may run on; at least 1.
[[nodiscard]] unsigned UsableCores();

}  // namespace penstock::loader
