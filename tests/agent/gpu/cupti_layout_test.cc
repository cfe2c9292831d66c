// SPDX-License-Identifier: Apache-2.0
//
// The prefix of each record against every version of it that the headers declare, and the numbers
// of calls against their names.

#include <cupti.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <string>

#include "agent/gpu/cupti_abi.h"
#include "agent/gpu/cupti_calls.h"

namespace penstock::agent::cupti {
namespace {

template <class R>
void ExpectCopy() {
  EXPECT_EQ(at::kKind, offsetof(R, kind));
  EXPECT_EQ(at::Copy::kCopyKind, offsetof(R, copyKind));
  EXPECT_EQ(at::Copy::kSource, offsetof(R, srcKind));
  EXPECT_EQ(at::Copy::kDestination, offsetof(R, dstKind));
  EXPECT_EQ(at::Copy::kBytes, offsetof(R, bytes));
  EXPECT_EQ(at::Copy::kStart, offsetof(R, start));
  EXPECT_EQ(at::Copy::kEnd, offsetof(R, end));
  EXPECT_EQ(at::Copy::kDevice, offsetof(R, deviceId));
  EXPECT_EQ(at::Copy::kStream, offsetof(R, streamId));
  EXPECT_EQ(at::Copy::kCorrelation, offsetof(R, correlationId));
  EXPECT_LE(at::Copy::kSize, sizeof(R));
}

template <class R>
void ExpectKernel() {
  EXPECT_EQ(at::Launch::kStart, offsetof(R, start));
  EXPECT_EQ(at::Launch::kEnd, offsetof(R, end));
  EXPECT_EQ(at::Launch::kDevice, offsetof(R, deviceId));
  EXPECT_EQ(at::Launch::kStream, offsetof(R, streamId));
  EXPECT_EQ(at::Launch::kCorrelation, offsetof(R, correlationId));
  EXPECT_EQ(at::Launch::kName, offsetof(R, name));
  EXPECT_LE(at::Launch::kSize, sizeof(R));
}

template <class R>
void ExpectSet() {
  EXPECT_EQ(at::Set::kBytes, offsetof(R, bytes));
  EXPECT_EQ(at::Set::kStart, offsetof(R, start));
  EXPECT_EQ(at::Set::kEnd, offsetof(R, end));
  EXPECT_EQ(at::Set::kDevice, offsetof(R, deviceId));
  EXPECT_EQ(at::Set::kStream, offsetof(R, streamId));
  EXPECT_EQ(at::Set::kCorrelation, offsetof(R, correlationId));
}

template <class R>
void ExpectPeer() {
  EXPECT_EQ(at::Peer::kBytes, offsetof(R, bytes));
  EXPECT_EQ(at::Peer::kStart, offsetof(R, start));
  EXPECT_EQ(at::Peer::kEnd, offsetof(R, end));
  EXPECT_EQ(at::Peer::kDevice, offsetof(R, deviceId));
  EXPECT_EQ(at::Peer::kStream, offsetof(R, streamId));
  EXPECT_EQ(at::Peer::kCorrelation, offsetof(R, correlationId));
}

template <class R>
void ExpectSync() {
  EXPECT_EQ(at::Sync::kType, offsetof(R, type));
  EXPECT_EQ(at::Sync::kStart, offsetof(R, start));
  EXPECT_EQ(at::Sync::kEnd, offsetof(R, end));
  EXPECT_EQ(at::Sync::kCorrelation, offsetof(R, correlationId));
}

template <class R>
void ExpectCost() {
  EXPECT_EQ(at::Cost::kWhat, offsetof(R, overheadKind));
  EXPECT_EQ(at::Cost::kStart, offsetof(R, start));
  EXPECT_EQ(at::Cost::kEnd, offsetof(R, end));
}

TEST(CuptiLayoutTest, CopiesOfCuda11To13ShareThePrefix) {
  ExpectCopy<CUpti_ActivityMemcpy>();
  ExpectCopy<CUpti_ActivityMemcpy3>();
  ExpectCopy<CUpti_ActivityMemcpy4>();
  ExpectCopy<CUpti_ActivityMemcpy5>();
#if CUPTI_API_VERSION >= 26
  ExpectCopy<CUpti_ActivityMemcpy6>();
#endif
  ExpectPeer<CUpti_ActivityMemcpyPtoP>();
  ExpectPeer<CUpti_ActivityMemcpyPtoP4>();
  ExpectSet<CUpti_ActivityMemset>();
  ExpectSet<CUpti_ActivityMemset4>();
}

TEST(CuptiLayoutTest, KernelsOfCuda11To13ShareThePrefix) {
  ExpectKernel<CUpti_ActivityKernel4>();
  ExpectKernel<CUpti_ActivityKernel5>();
  ExpectKernel<CUpti_ActivityKernel6>();
  ExpectKernel<CUpti_ActivityKernel7>();
  ExpectKernel<CUpti_ActivityKernel8>();
  ExpectKernel<CUpti_ActivityKernel9>();
#if CUPTI_API_VERSION >= 130000
  ExpectKernel<CUpti_ActivityKernel10>();
#endif
}

TEST(CuptiLayoutTest, CallsWaitsAndCostsAreWhereWeReadThem) {
  EXPECT_EQ(at::Api::kCallback, offsetof(CUpti_ActivityAPI, cbid));
  EXPECT_EQ(at::Api::kStart, offsetof(CUpti_ActivityAPI, start));
  EXPECT_EQ(at::Api::kEnd, offsetof(CUpti_ActivityAPI, end));
  EXPECT_EQ(at::Api::kThread, offsetof(CUpti_ActivityAPI, threadId));
  EXPECT_EQ(at::Api::kCorrelation, offsetof(CUpti_ActivityAPI, correlationId));
  EXPECT_EQ(at::Api::kSize, sizeof(CUpti_ActivityAPI));
  ExpectSync<CUpti_ActivitySynchronization>();
  ExpectCost<CUpti_ActivityOverhead>();
#if CUPTI_API_VERSION >= 130000
  ExpectSync<CUpti_ActivitySynchronization2>();
  ExpectCost<CUpti_ActivityOverhead2>();
  ExpectCost<CUpti_ActivityOverhead3>();
#endif
}

TEST(CuptiLayoutTest, NumbersAreThoseOfTheHeaders) {
  EXPECT_EQ(kMemcpy, std::uint32_t{CUPTI_ACTIVITY_KIND_MEMCPY});
  EXPECT_EQ(kMemset, std::uint32_t{CUPTI_ACTIVITY_KIND_MEMSET});
  EXPECT_EQ(kKernel, std::uint32_t{CUPTI_ACTIVITY_KIND_KERNEL});
  EXPECT_EQ(kDriver, std::uint32_t{CUPTI_ACTIVITY_KIND_DRIVER});
  EXPECT_EQ(kRuntime, std::uint32_t{CUPTI_ACTIVITY_KIND_RUNTIME});
  EXPECT_EQ(kConcurrentKernel, std::uint32_t{CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL});
  EXPECT_EQ(kOverhead, std::uint32_t{CUPTI_ACTIVITY_KIND_OVERHEAD});
  EXPECT_EQ(kMemcpyPeer, std::uint32_t{CUPTI_ACTIVITY_KIND_MEMCPY2});
  EXPECT_EQ(kSynchronization, std::uint32_t{CUPTI_ACTIVITY_KIND_SYNCHRONIZATION});
  EXPECT_EQ(int{kHostToDevice}, int{CUPTI_ACTIVITY_MEMCPY_KIND_HTOD});
  EXPECT_EQ(int{kDeviceToHost}, int{CUPTI_ACTIVITY_MEMCPY_KIND_DTOH});
  EXPECT_EQ(int{kPeerToPeer}, int{CUPTI_ACTIVITY_MEMCPY_KIND_PTOP});
  EXPECT_EQ(int{kPageable}, int{CUPTI_ACTIVITY_MEMORY_KIND_PAGEABLE});
  EXPECT_EQ(int{kPinned}, int{CUPTI_ACTIVITY_MEMORY_KIND_PINNED});
  EXPECT_EQ(int{kManaged}, int{CUPTI_ACTIVITY_MEMORY_KIND_MANAGED});
  EXPECT_EQ(kBusy, int{CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED});
  EXPECT_EQ(kMaxLimitReached, int{CUPTI_ERROR_MAX_LIMIT_REACHED});
  EXPECT_EQ(kInsufficientPrivileges, int{CUPTI_ERROR_INSUFFICIENT_PRIVILEGES});
  EXPECT_EQ(kUnknown, int{CUPTI_ERROR_UNKNOWN});
  EXPECT_EQ(kZeroedBuffers, std::uint32_t{CUPTI_ACTIVITY_ATTR_ZEROED_OUT_ACTIVITY_BUFFER});
  EXPECT_EQ(kDeviceBufferPoolLimit, std::uint32_t{CUPTI_ACTIVITY_ATTR_DEVICE_BUFFER_POOL_LIMIT});
  EXPECT_EQ(kSystemThreadIds, std::uint32_t{CUPTI_ACTIVITY_THREAD_ID_TYPE_SYSTEM});
  EXPECT_EQ(kFlushForced, std::uint32_t{CUPTI_ACTIVITY_FLAG_FLUSH_FORCED});
  EXPECT_EQ(kRuntimeDomain, std::uint32_t{CUPTI_CB_DOMAIN_RUNTIME_API});
  EXPECT_EQ(kDriverDomain, std::uint32_t{CUPTI_CB_DOMAIN_DRIVER_API});
}

bool Asked(const std::uint16_t* first, const std::uint16_t* last, std::uint32_t number) {
  for (; first != last; ++first) {
    if (*first == number) return true;
  }
  return false;
}

TEST(CuptiLayoutTest, CallsAreAskedForByTheirNumbers) {
  for (const std::uint32_t number : {
           std::uint32_t{CUPTI_RUNTIME_TRACE_CBID_cudaMemcpy_v3020},
           std::uint32_t{CUPTI_RUNTIME_TRACE_CBID_cudaMemcpyAsync_v3020},
           std::uint32_t{CUPTI_RUNTIME_TRACE_CBID_cudaMemcpyAsync_ptsz_v7000},
           std::uint32_t{CUPTI_RUNTIME_TRACE_CBID_cudaLaunchKernel_v7000},
           std::uint32_t{CUPTI_RUNTIME_TRACE_CBID_cudaLaunchKernelExC_v11060},
           std::uint32_t{CUPTI_RUNTIME_TRACE_CBID_cudaGraphLaunch_v10000},
           std::uint32_t{CUPTI_RUNTIME_TRACE_CBID_cudaStreamSynchronize_v3020},
           std::uint32_t{CUPTI_RUNTIME_TRACE_CBID_cudaDeviceSynchronize_v3020},
           std::uint32_t{CUPTI_RUNTIME_TRACE_CBID_cudaEventSynchronize_v3020},
           std::uint32_t{CUPTI_RUNTIME_TRACE_CBID_cudaHostAlloc_v3020},
           std::uint32_t{CUPTI_RUNTIME_TRACE_CBID_cudaHostRegister_v4000},
           std::uint32_t{CUPTI_RUNTIME_TRACE_CBID_cudaMemsetAsync_v3020},
       }) {
    EXPECT_TRUE(Asked(std::begin(kRuntimeCalls), std::end(kRuntimeCalls), number)) << number;
  }
  for (const std::uint32_t number : {
           std::uint32_t{CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel},
           std::uint32_t{CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx},
           std::uint32_t{CUPTI_DRIVER_TRACE_CBID_cuMemcpyHtoDAsync_v2},
           std::uint32_t{CUPTI_DRIVER_TRACE_CBID_cuStreamSynchronize},
       }) {
    EXPECT_TRUE(Asked(std::begin(kDriverCalls), std::end(kDriverCalls), number)) << number;
  }
}

}  // namespace
}  // namespace penstock::agent::cupti
