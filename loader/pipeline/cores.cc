// SPDX-License-Identifier: Apache-2.0
#include "loader/pipeline/cores.h"

#include <sched.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <fstream>
#include <memory>
#include <optional>
#include <string>
#include <thread>

namespace penstock::loader {
namespace {

namespace fs = std::filesystem;

// The kernel's mask may be larger than cpu_set_t, so ours grows until it fits.
std::size_t AffinityCores() {
  for (std::size_t cpus = 1024; cpus <= (1u << 18); cpus *= 2) {
    const std::unique_ptr<cpu_set_t, void (*)(cpu_set_t*)> mask(
        CPU_ALLOC(cpus), [](cpu_set_t* set) { CPU_FREE(set); });
    const std::size_t bytes = CPU_ALLOC_SIZE(cpus);
    if (mask != nullptr && sched_getaffinity(0, bytes, mask.get()) == 0) {
      return static_cast<std::size_t>(CPU_COUNT_S(bytes, mask.get()));
    }
  }
  return std::thread::hardware_concurrency();
}

// The quota of cgroup version 2: "QUOTA PERIOD" or "max PERIOD".
std::optional<double> QuotaV2(const fs::path& group) {
  std::ifstream file(group / "cpu.max");
  double quota = 0;
  double period = 0;
  if (file >> quota >> period && quota > 0 && period > 0) return quota / period;
  return std::nullopt;
}

// The quota of cgroup version 1, where -1 means none.
std::optional<double> QuotaV1(const fs::path& group) {
  std::ifstream quota_file(group / "cpu.cfs_quota_us");
  std::ifstream period_file(group / "cpu.cfs_period_us");
  double quota = 0;
  double period = 0;
  if (quota_file >> quota && period_file >> period && quota > 0 && period > 0) {
    return quota / period;
  }
  return std::nullopt;
}

// The smallest quota of `group` below `mount` and of the groups above it. Inside a container,
// `group` may be a path of the host that does not exist below the mount. The mount itself is then
// the group of the container.
template <class Quota>
double Smallest(const fs::path& mount, const fs::path& group, Quota quota) {
  double smallest = 0;
  const auto look = [&](const fs::path& at) {
    const std::optional<double> found = quota(at);
    if (found && (smallest == 0 || *found < smallest)) smallest = *found;
  };
  fs::path relative = group.relative_path().lexically_normal();
  for (; !relative.empty() && relative != "."; relative = relative.parent_path()) {
    look(mount / relative);
  }
  look(mount);
  return smallest;
}

bool HasCpu(const std::string& controllers) {
  const std::string list = "," + controllers + ",";
  return list.find(",cpu,") != std::string::npos;
}

}  // namespace

double CpuQuota(const fs::path& root) {
  std::ifstream groups(root / "proc/self/cgroup");
  double smallest = 0;
  for (std::string line; std::getline(groups, line);) {  // NUMBER:CONTROLLERS:PATH
    const std::size_t first = line.find(':');
    const std::size_t second = first == std::string::npos ? first : line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1);
    const fs::path group = line.substr(second + 1);
    double found = 0;
    if (controllers.empty()) {
      found = Smallest(root / "sys/fs/cgroup", group, QuotaV2);
    } else if (HasCpu(controllers)) {
      found = Smallest(root / "sys/fs/cgroup/cpu", group, QuotaV1);
    }
    if (found > 0 && (smallest == 0 || found < smallest)) smallest = found;
  }
  return smallest;
}

unsigned CoresToUse(const fs::path& root) {
  auto cores = static_cast<double>(std::max<std::size_t>(AffinityCores(), 1));
  const double quota = CpuQuota(root);
  if (quota > 0) cores = std::min(cores, std::max(1.0, std::ceil(quota)));
  return static_cast<unsigned>(cores);
}

}  // namespace penstock::loader
