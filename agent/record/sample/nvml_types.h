// SPDX-License-Identifier: Apache-2.0
//
// The part of NVML's binary interface that the recorder uses, declared here so that the build needs
// no header of NVML. When a layout changes, the function's name gets a new version number; the only
// exception is ProcessR535. If a version is missing, an older one is called. Checked against the
// bindings of CUDA 13.
#pragma once

#include <cstddef>
#include <cstdint>

namespace penstock::record::nvml {

using Device = void*;  // nvmlDevice_t: opaque
using Status = int;    // nvmlReturn_t

inline constexpr Status kSuccess = 0;
inline constexpr Status kNotSupported = 3;
inline constexpr Status kInsufficientSize = 7;

// nvmlDeviceGetClockInfo
inline constexpr int kSmClock = 1;
inline constexpr int kMemoryClock = 2;
// nvmlDeviceGetPcieThroughput, as seen by the device
inline constexpr int kPcieSent = 0;      // device to host
inline constexpr int kPcieReceived = 1;  // host to device

struct Utilization {
  unsigned gpu;
  unsigned memory;
};

struct MemoryV1 {
  unsigned long long total;
  unsigned long long free;
  unsigned long long used;  // includes what the driver reserves
};

struct MemoryV2 {
  unsigned version;
  unsigned long long total;
  unsigned long long reserved;
  unsigned long long free;
  unsigned long long used;
};
inline constexpr unsigned kMemoryV2 = static_cast<unsigned>(sizeof(MemoryV2)) | 2u << 24;

struct ProcessV1 {  // the first fields of an entry, in every version
  unsigned pid;
  unsigned long long memory;  // all bits set: not known
};

struct ProcessV2 {  // also used by _v3
  unsigned pid;
  unsigned long long memory;
  unsigned gpu_instance;
  unsigned compute_instance;
};

struct ProcessR535 {  // only for _v3 of the drivers 535.43 to 535.86
  unsigned pid;
  unsigned long long memory;
  unsigned gpu_instance;
  unsigned compute_instance;
  unsigned long long protected_memory;
};

struct Pci {
  char legacy_id[16];
  unsigned domain, bus, device, device_id, subsystem_id;
  char id[32];
};

static_assert(sizeof(MemoryV1) == 24 && sizeof(MemoryV2) == 40);
static_assert(sizeof(ProcessV1) == 16 && sizeof(ProcessV2) == 24 && sizeof(ProcessR535) == 32);
static_assert(sizeof(Pci) == 68 && offsetof(Pci, id) == 36);

}  // namespace penstock::record::nvml
