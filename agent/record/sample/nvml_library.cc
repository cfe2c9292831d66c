// SPDX-License-Identifier: Apache-2.0
#include "agent/record/sample/nvml_library.h"

#include <dlfcn.h>

#include <algorithm>
#include <array>
#include <cstring>

#include <fmt/format.h>

namespace penstock::record {
namespace {

// The name that the driver installs, and its place under WSL.
constexpr std::array kNames = {"libnvidia-ml.so.1", "/usr/lib/wsl/lib/libnvidia-ml.so.1"};
constexpr unsigned kMostDevices = 256;
constexpr unsigned kMostProcesses = 4096;
constexpr unsigned long long kUnknownMemory = ~0ull;
constexpr unsigned char kUnwritten = 0xa5;  // no entry ends with this byte

// The size of an entry, computed from the last byte that the driver has written; `documented` if
// that byte shows nothing. The drivers 535.43 to 535.86 wrote larger entries for _v3. Programs that
// assumed the documented size read the second entry from the middle of the first, and had their
// buffers overrun.
// Source: pull request 79 of XuehaiPan/nvitop.
std::size_t EntrySize(const std::vector<unsigned char>& bytes, std::size_t count,
                      std::size_t documented) {
  std::size_t end = bytes.size();
  while (end > 0 && bytes[end - 1] == kUnwritten) --end;
  for (const std::size_t size :
       {sizeof(nvml::ProcessV1), sizeof(nvml::ProcessV2), sizeof(nvml::ProcessR535)}) {
    if (end <= count * size && end + size > count * size) return size;
  }
  return documented;
}

}  // namespace

template <class Function, class... Arguments>
std::optional<nvml::Status> NvmlLibrary::Call(const char* name, Arguments... arguments) {
  if (library_ == nullptr) return std::nullopt;
  void* const symbol = dlsym(library_, name);
  if (symbol == nullptr) return std::nullopt;
  Function* function = nullptr;
  static_assert(sizeof function == sizeof symbol);
  std::memcpy(&function, &symbol, sizeof function);
  watch_(name);
  return function(arguments...);
}

Result<void> NvmlLibrary::Open() {
  watch_("dlopen");
  std::string why;
  for (const char* name : kNames) {
    library_ = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    if (library_ != nullptr) break;
    const char* error = dlerror();
    if (why.empty()) why = error != nullptr ? error : "cannot be loaded";
  }
  if (library_ == nullptr) return Fail(ErrorKind::kEnvironment, why);
  auto status = Call<nvml::Status()>("nvmlInit_v2");
  if (!status) status = Call<nvml::Status()>("nvmlInit");
  if (!status) return Fail(ErrorKind::kEnvironment, "libnvidia-ml.so.1 has no nvmlInit");
  if (*status != nvml::kSuccess) {
    return Fail(ErrorKind::kEnvironment, fmt::format("nvmlInit_v2: {}", Explain(*status)));
  }
  return {};
}

std::string NvmlLibrary::Explain(nvml::Status status) {
  void* const symbol = dlsym(library_, "nvmlErrorString");
  const char* (*explain)(nvml::Status) = nullptr;
  std::memcpy(&explain, &symbol, sizeof explain);
  const char* text = explain != nullptr ? explain(status) : nullptr;
  return text != nullptr ? fmt::format("{} ({})", text, status) : fmt::format("error {}", status);
}

std::optional<std::string> NvmlLibrary::Driver() {
  std::array<char, 96> text{};
  const auto status = Call<nvml::Status(char*, unsigned)>("nvmlSystemGetDriverVersion", text.data(),
                                                          static_cast<unsigned>(text.size()));
  if (status != nvml::kSuccess) return std::nullopt;
  return std::string(text.data(), strnlen(text.data(), text.size()));
}

Result<std::vector<nvml::Device>> NvmlLibrary::Devices() {
  unsigned count = 0;
  using Count = nvml::Status(unsigned*);
  auto status = Call<Count>("nvmlDeviceGetCount_v2", &count);
  if (!status) status = Call<Count>("nvmlDeviceGetCount", &count);
  if (status != nvml::kSuccess) {
    return Fail(ErrorKind::kEnvironment,
                status ? fmt::format("nvmlDeviceGetCount_v2: {}", Explain(*status))
                       : "libnvidia-ml.so.1 has no nvmlDeviceGetCount");
  }
  std::vector<nvml::Device> devices(std::min(count, kMostDevices));
  for (unsigned i = 0; i < devices.size(); ++i) {
    using Handle = nvml::Status(unsigned, nvml::Device*);
    auto found = Call<Handle>("nvmlDeviceGetHandleByIndex_v2", i, &devices[i]);
    if (!found) found = Call<Handle>("nvmlDeviceGetHandleByIndex", i, &devices[i]);
    if (found != nvml::kSuccess) devices[i] = nullptr;
  }
  return devices;
}

std::optional<unsigned> NvmlLibrary::Number(const char* name, nvml::Device device) {
  unsigned value = 0;
  const auto status = Call<nvml::Status(nvml::Device, unsigned*)>(name, device, &value);
  return status == nvml::kSuccess ? std::optional(value) : std::nullopt;
}

std::optional<std::string> NvmlLibrary::Text(const char* name, nvml::Device device) {
  std::array<char, 96> text{};
  const auto status = Call<nvml::Status(nvml::Device, char*, unsigned)>(
      name, device, text.data(), static_cast<unsigned>(text.size()));
  if (status != nvml::kSuccess) return std::nullopt;
  return std::string(text.data(), strnlen(text.data(), text.size()));
}

std::optional<std::string> NvmlLibrary::Name(nvml::Device device) {
  return Text("nvmlDeviceGetName", device);
}

std::optional<std::string> NvmlLibrary::Uuid(nvml::Device device) {
  return Text("nvmlDeviceGetUUID", device);
}

std::optional<std::string> NvmlLibrary::PciId(nvml::Device device) {
  nvml::Pci pci{};
  const auto status =
      Call<nvml::Status(nvml::Device, nvml::Pci*)>("nvmlDeviceGetPciInfo_v3", device, &pci);
  if (status != nvml::kSuccess) return std::nullopt;
  return std::string(pci.id, strnlen(pci.id, sizeof pci.id));
}

std::optional<unsigned> NvmlLibrary::Minor(nvml::Device device) {
  return Number("nvmlDeviceGetMinorNumber", device);
}

std::optional<bool> NvmlLibrary::Mig(nvml::Device device) {
  unsigned now = 0;
  unsigned pending = 0;
  const auto status = Call<nvml::Status(nvml::Device, unsigned*, unsigned*)>(
      "nvmlDeviceGetMigMode", device, &now, &pending);
  return status == nvml::kSuccess ? std::optional(now != 0) : std::nullopt;
}

std::optional<NvmlLink> NvmlLibrary::Link(nvml::Device device) {
  const auto generation = Number("nvmlDeviceGetCurrPcieLinkGeneration", device);
  const auto width = Number("nvmlDeviceGetCurrPcieLinkWidth", device);
  if (!generation || !width) return std::nullopt;
  return NvmlLink{*generation, *width};
}

std::optional<NvmlLink> NvmlLibrary::MaxLink(nvml::Device device) {
  const auto generation = Number("nvmlDeviceGetMaxPcieLinkGeneration", device);
  const auto width = Number("nvmlDeviceGetMaxPcieLinkWidth", device);
  if (!generation || !width) return std::nullopt;
  return NvmlLink{*generation, *width};
}

std::optional<unsigned> NvmlLibrary::PowerLimit(nvml::Device device) {
  return Number("nvmlDeviceGetEnforcedPowerLimit", device);
}

std::optional<nvml::Utilization> NvmlLibrary::Utilization(nvml::Device device) {
  nvml::Utilization value{};
  const auto status = Call<nvml::Status(nvml::Device, nvml::Utilization*)>(
      "nvmlDeviceGetUtilizationRates", device, &value);
  return status == nvml::kSuccess ? std::optional(value) : std::nullopt;
}

std::optional<NvmlMemory> NvmlLibrary::Memory(nvml::Device device) {
  nvml::MemoryV2 memory{};
  memory.version = nvml::kMemoryV2;
  if (Call<nvml::Status(nvml::Device, nvml::MemoryV2*)>("nvmlDeviceGetMemoryInfo_v2", device,
                                                        &memory) == nvml::kSuccess) {
    return NvmlMemory{Bytes{memory.total}, Bytes{memory.used}};
  }
  nvml::MemoryV1 old{};
  if (Call<nvml::Status(nvml::Device, nvml::MemoryV1*)>("nvmlDeviceGetMemoryInfo", device, &old) !=
      nvml::kSuccess) {
    return std::nullopt;
  }
  return NvmlMemory{Bytes{old.total}, Bytes{old.used}};
}

std::optional<unsigned> NvmlLibrary::Power(nvml::Device device) {
  return Number("nvmlDeviceGetPowerUsage", device);
}

std::optional<unsigned> NvmlLibrary::Clock(nvml::Device device, int clock) {
  unsigned value = 0;
  const auto status = Call<nvml::Status(nvml::Device, int, unsigned*)>("nvmlDeviceGetClockInfo",
                                                                       device, clock, &value);
  return status == nvml::kSuccess ? std::optional(value) : std::nullopt;
}

std::optional<unsigned> NvmlLibrary::Temperature(nvml::Device device) {
  unsigned value = 0;
  const auto status = Call<nvml::Status(nvml::Device, int, unsigned*)>("nvmlDeviceGetTemperature",
                                                                       device, 0, &value);
  return status == nvml::kSuccess ? std::optional(value) : std::nullopt;
}

std::optional<unsigned long long> NvmlLibrary::ClockEvents(nvml::Device device) {
  unsigned long long bits = 0;
  using Bits = nvml::Status(nvml::Device, unsigned long long*);
  auto status = Call<Bits>("nvmlDeviceGetCurrentClocksEventReasons", device, &bits);
  // The name that this function had before driver 535.
  if (!status) status = Call<Bits>("nvmlDeviceGetCurrentClocksThrottleReasons", device, &bits);
  return status == nvml::kSuccess ? std::optional(bits) : std::nullopt;
}

std::optional<std::uint64_t> NvmlLibrary::Pcie(nvml::Device device, int direction) {
  unsigned value = 0;
  const auto status = Call<nvml::Status(nvml::Device, int, unsigned*)>(
      "nvmlDeviceGetPcieThroughput", device, direction, &value);
  if (status != nvml::kSuccess) return std::nullopt;
  return std::uint64_t{value} * 1024;
}

std::optional<std::vector<NvmlProcess>> NvmlLibrary::ListProcesses(const char* name,
                                                                   std::size_t entry_size,
                                                                   nvml::Device device) {
  using List = nvml::Status(nvml::Device, unsigned*, void*);
  unsigned room = 16;
  for (int attempt = 0; attempt < 3; ++attempt) {  // each call may need a larger buffer
    std::vector<unsigned char> bytes(room * sizeof(nvml::ProcessR535), kUnwritten);
    unsigned count = room;
    const auto status = Call<List>(name, device, &count, bytes.data());
    if (status == nvml::kInsufficientSize && count < kMostProcesses) {
      room = count + 16;
      continue;
    }
    if (status != nvml::kSuccess) return std::nullopt;
    count = std::min(count, room);
    const std::size_t size = EntrySize(bytes, count, entry_size);
    std::vector<NvmlProcess> processes;
    for (std::size_t i = 0; i < count; ++i) {
      nvml::ProcessV1 entry{};
      std::memcpy(&entry, bytes.data() + i * size, sizeof entry);
      NvmlProcess process;
      process.pid = entry.pid;
      if (entry.memory != kUnknownMemory) process.memory = Bytes{entry.memory};
      processes.push_back(process);
    }
    return processes;
  }
  return std::nullopt;
}

std::optional<std::vector<NvmlProcess>> NvmlLibrary::Processes(nvml::Device device) {
  for (const char* name :
       {"nvmlDeviceGetComputeRunningProcesses_v3", "nvmlDeviceGetComputeRunningProcesses_v2"}) {
    if (auto processes = ListProcesses(name, sizeof(nvml::ProcessV2), device)) return processes;
  }
  return ListProcesses("nvmlDeviceGetComputeRunningProcesses", sizeof(nvml::ProcessV1), device);
}

}  // namespace penstock::record
