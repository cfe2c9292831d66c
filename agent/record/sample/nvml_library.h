// SPDX-License-Identifier: Apache-2.0
//
// NVML, loaded at run time: a function that this version of it lacks, that the device does not
// support or that fails gives no value. Any call may block for as long as the driver likes: use it
// in a process that can be killed (nvml_process.h). Not thread-safe.
#pragma once

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
  std::uint32_t pid = 0;  // of the host's pid namespace
  std::optional<Bytes> memory;
};

struct NvmlLink {
  unsigned generation = 0;
  unsigned width = 0;
};

class NvmlLibrary {
 public:
  // Told the name of a function before it is called.
  using Watch = std::function<void(const char* function)>;

  explicit NvmlLibrary(Watch watch) : watch_(std::move(watch)) {}
  // Loads and initialises it. Errors: kEnvironment: not there, not NVML, or what it answered.
  [[nodiscard]] Result<void> Open();

  [[nodiscard]] std::optional<std::string> Driver();
  // Devices by index; nullptr: that one does not answer.
  [[nodiscard]] Result<std::vector<nvml::Device>> Devices();

  [[nodiscard]] std::optional<std::string> Name(nvml::Device device);
  [[nodiscard]] std::optional<std::string> Uuid(nvml::Device device);
  [[nodiscard]] std::optional<std::string> PciId(nvml::Device device);
  [[nodiscard]] std::optional<unsigned> Minor(nvml::Device device);  // of /dev/nvidiaN
  [[nodiscard]] std::optional<bool> Mig(nvml::Device device);
  [[nodiscard]] std::optional<NvmlLink> Link(nvml::Device device);     // now: idle links shift down
  [[nodiscard]] std::optional<NvmlLink> MaxLink(nvml::Device device);  // of device and slot
  [[nodiscard]] std::optional<unsigned> PowerLimit(nvml::Device device);  // milliwatts

  // Percent of the time, in a window of 1/6 to 1 s that the driver chooses, in which any program
  // had a kernel on the device, or moved its memory.
  [[nodiscard]] std::optional<nvml::Utilization> Utilization(nvml::Device device);
  [[nodiscard]] std::optional<NvmlMemory> Memory(nvml::Device device);
  [[nodiscard]] std::optional<unsigned> Power(nvml::Device device);             // milliwatts
  [[nodiscard]] std::optional<unsigned> Clock(nvml::Device device, int clock);  // MHz
  [[nodiscard]] std::optional<unsigned> Temperature(nvml::Device device);       // degrees Celsius
  [[nodiscard]] std::optional<unsigned long long> ClockEvents(nvml::Device device);  // bits
  // Bytes a second. Cost: 20 ms, in which the driver counts.
  [[nodiscard]] std::optional<std::uint64_t> Pcie(nvml::Device device, int direction);
  [[nodiscard]] std::optional<std::vector<NvmlProcess>> Processes(nvml::Device device);

 private:
  // Calls the first of `names` that the library has. nullopt: none, or it failed.
  template <class Function, class... Arguments>
  std::optional<nvml::Status> Call(const char* name, Arguments... arguments);
  std::optional<unsigned> Number(const char* name, nvml::Device device);
  std::optional<std::string> Text(const char* name, nvml::Device device);
  template <class Process>
  std::optional<std::vector<NvmlProcess>> ListProcesses(const char* name, nvml::Device device);
  [[nodiscard]] std::string Explain(nvml::Status status);

  Watch watch_;
  void* library_ = nullptr;
};

}  // namespace penstock::record
