// SPDX-License-Identifier: Apache-2.0
//
// Facts of the host that explain a run: CPU, quota, memory, shared memory, storage of the dataset.
// Readers take the roots of the file systems they look at, so that tests can bring their own.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "traces/base/units.h"

namespace penstock::traces {

using Facts = std::map<std::string, std::string>;

// host, kernel, clock.*, cpu.*, cgroup.*, memory.total, shm.size.
[[nodiscard]] Facts HostFacts();

// The time namespace: what counts CLOCK_MONOTONIC from a moment of its own.
struct ClockNamespace {
  std::string id;  // "": kernels before 5.6 have none
  TimeNs offset;   // of its CLOCK_MONOTONIC to that of the host
};
[[nodiscard]] ClockNamespace OwnClockNamespace();
// The offset in the text of /proc/self/timens_offsets; 0 if there is none.
[[nodiscard]] TimeNs TimensOffset(std::string_view text);

struct CgroupLimits {
  std::optional<double> cpu_quota;  // cores
  std::optional<Bytes> memory_limit;
  std::filesystem::path memory_group;  // the folder whose limit that is
};
// The tightest limit on the way from our group to the root, of version 1 or 2.
// `membership`: text of /proc/self/cgroup. `root`: /sys/fs/cgroup.
[[nodiscard]] CgroupLimits ReadCgroupLimits(std::string_view membership,
                                            const std::filesystem::path& root);
[[nodiscard]] CgroupLimits OwnCgroupLimits();
// What a group of either version uses without the page cache, which is given up before anybody is
// killed; nullopt: it does not say.
[[nodiscard]] std::optional<Bytes> CgroupMemoryUse(const std::filesystem::path& group);

// What holds a directory: {"ext4", "nvme"}, {"tmpfs", "memory"}, {"nfs4", "network"}.
struct Storage {
  std::string filesystem;
  std::string device;  // nvme, ssd, rotational, memory, network, unknown
};
// Errors: none; what is not known is "unknown". A path that is gone counts as its parent.
[[nodiscard]] Storage StorageOf(const std::filesystem::path& folder);

// File system type and source of the mount that holds `path`, from the text of mountinfo.
struct Mount {
  std::string filesystem;
  std::string source;
};
[[nodiscard]] std::optional<Mount> FindMount(std::string_view mountinfo, std::string_view path);

// "0-3,8" from a sorted list of CPUs.
[[nodiscard]] std::string CpuList(const std::vector<int>& cpus);

// A command line as a shell would take it.
[[nodiscard]] std::string QuoteCommand(const std::vector<std::string>& command);

}  // namespace penstock::traces
