// SPDX-License-Identifier: Apache-2.0
//
// The part of NVTX's binary interface that the agent uses, declared here so that the build needs no
// header of NVTX. tests/agent/gpu/nvtx_layout_test.cc compares these declarations with the real
// header.
#pragma once

#include <stddef.h>
#include <stdint.h>

namespace penstock::agent::nvtx {

// The function by which a copy of NVTX (every module that uses it has one) gives a tool its tables.
using GetExportTable = const void*(uint32_t id);
inline constexpr uint32_t kCallbacksTable = 1;

using AnyFunction = void();
struct ExportTableCallbacks {
  size_t size;
  int (*get_module_function_table)(uint32_t module, AnyFunction**** table, unsigned* size);
};
inline constexpr uint32_t kModuleCore = 1;
inline constexpr uint32_t kModuleCore2 = 5;

enum Core : uint32_t {
  kMarkEx = 1,
  kMarkA = 2,
  kMarkW = 3,
  kRangeStartEx = 4,
  kRangeStartA = 5,
  kRangeStartW = 6,
  kRangeEnd = 7,
  kRangePushEx = 8,
  kRangePushA = 9,
  kRangePushW = 10,
  kRangePop = 11,
  kNameOsThreadA = 14,
  kNameOsThreadW = 15,
  kCoreEnd = 16,
};
enum Core2 : uint32_t {
  kDomainMarkEx = 1,
  kDomainRangeStartEx = 2,
  kDomainRangeEnd = 3,
  kDomainRangePushEx = 4,
  kDomainRangePop = 5,
  kDomainRegisterStringA = 10,
  kDomainRegisterStringW = 11,
  kDomainCreateA = 12,
  kDomainCreateW = 13,
  kDomainDestroy = 14,
  kCore2End = 16,
};

// nvtxEventAttributes_t. Later versions are longer; `size` says how long this one is.
struct EventAttributes {
  uint16_t version;
  uint16_t size;
  uint32_t category;
  int32_t colour_type;
  uint32_t colour;
  int32_t payload_type;
  int32_t reserved;
  uint64_t payload;
  int32_t message_type;
  const void* message;
};
enum MessageType : int32_t { kAscii = 1, kUnicode = 2, kRegistered = 3 };

inline constexpr int kNoTracking = -2;  // NVTX_NO_PUSH_POP_TRACKING

}  // namespace penstock::agent::nvtx
