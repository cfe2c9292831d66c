// SPDX-License-Identifier: Apache-2.0
//
// Facts of the host that help to explain a run: CPU, quota, memory, shared memory, storage of the
// dataset. The functions take the roots of the file systems that they read, so that tests can pass
// their own.
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

// The time namespace, in which CLOCK_MONOTONIC begins at a moment of its own.
struct ClockNamespace {
  std::string id;  // "": kernels before 5.6 have none
  TimeNs offset;   // from its CLOCK_MONOTONIC to that of the host
};
[[nodiscard]] ClockNamespace OwnClockNamespace();
// The offset in the text of /proc/self/timens_offsets; 0 if there is none.
[[nodiscard]] TimeNs TimensOffset(std::string_view text);

struct CgroupLimits {
  std::optional<double> cpu_quota;  // cores
  std::optional<Bytes> memory_limit;
  std::filesystem::path memory_group;  // the folder with that limit
};
// The tightest limits from our control group up to the root, of version 1 or 2. `membership`: text
// of /proc/self/cgroup. `root`: /sys/fs/cgroup.
[[nodiscard]] CgroupLimits ReadCgroupLimits(std::string_view membership,
                                            const std::filesystem::path& root);
[[nodiscard]] CgroupLimits OwnCgroupLimits();
// How much memory a group of either version uses without the page cache, which the kernel frees
// before it kills a process; nullopt: not known.
[[nodiscard]] std::optional<Bytes> CgroupMemoryUse(const std::filesystem::path& group);

// The storage of a directory: {"ext4", "nvme"}, {"tmpfs", "memory"}, {"nfs4", "network"}.
struct Storage {
  std::string filesystem;
  std::string device;  // nvme, ssd, rotational, memory, network, unknown
};
// Errors: none; what is not known is "unknown". For a missing path its parent counts.
[[nodiscard]] Storage StorageOf(const std::filesystem::path& folder);

// File system type and source of the mount that contains `path`, from the text of mountinfo.
struct Mount {
  std::string filesystem;
  std::string source;
};
[[nodiscard]] std::optional<Mount> FindMount(std::string_view mountinfo, std::string_view path);

// "0-3,8" from a sorted list of CPUs.
[[nodiscard]] std::string CpuList(const std::vector<int>& cpus);

// A command line, quoted for a shell.
[[nodiscard]] std::string QuoteCommand(const std::vector<std::string>& command);
// The words of a line that QuoteCommand() has written.
[[nodiscard]] std::vector<std::string> UnquoteCommand(std::string_view line);

}  // namespace penstock::traces
