// SPDX-License-Identifier: Apache-2.0
//
// How many threads this process can keep busy. Reads /proc and /sys; thread-safe.
#pragma once

#include <filesystem>

namespace penstock::loader {

// Cores that the affinity mask allows, and no more than the CPU quota of the control groups pays
// for (rounded up): at least 1.
// `root`: where proc/ and sys/ are, for tests.
[[nodiscard]] unsigned CoresToUse(const std::filesystem::path& root = "/");

// CPU quota of the control group that `root`/proc/self/cgroup names and of those above it, in
// cores; 0: none.
[[nodiscard]] double CpuQuota(const std::filesystem::path& root);

}  // namespace penstock::loader
