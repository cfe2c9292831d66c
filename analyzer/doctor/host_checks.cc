// SPDX-License-Identifier: Apache-2.0
//
// Limits of the machine and the container that explain slow loaders, and the GPU's libraries.
#include <dlfcn.h>
#include <sched.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

#include <fmt/core.h>

#include "analyzer/doctor/doctor.h"
#include "analyzer/doctor/target.h"
#include "analyzer/words/format.h"
#include "traces/base/small_file.h"
#include "traces/host_facts.h"

namespace penstock::analyzer {
namespace {

namespace fs = std::filesystem;

int AllowedCores() {
  cpu_set_t set;
  CPU_ZERO(&set);
  return sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 0;
}

void CheckCpu(const traces::CgroupLimits& limits, Checks& checks) {
  const long online = sysconf(_SC_NPROCESSORS_ONLN);
  const int allowed = AllowedCores();
  const std::optional<double> quota = limits.cpu_quota;
  Check check{"cpu", Health::kOk,
              fmt::format("{} cores, {} allowed by the affinity mask", online, allowed), "", ""};
  if (quota) check.fact += fmt::format(", {:.3g} by the cgroup quota", *quota);
  if (allowed > 0 && allowed < online) {
    check.health = Health::kWarn;
    check.consequence = "workers beyond the mask take turns";
    check.remedy = "widen the mask (taskset, srun -c), or choose the number of workers by it";
  }
  if (quota && *quota < allowed) {
    check.health = Health::kWarn;
    check.consequence =
        "workers beyond the quota are throttled; PyTorch does not look at the quota";
    check.remedy = "raise the container's CPU limit, or choose the number of workers by it";
  }
  checks.push_back(std::move(check));
}

void CheckMemory(const traces::CgroupLimits& limits, Checks& checks) {
  const std::optional<Bytes> limit = limits.memory_limit;
  const double ram =
      static_cast<double>(sysconf(_SC_PHYS_PAGES)) * static_cast<double>(sysconf(_SC_PAGESIZE));
  Check check{"memory", Health::kOk,
              fmt::format("{} of RAM", BytesText(static_cast<std::uint64_t>(ram))), "", ""};
  if (limit && static_cast<double>(limit->value) < ram) {
    check.fact += fmt::format(", {} allowed by the cgroup", BytesText(limit->value));
    check.consequence = "the page cache of the dataset counts towards this limit";
  }
  checks.push_back(std::move(check));
}

// Checks the memory in which PyTorch's workers hand over batches, and in which events are recorded.
void CheckShm(Checks& checks) {
  struct statvfs shm {};
  if (statvfs("/dev/shm", &shm) != 0) {
    checks.push_back({"shm", Health::kWarn, "/dev/shm is not there",
                      "DataLoader workers cannot share tensors; events go to memory files",
                      "mount a tmpfs there"});
    return;
  }
  const std::uint64_t size = static_cast<std::uint64_t>(shm.f_blocks) * shm.f_frsize;
  const std::uint64_t free = static_cast<std::uint64_t>(shm.f_bavail) * shm.f_frsize;
  Check check{"shm", Health::kOk,
              fmt::format("/dev/shm has {}, {} of it free", BytesText(size), BytesText(free)), "",
              ""};
  // The limit of 256 MB is ours. Two batches of 256 float32 images of 224x224 pixels need 308 MB;
  // Docker gives 64 MiB.
  if (free < 256'000'000) {
    check.health = Health::kWarn;
    check.consequence = "workers may die with a bus error when batches are large";
    check.remedy = "docker run --shm-size=8g, or --ipc=host";
  }
  checks.push_back(std::move(check));
}

// Whether a line of io.max ("8:16 rbps=2097152 wbps=max riops=max wiops=120") limits reads.
bool LimitsReads(std::string_view line) {
  for (const std::string_view key : {"rbps=", "riops="}) {
    const std::size_t at = line.find(key);
    if (at == std::string_view::npos) continue;
    if (!line.substr(at + key.size()).starts_with("max")) return true;
  }
  return false;
}

// The first line of io.max that limits reads, in a control group of version 2; "": there is none.
std::string ReadLimit(const fs::path& group) {
  const std::string limits = ReadStart(group / "io.max", 4096);
  for (const std::string_view limit : SplitLines(limits)) {
    if (LimitsReads(limit)) return std::string(limit);
  }
  return {};
}

// The limits of a control group hold for all groups below it, so all groups above are checked too.
void CheckIoLimit(std::string_view membership, const fs::path& cgroups, Checks& checks) {
  for (const std::string_view line : SplitLines(membership)) {
    if (!line.starts_with("0::")) continue;
    for (fs::path group = fs::path(line.substr(3)).relative_path();; group = group.parent_path()) {
      if (const std::string limit = ReadLimit(cgroups / group); !limit.empty()) {
        checks.push_back({"io", Health::kWarn, fmt::format("the cgroup limits disk I/O: {}", limit),
                          "reads are throttled by it", "raise io.max"});
        return;
      }
      if (group.empty()) break;
    }
  }
}

bool Loads(const char* library) {
  void* handle = dlopen(library, RTLD_LAZY | RTLD_LOCAL);
  if (handle != nullptr) dlclose(handle);
  return handle != nullptr;
}

}  // namespace

void CheckHost(Checks& checks, const fs::path& root) {
  const std::string membership = ReadStart(root / "proc/self/cgroup", 1 << 16);
  const fs::path cgroups = root / "sys/fs/cgroup";
  const traces::CgroupLimits limits = traces::ReadCgroupLimits(membership, cgroups);
  CheckCpu(limits, checks);
  CheckMemory(limits, checks);
  CheckShm(checks);
  CheckIoLimit(membership, cgroups, checks);
  checks.push_back({"privileges-needed", Health::kOk,
                    "neither ptrace nor perf events nor root are needed", "", ""});
}

void CheckGpu(Checks& checks) {
  if (!Loads("libcuda.so.1")) {
    checks.push_back({"cuda", Health::kOk,
                      "no CUDA driver: the data path is recorded, there is no GPU to look at", "",
                      ""});
    return;
  }
  checks.push_back({"cuda", Health::kOk, "the CUDA driver is there", "", ""});
  if (!Loads("libnvidia-ml.so.1")) {
    checks.push_back({"nvml", Health::kWarn, "NVML (libnvidia-ml.so.1) is not there",
                      "the GPU's utilisation is not sampled",
                      "run the container with NVIDIA_DRIVER_CAPABILITIES=compute,utility"});
  }
  constexpr std::array kCupti = {"libcupti.so", "libcupti.so.12", "libcupti.so.13",
                                 "libcupti.so.11.8",
                                 "/usr/local/cuda/extras/CUPTI/lib64/libcupti.so"};
  if (std::none_of(kCupti.begin(), kCupti.end(), Loads)) {
    checks.push_back(
        {"cupti", Health::kWarn, "CUPTI is not on the library path",
         "kernels and copies are seen only if the program brings CUPTI itself (PyTorch's "
         "wheels do)",
         ""});
  }
}

}  // namespace penstock::analyzer
