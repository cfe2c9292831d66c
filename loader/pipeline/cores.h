// SPDX-License-Identifier: Apache-2.0
//
// How many threads this process can keep busy. Reads /proc and /sys; thread-safe.
#pragma once

#include <filesystem>

namespace penstock::loader {

// The number of cores that the affinity mask allows, limited by the CPU quota of the cgroups,
// rounded up. At least 1. `root`: the folder of proc/ and sys/, for tests.
[[nodiscard]] unsigned CoresToUse(const std::filesystem::path& root = "/");

// The smallest CPU quota, in cores, among the cgroup that `root`/proc/self/cgroup names and those
// above it; 0 if none has a quota.
[[nodiscard]] double CpuQuota(const std::filesystem::path& root);

}  // namespace penstock::loader
