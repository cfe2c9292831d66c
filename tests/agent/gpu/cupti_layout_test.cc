// SPDX-License-Identifier: Apache-2.0
//
// We declare only the first fields of CUPTI's records. This compares their offsets with every
// version of the records that CUPTI's headers declare. It also compares our numbers of CUDA's
// functions with the headers.

#include <cupti.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <set>
#include <vector>

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
  EXPECT_LE(at::Set::kSize, sizeof(R));
}

template <class R>
void ExpectPeer() {
  EXPECT_EQ(at::Peer::kBytes, offsetof(R, bytes));
  EXPECT_EQ(at::Peer::kStart, offsetof(R, start));
  EXPECT_EQ(at::Peer::kEnd, offsetof(R, end));
  EXPECT_EQ(at::Peer::kDevice, offsetof(R, deviceId));
  EXPECT_EQ(at::Peer::kStream, offsetof(R, streamId));
  EXPECT_EQ(at::Peer::kCorrelation, offsetof(R, correlationId));
  EXPECT_LE(at::Peer::kSize, sizeof(R));
}

template <class R>
void ExpectSync() {
  EXPECT_EQ(at::Sync::kType, offsetof(R, type));
  EXPECT_EQ(at::Sync::kStart, offsetof(R, start));
  EXPECT_EQ(at::Sync::kEnd, offsetof(R, end));
  EXPECT_EQ(at::Sync::kCorrelation, offsetof(R, correlationId));
  EXPECT_LE(at::Sync::kSize, sizeof(R));
}

template <class R>
void ExpectCost() {
  EXPECT_EQ(at::Cost::kWhat, offsetof(R, overheadKind));
  EXPECT_EQ(at::Cost::kStart, offsetof(R, start));
  EXPECT_EQ(at::Cost::kEnd, offsetof(R, end));
  EXPECT_LE(at::Cost::kSize, sizeof(R));
}

TEST(CuptiLayoutTest, CopiesOfCuda11To13ShareThePrefix) {
  EXPECT_LT(sizeof(CUpti_ActivityMemcpy), sizeof(CUpti_ActivityMemcpy5)) << "they grow at the end";
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
  EXPECT_LT(sizeof(CUpti_ActivityKernel4), sizeof(CUpti_ActivityKernel9)) << "they grow at the end";
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
  EXPECT_EQ(int{kArrayToArray}, int{CUPTI_ACTIVITY_MEMCPY_KIND_ATOA});
  EXPECT_EQ(int{kPeerToPeer}, int{CUPTI_ACTIVITY_MEMCPY_KIND_PTOP});
  EXPECT_EQ(kCostCompiler, std::uint32_t{CUPTI_ACTIVITY_OVERHEAD_DRIVER_COMPILER});
  EXPECT_EQ(kCostFlush, std::uint32_t{CUPTI_ACTIVITY_OVERHEAD_CUPTI_BUFFER_FLUSH});
  EXPECT_EQ(kCostInstrumentation, std::uint32_t{CUPTI_ACTIVITY_OVERHEAD_CUPTI_INSTRUMENTATION});
  EXPECT_EQ(kCostResources, std::uint32_t{CUPTI_ACTIVITY_OVERHEAD_CUPTI_RESOURCE});
#if CUPTI_API_VERSION >= 130000
  EXPECT_EQ(kCostModuleLoading,
            std::uint32_t{CUPTI_ACTIVITY_OVERHEAD_RUNTIME_TRIGGERED_MODULE_LOADING});
  EXPECT_EQ(kCostLazyLoading, std::uint32_t{CUPTI_ACTIVITY_OVERHEAD_LAZY_FUNCTION_LOADING});
  EXPECT_EQ(kCostCommandsFull, std::uint32_t{CUPTI_ACTIVITY_OVERHEAD_COMMAND_BUFFER_FULL});
  EXPECT_EQ(kCostRequest, std::uint32_t{CUPTI_ACTIVITY_OVERHEAD_ACTIVITY_BUFFER_REQUEST});
  EXPECT_EQ(kCostManaged, std::uint32_t{CUPTI_ACTIVITY_OVERHEAD_UVM_ACTIVITY_INIT});
#endif
  EXPECT_EQ(int{kPageable}, int{CUPTI_ACTIVITY_MEMORY_KIND_PAGEABLE});
  EXPECT_EQ(int{kPinned}, int{CUPTI_ACTIVITY_MEMORY_KIND_PINNED});
  EXPECT_EQ(int{kManaged}, int{CUPTI_ACTIVITY_MEMORY_KIND_MANAGED});
  EXPECT_EQ(kBusy, int{CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED});
  EXPECT_EQ(kMaxLimitReached, int{CUPTI_ERROR_MAX_LIMIT_REACHED});
  EXPECT_EQ(kInsufficientPrivileges, int{CUPTI_ERROR_INSUFFICIENT_PRIVILEGES});
  EXPECT_EQ(kUnknown, int{CUPTI_ERROR_UNKNOWN});
  EXPECT_EQ(kZeroedBuffers, std::uint32_t{CUPTI_ACTIVITY_ATTR_ZEROED_OUT_ACTIVITY_BUFFER});
  EXPECT_EQ(kSystemThreadIds, std::uint32_t{CUPTI_ACTIVITY_THREAD_ID_TYPE_SYSTEM});
  EXPECT_EQ(kFlushForced, std::uint32_t{CUPTI_ACTIVITY_FLAG_FLUSH_FORCED});
  EXPECT_EQ(kRuntimeDomain, std::uint32_t{CUPTI_CB_DOMAIN_RUNTIME_API});
  EXPECT_EQ(kDriverDomain, std::uint32_t{CUPTI_CB_DOMAIN_DRIVER_API});
}

struct KnownCall {
  const char* name;
  std::uint32_t number;
};

// Checks that `asked`, our list of numbers, has the number of each call in `known`. `all`: the
// headers name all calls of our list, so the list must have no other numbers.
void ExpectCalls(const std::vector<std::uint16_t>& asked, const std::vector<KnownCall>& known,
                 bool all) {
  const std::set<std::uint32_t> numbers(asked.begin(), asked.end());
  EXPECT_EQ(numbers.size(), asked.size()) << "one of them twice";
  for (const KnownCall& call : known) {
    EXPECT_EQ(numbers.count(call.number), 1u) << call.name << " is " << call.number;
  }
  if (all) {
    EXPECT_EQ(numbers.size(), known.size()) << "a number without a name";
  }
}

#define PENSTOCK_RUNTIME(name)             \
  KnownCall {                              \
#name, CUPTI_RUNTIME_TRACE_CBID_##name \
  }
#define PENSTOCK_DRIVER(name)             \
  KnownCall {                             \
#name, CUPTI_DRIVER_TRACE_CBID_##name \
  }

const std::vector<KnownCall> kKnownRuntime = {
    PENSTOCK_RUNTIME(cudaMallocHost_v3020),
    PENSTOCK_RUNTIME(cudaHostAlloc_v3020),
    PENSTOCK_RUNTIME(cudaFreeHost_v3020),
    PENSTOCK_RUNTIME(cudaHostRegister_v4000),
    PENSTOCK_RUNTIME(cudaHostUnregister_v4000),
    PENSTOCK_RUNTIME(cudaMalloc_v3020),
    PENSTOCK_RUNTIME(cudaFree_v3020),
    PENSTOCK_RUNTIME(cudaMallocAsync_v11020),
    PENSTOCK_RUNTIME(cudaMallocAsync_ptsz_v11020),
    PENSTOCK_RUNTIME(cudaFreeAsync_v11020),
    PENSTOCK_RUNTIME(cudaFreeAsync_ptsz_v11020),
    PENSTOCK_RUNTIME(cudaMemcpy_v3020),
    PENSTOCK_RUNTIME(cudaMemcpy2D_v3020),
    PENSTOCK_RUNTIME(cudaMemcpyToSymbol_v3020),
    PENSTOCK_RUNTIME(cudaMemcpyAsync_v3020),
    PENSTOCK_RUNTIME(cudaMemcpy2DAsync_v3020),
    PENSTOCK_RUNTIME(cudaMemcpy3D_v3020),
    PENSTOCK_RUNTIME(cudaMemcpy3DAsync_v3020),
    PENSTOCK_RUNTIME(cudaMemcpyAsync_ptsz_v7000),
    PENSTOCK_RUNTIME(cudaMemcpy2DAsync_ptsz_v7000),
    PENSTOCK_RUNTIME(cudaMemcpy3DAsync_ptsz_v7000),
    PENSTOCK_RUNTIME(cudaMemcpyPeer_v4000),
    PENSTOCK_RUNTIME(cudaMemcpyPeerAsync_v4000),
    PENSTOCK_RUNTIME(cudaMemcpy_ptds_v7000),
    PENSTOCK_RUNTIME(cudaMemcpy2D_ptds_v7000),
    PENSTOCK_RUNTIME(cudaMemcpyToSymbol_ptds_v7000),
    PENSTOCK_RUNTIME(cudaMemcpy3D_ptds_v7000),
    PENSTOCK_RUNTIME(cudaMemset_ptds_v7000),
    PENSTOCK_RUNTIME(cudaMemset_v3020),
    PENSTOCK_RUNTIME(cudaMemsetAsync_v3020),
    PENSTOCK_RUNTIME(cudaMemsetAsync_ptsz_v7000),
    PENSTOCK_RUNTIME(cudaMemPrefetchAsync_v8000),
    PENSTOCK_RUNTIME(cudaMemPrefetchAsync_ptsz_v8000),
    PENSTOCK_RUNTIME(cudaMemPrefetchAsync_v12020),
    PENSTOCK_RUNTIME(cudaMemPrefetchAsync_ptsz_v12020),
    PENSTOCK_RUNTIME(cudaStreamSynchronize_v3020),
    PENSTOCK_RUNTIME(cudaStreamSynchronize_ptsz_v7000),
    PENSTOCK_RUNTIME(cudaEventSynchronize_v3020),
    PENSTOCK_RUNTIME(cudaDeviceSynchronize_v3020),
    PENSTOCK_RUNTIME(cudaLaunchKernel_v7000),
    PENSTOCK_RUNTIME(cudaLaunchKernel_ptsz_v7000),
    PENSTOCK_RUNTIME(cudaLaunchKernelExC_v11060),
    PENSTOCK_RUNTIME(cudaLaunchKernelExC_ptsz_v11060),
    PENSTOCK_RUNTIME(cudaLaunchCooperativeKernel_v9000),
    PENSTOCK_RUNTIME(cudaLaunchCooperativeKernel_ptsz_v9000),
    PENSTOCK_RUNTIME(cudaGraphLaunch_v10000),
    PENSTOCK_RUNTIME(cudaGraphLaunch_ptsz_v10000),
#if CUPTI_API_VERSION >= 26
    PENSTOCK_RUNTIME(cudaMemcpyBatchAsync_v12080),
    PENSTOCK_RUNTIME(cudaMemcpyBatchAsync_ptsz_v12080),
#endif
#if CUPTI_API_VERSION >= 130000
    PENSTOCK_RUNTIME(cudaMemcpyBatchAsync_v13000),
    PENSTOCK_RUNTIME(cudaMemcpyBatchAsync_ptsz_v13000),
    PENSTOCK_RUNTIME(__cudaLaunchKernel_v13000),
    PENSTOCK_RUNTIME(__cudaLaunchKernel_ptsz_v13000),
#endif
};
const std::vector<KnownCall> kKnownDriver = {
    PENSTOCK_DRIVER(cuMemHostAlloc),
    PENSTOCK_DRIVER(cuMemAllocHost_v2),
    PENSTOCK_DRIVER(cuMemHostRegister_v2),
    PENSTOCK_DRIVER(cuMemcpyHtoD_v2),
    PENSTOCK_DRIVER(cuMemcpyHtoDAsync_v2),
    PENSTOCK_DRIVER(cuMemcpyDtoH_v2),
    PENSTOCK_DRIVER(cuMemcpyDtoHAsync_v2),
    PENSTOCK_DRIVER(cuMemcpy),
    PENSTOCK_DRIVER(cuMemcpyAsync),
    PENSTOCK_DRIVER(cuMemcpyHtoD_v2_ptds),
    PENSTOCK_DRIVER(cuMemcpyHtoDAsync_v2_ptsz),
    PENSTOCK_DRIVER(cuMemcpyDtoH_v2_ptds),
    PENSTOCK_DRIVER(cuMemcpyDtoHAsync_v2_ptsz),
    PENSTOCK_DRIVER(cuMemcpy_ptds),
    PENSTOCK_DRIVER(cuMemcpyAsync_ptsz),
    PENSTOCK_DRIVER(cuCtxSynchronize),
    PENSTOCK_DRIVER(cuEventSynchronize),
    PENSTOCK_DRIVER(cuStreamSynchronize),
    PENSTOCK_DRIVER(cuStreamSynchronize_ptsz),
    PENSTOCK_DRIVER(cuLaunchKernel),
    PENSTOCK_DRIVER(cuLaunchKernel_ptsz),
    PENSTOCK_DRIVER(cuLaunchCooperativeKernel),
    PENSTOCK_DRIVER(cuLaunchCooperativeKernel_ptsz),
    PENSTOCK_DRIVER(cuGraphLaunch),
    PENSTOCK_DRIVER(cuGraphLaunch_ptsz),
    PENSTOCK_DRIVER(cuLaunchKernelEx),
    PENSTOCK_DRIVER(cuLaunchKernelEx_ptsz),
};

TEST(CuptiLayoutTest, CallsAreAskedForByTheirNumbers) {
  ExpectCalls({std::begin(kRuntimeCalls), std::end(kRuntimeCalls)}, kKnownRuntime,
              CUPTI_API_VERSION >= 130000);
  ExpectCalls({std::begin(kDriverCalls), std::end(kDriverCalls)}, kKnownDriver, true);
}

}  // namespace
}  // namespace penstock::agent::cupti
