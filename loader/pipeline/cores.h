// SPDX-License-Identifier: Apache-2.0
//
// How many threads this process can keep busy. Reads /proc and /sys; thread-safe.
#pragma once

#include <filesystem>

namespace penstock::loader {

// The number of cores that the affinity mask allows, limited by the CPU quota of the cgroups,
// rounded up. At least 1. `root`: the folder of proc/ and sys/, for tests.
[[nodiscard]] unsigned CoresToUse(const std::filesystem::path& root = "/");

// The smallest CPU quota of the cgroup that `root`/proc/self/cgroup names and of those above it, in
// cores; 0: none.
[[nodiscard]] double CpuQuota(const std::filesystem::path& root);

}  // namespace penstock::loader
