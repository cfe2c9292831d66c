// SPDX-License-Identifier: Apache-2.0
//
// A double of NVML. The variable FAKE_NVML says how it behaves, in words separated by commas:
//   devices=N          there are N GPUs (default: 1)
//   fail=FUNCTION:E    that function answers with error E
//   hang=FUNCTION      that function never returns
//   crash=FUNCTION     that function raises SIGSEGV
//   term=FUNCTION      that function raises SIGTERM
//   burn=FUNCTION:MS   that function takes MS milliseconds of CPU time
//   mig                MIG is on: utilisation and PCIe counters are not supported
//   owner=FILE         the device is in use by the process whose pid the file holds, and by pid 1
//   r535               entries of the list of processes have the layout of drivers 535.43 to 535.86
// This is built twice as libnvidia-ml.so.1. With FAKE_NVML_OLD it is that of an old driver, which
// lacks the newer functions.
#include <unistd.h>

#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <string>

#include "agent/record/sample/nvml_types.h"

namespace {

using penstock::record::nvml::Device;
using penstock::record::nvml::Status;
namespace nvml = penstock::record::nvml;

std::string Word(const std::string& key) {
  const char* all = std::getenv("FAKE_NVML");
  const std::string text = all != nullptr ? all : "";
  std::size_t at = 0;
  while (at < text.size()) {
    const std::size_t end = std::min(text.find(',', at), text.size());
    const std::string word = text.substr(at, end - at);
    at = end + 1;
    if (word == key) return "1";
    if (word.rfind(key + "=", 0) == 0) return word.substr(key.size() + 1);
  }
  return "";
}

Status Enter(const char* function) {
  while (Word("hang") == function) sleep(1000);
  if (Word("crash") == function) std::raise(SIGSEGV);
  if (Word("term") == function) std::raise(SIGTERM);
  const std::string burn = Word("burn");
  if (burn.substr(0, burn.find(':')) == function) {
    const std::clock_t end =
        std::clock() + std::atoi(burn.c_str() + burn.find(':') + 1) * (CLOCKS_PER_SEC / 1000);
    while (std::clock() < end) {
    }
  }
  const std::string fail = Word("fail");
  const std::size_t colon = fail.find(':');
  if (fail.substr(0, colon) == function) return std::atoi(fail.c_str() + colon + 1);
  return nvml::kSuccess;
}

unsigned Index(Device device) {
  return static_cast<unsigned>(reinterpret_cast<std::uintptr_t>(device)) - 1;
}

unsigned Devices() {
  const std::string count = Word("devices");
  return count.empty() ? 1 : static_cast<unsigned>(std::atoi(count.c_str()));
}

template <class Process>
void WriteProcesses(void* to, unsigned owner) {
  Process processes[2] = {};
  processes[0].pid = 1;
  processes[0].memory = 5'000'000;
  processes[1].pid = owner;
  processes[1].memory = 777'000'000;
  std::memcpy(to, processes, sizeof processes);
}

}  // namespace

#pragma GCC visibility push(default)
extern "C" {

#define ENTER() \
  if (const Status status = Enter(__func__); status != nvml::kSuccess) return status

const char* nvmlErrorString(Status status) {
  return status == 9 ? "Driver Not Loaded" : status == 15 ? "GPU is lost" : "Unknown Error";
}
Status nvmlInit_v2() {
  ENTER();
  return nvml::kSuccess;
}
Status nvmlSystemGetDriverVersion(char* text, unsigned size) {
  ENTER();
  std::snprintf(text, size, "999.01");
  return nvml::kSuccess;
}
Status nvmlDeviceGetCount_v2(unsigned* count) {
  ENTER();
  *count = Devices();
  return nvml::kSuccess;
}
Status nvmlDeviceGetHandleByIndex_v2(unsigned index, Device* device) {
  ENTER();
  *device = reinterpret_cast<Device>(static_cast<std::uintptr_t>(index) + 1);
  return nvml::kSuccess;
}
Status nvmlDeviceGetName(Device device, char* text, unsigned size) {
  ENTER();
  std::snprintf(text, size, "Fake H200 %u", Index(device));
  return nvml::kSuccess;
}
Status nvmlDeviceGetUUID(Device device, char* text, unsigned size) {
  ENTER();
  std::snprintf(text, size, "GPU-0000-%u", Index(device));
  return nvml::kSuccess;
}
Status nvmlDeviceGetMinorNumber(Device device, unsigned* minor) {
  ENTER();
  *minor = Index(device);
  return nvml::kSuccess;
}
Status nvmlDeviceGetUtilizationRates(Device device, nvml::Utilization* value) {
  ENTER();
  if (!Word("mig").empty()) return nvml::kNotSupported;
  *value = {40 + Index(device), 7};
  return nvml::kSuccess;
}
Status nvmlDeviceGetMemoryInfo(Device, nvml::MemoryV1* memory) {
  ENTER();
  *memory = {150'000'000'000, 148'000'000'000, 2'000'000'000};
  return nvml::kSuccess;
}
Status nvmlDeviceGetPowerUsage(Device, unsigned* value) {
  ENTER();
  *value = 350'000;
  return nvml::kSuccess;
}
Status nvmlDeviceGetEnforcedPowerLimit(Device, unsigned* value) {
  ENTER();
  *value = 700'000;
  return nvml::kSuccess;
}
Status nvmlDeviceGetTemperature(Device, int, unsigned* value) {
  ENTER();
  *value = 51;
  return nvml::kSuccess;
}
Status nvmlDeviceGetClockInfo(Device, int clock, unsigned* value) {
  ENTER();
  *value = clock == nvml::kSmClock ? 1980 : 3201;
  return nvml::kSuccess;
}
Status nvmlDeviceGetCurrentClocksThrottleReasons(Device, unsigned long long* bits) {
  ENTER();
  *bits = 4;
  return nvml::kSuccess;
}
Status nvmlDeviceGetPcieThroughput(Device, int direction, unsigned* value) {
  ENTER();
  if (!Word("mig").empty()) return nvml::kNotSupported;
  usleep(20'000);
  *value = direction == nvml::kPcieReceived ? 2'000'000 : 1000;
  return nvml::kSuccess;
}
Status nvmlDeviceGetCurrPcieLinkGeneration(Device, unsigned* value) {
  ENTER();
  *value = 4;
  return nvml::kSuccess;
}
Status nvmlDeviceGetCurrPcieLinkWidth(Device, unsigned* value) {
  ENTER();
  *value = 16;
  return nvml::kSuccess;
}
Status nvmlDeviceGetMaxPcieLinkGeneration(Device, unsigned* value) {
  ENTER();
  *value = 5;
  return nvml::kSuccess;
}
Status nvmlDeviceGetMaxPcieLinkWidth(Device, unsigned* value) {
  ENTER();
  *value = 16;
  return nvml::kSuccess;
}

// Returns the pid in the file of owner=FILE, or 0 if there is none.
static unsigned Owner() {
  std::FILE* file = std::fopen(Word("owner").c_str(), "r");
  unsigned pid = 0;
  if (file == nullptr) return 0;
  if (std::fscanf(file, "%u", &pid) != 1) pid = 0;
  std::fclose(file);
  return pid;
}

#ifdef FAKE_NVML_OLD
Status nvmlDeviceGetComputeRunningProcesses(Device device, unsigned* count, void* out) {
#else
Status nvmlDeviceGetMemoryInfo_v2(Device, nvml::MemoryV2* memory) {
  ENTER();
  if (memory->version != nvml::kMemoryV2) return 25;  // ARGUMENT_VERSION_MISMATCH
  *memory = {memory->version, 150'000'000'000, 1'000'000'000, 146'000'000'000, 3'000'000'000};
  return nvml::kSuccess;
}
Status nvmlDeviceGetMigMode(Device, unsigned* now, unsigned* pending) {
  ENTER();
  *now = *pending = Word("mig").empty() ? 0 : 1;
  return nvml::kSuccess;
}
Status nvmlDeviceGetPciInfo_v3(Device device, nvml::Pci* pci) {
  ENTER();
  std::memset(pci, 0, sizeof *pci);
  std::snprintf(pci->id, sizeof pci->id, "00000000:%02X:00.0", Index(device));
  return nvml::kSuccess;
}
Status nvmlDeviceGetComputeRunningProcesses_v3(Device device, unsigned* count, void* out) {
#endif
  ENTER();
  const unsigned owner = Index(device) == 0 ? Owner() : 0;
  const unsigned needed = owner != 0 ? 2 : 0;
  if (*count < needed) {
    *count = needed;
    return nvml::kInsufficientSize;
  }
  *count = needed;
  if (needed == 0) return nvml::kSuccess;
#ifdef FAKE_NVML_OLD
  WriteProcesses<nvml::ProcessV1>(out, owner);
#else
  if (Word("r535").empty()) {
    WriteProcesses<nvml::ProcessV2>(out, owner);
  } else {
    WriteProcesses<nvml::ProcessR535>(out, owner);
  }
#endif
  return nvml::kSuccess;
}

}  // extern "C"
#pragma GCC visibility pop
