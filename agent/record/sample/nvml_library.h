// SPDX-License-Identifier: Apache-2.0
//
// NVML, loaded at run time. A function returns no value if this version of NVML lacks it, the
// device does not support it, or it fails. Any call may block in the driver for any time, so use
// this class in a process that can be killed (nvml_process.h). Not thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "agent/record/sample/nvml_types.h"
#include "traces/base/result.h"
#include "traces/base/units.h"

namespace penstock::record {

struct NvmlMemory {
  Bytes total;
  Bytes used;
};

struct NvmlProcess {
  std::uint32_t pid = 0;  // in the host's pid namespace
  std::optional<Bytes> memory;
};

struct NvmlLink {
  unsigned generation = 0;
  unsigned width = 0;
};

class NvmlLibrary {
 public:
  // Called with the name of each function of NVML that may block, before it is called; and with
  // "dlopen" before the library is loaded.
  using Watch = std::function<void(const char* function)>;

  explicit NvmlLibrary(Watch watch) : watch_(std::move(watch)) {}
  // Loads and initialises the library. Errors: kEnvironment if it is missing, is not NVML, or
  // fails.
  [[nodiscard]] Result<void> Open();

  [[nodiscard]] std::optional<std::string> Driver();
  // Devices by index; nullptr for one that does not answer.
  [[nodiscard]] Result<std::vector<nvml::Device>> Devices();

  [[nodiscard]] std::optional<std::string> Name(nvml::Device device);
  [[nodiscard]] std::optional<std::string> Uuid(nvml::Device device);
  [[nodiscard]] std::optional<std::string> PciId(nvml::Device device);
  [[nodiscard]] std::optional<unsigned> Minor(nvml::Device device);  // of /dev/nvidiaN
  [[nodiscard]] std::optional<bool> Mig(nvml::Device device);
  [[nodiscard]] std::optional<NvmlLink> Link(nvml::Device device);        // current; lower when
                                                                          // idle
  [[nodiscard]] std::optional<NvmlLink> MaxLink(nvml::Device device);     // highest possible
  [[nodiscard]] std::optional<unsigned> PowerLimit(nvml::Device device);  // milliwatts

  // Percent of the time in which any program ran a kernel on the device, or used its memory, in a
  // window of 1/6 to 1 s that the driver chooses.
  [[nodiscard]] std::optional<nvml::Utilization> Utilization(nvml::Device device);
  [[nodiscard]] std::optional<NvmlMemory> Memory(nvml::Device device);
  [[nodiscard]] std::optional<unsigned> Power(nvml::Device device);             // milliwatts
  [[nodiscard]] std::optional<unsigned> Clock(nvml::Device device, int clock);  // MHz
  [[nodiscard]] std::optional<unsigned> Temperature(nvml::Device device);       // degrees Celsius
  [[nodiscard]] std::optional<unsigned long long> ClockEvents(nvml::Device device);  // bits
  // Bytes a second. Cost: 20 ms, during which the driver counts.
  [[nodiscard]] std::optional<std::uint64_t> Pcie(nvml::Device device, int direction);
  [[nodiscard]] std::optional<std::vector<NvmlProcess>> Processes(nvml::Device device);

 private:
  // Calls the function `name`. nullopt if the library does not have it.
  template <class Function, class... Arguments>
  std::optional<nvml::Status> Call(const char* name, Arguments... arguments);
  std::optional<unsigned> Number(const char* name, nvml::Device device);
  std::optional<std::string> Text(const char* name, nvml::Device device);
  // `entry_size`: the documented size of an entry in this version of the function.
  std::optional<std::vector<NvmlProcess>> ListProcesses(const char* name, std::size_t entry_size,
                                                        nvml::Device device);
  [[nodiscard]] std::string Explain(nvml::Status status);

  Watch watch_;
  void* library_ = nullptr;
};

}  // namespace penstock::record
