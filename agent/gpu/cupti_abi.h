// SPDX-License-Identifier: Apache-2.0
//
// The part of CUPTI's binary interface that the agent uses, declared here so that the build needs
// no cupti.h. From CUDA 11 to 13 records have grown at their end and been renamed, but the fields
// at these offsets have not moved. tests/agent/gpu/cupti_layout_test.cc compares the offsets with
// every version that the installed headers declare.
#pragma once

#include <stddef.h>
#include <stdint.h>

namespace penstock::agent::cupti {

using Result = int;
inline constexpr Result kSuccess = 0;
inline constexpr Result kMaxLimitReached = 12;  // end of a buffer; from subscribe(): like kBusy
inline constexpr Result kInsufficientPrivileges = 35;
inline constexpr Result kBusy = 39;  // CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED
inline constexpr Result kUnknown = 999;

enum Kind : uint32_t {
  kMemcpy = 1,
  kMemset = 2,
  kKernel = 3,
  kDriver = 4,
  kRuntime = 5,
  kConcurrentKernel = 10,
  kOverhead = 17,
  kMemcpyPeer = 22,
  kSynchronization = 38,
};

// Offsets in a record; every record begins with its kind, 32 bits. `kSize`: how many bytes of the
// record the agent reads. Records may be longer.
namespace at {
inline constexpr size_t kKind = 0;
struct Copy {  // CUpti_ActivityMemcpy
  static constexpr size_t kCopyKind = 4, kSource = 5, kDestination = 6, kBytes = 8, kStart = 16,
                          kEnd = 24, kDevice = 32, kStream = 40, kCorrelation = 44, kSize = 48;
};
struct Peer {  // CUpti_ActivityMemcpyPtoP
  static constexpr size_t kBytes = 8, kStart = 16, kEnd = 24, kDevice = 32, kStream = 40,
                          kCorrelation = 60, kSize = 64;
};
struct Set {  // CUpti_ActivityMemset
  static constexpr size_t kBytes = 8, kStart = 16, kEnd = 24, kDevice = 32, kStream = 40,
                          kCorrelation = 44, kSize = 48;
};
struct Launch {  // CUpti_ActivityKernel4 and later
  static constexpr size_t kStart = 16, kEnd = 24, kDevice = 40, kStream = 48, kCorrelation = 92,
                          kName = 104, kSize = 112;
};
struct Api {  // CUpti_ActivityAPI
  static constexpr size_t kCallback = 4, kStart = 8, kEnd = 16, kProcess = 24, kThread = 28,
                          kCorrelation = 32, kSize = 40;
};
struct Sync {  // CUpti_ActivitySynchronization
  static constexpr size_t kType = 4, kStart = 8, kEnd = 16, kCorrelation = 24, kSize = 32;
};
struct Cost {  // CUpti_ActivityOverhead
  static constexpr size_t kWhat = 4, kStart = 24, kEnd = 32, kSize = 40;
};
}  // namespace at

enum CopyKind : uint8_t {
  kHostToDevice = 1,
  kDeviceToHost = 2,
  kHostToArray = 3,
  kArrayToHost = 4,
  kArrayToArray = 5,  // 6 and 7: between an array and other memory of the device
  kDeviceToDevice = 8,
  kHostToHost = 9,
  kPeerToPeer = 10,
};
enum CostKind : uint32_t {  // CUpti_ActivityOverheadKind
  kCostCompiler = 1,
  kCostFlush = 1 << 16,
  kCostInstrumentation = 2 << 16,
  kCostResources = 3 << 16,
  kCostModuleLoading = 4 << 16,
  kCostLazyLoading = 5 << 16,
  kCostCommandsFull = 6 << 16,
  kCostRequest = 7 << 16,
  kCostManaged = 8 << 16,
};
enum MemoryKind : uint8_t { kPageable = 1, kPinned = 2, kManaged = 5 };
enum CallbackDomain : uint32_t { kDriverDomain = 1, kRuntimeDomain = 2 };
enum Attribute : uint32_t { kZeroedBuffers = 5 };
inline constexpr uint32_t kSystemThreadIds = 1;
inline constexpr uint32_t kFlushForced = 1;
// The first values of cuptiGetVersion() with these abilities:
inline constexpr uint32_t kRejectsBuffers = 27;  // RequestBuffer may give no buffer
inline constexpr uint32_t kChoosesCalls = 23;    // single calls of an API can be recorded

struct SubscriberParameters {  // CUpti_SubscriberParams of CUDA 13.0
  size_t size;
  const char* name;
  char* old_name;
  size_t old_size;
};

using RequestBuffer = void(uint8_t** buffer, size_t* size, size_t* records);
using CompleteBuffer = void(void* context, uint32_t stream, uint8_t* buffer, size_t size,
                            size_t valid);
using CallbackFunction = void(void* user, uint32_t domain, uint32_t id, const void* data);

// The functions that the agent calls. Optional ones are null in versions that lack them. The
// numbers beside them are the first versions of CUDA that have them.
struct Functions {
  Result (*subscribe)(void** subscriber, CallbackFunction* callback, void* user);
  Result (*unsubscribe)(void* subscriber);
  Result (*register_callbacks)(RequestBuffer* request, CompleteBuffer* complete);
  Result (*enable)(uint32_t kind);
  Result (*disable)(uint32_t kind);
  Result (*flush_all)(uint32_t flag);
  Result (*next_record)(uint8_t* buffer, size_t valid, uint8_t** record);
  Result (*timestamp)(uint64_t* ns);
  Result (*version)(uint32_t* version);
  Result (*dropped)(void* context, uint32_t stream, size_t* records);
  Result (*callback_name)(uint32_t domain, uint32_t id, const char** name);
  // Optional:
  Result (*set_attribute)(uint32_t attribute, size_t* size, void* value);
  Result (*set_thread_ids)(uint32_t type);                       // 11.1
  Result (*set_clock)(uint64_t (*now)());                        // 11.6
  Result (*enable_runtime_call)(uint32_t callback, uint8_t on);  // 12.5
  Result (*enable_driver_call)(uint32_t callback, uint8_t on);   // 12.5
  Result (*all_sync_records)(uint8_t on);                        // 12.5
  Result (*subscribe_v2)(void** subscriber, CallbackFunction* callback, void* user,
                         SubscriberParameters* parameters);  // 13.0
};

}  // namespace penstock::agent::cupti
