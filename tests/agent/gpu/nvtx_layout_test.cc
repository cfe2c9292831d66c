// SPDX-License-Identifier: Apache-2.0
//
// Compares our declarations of NVTX with NVTX's headers.

#include <gtest/gtest.h>
#include <nvtx3/nvToolsExt.h>

#include <cstddef>

#include "agent/gpu/nvtx_abi.h"

namespace penstock::agent::nvtx {
namespace {

TEST(NvtxLayoutTest, EventAttributesAreThoseOfTheHeaders) {
  EXPECT_EQ(sizeof(EventAttributes), sizeof(nvtxEventAttributes_t));
  EXPECT_EQ(offsetof(EventAttributes, size), offsetof(nvtxEventAttributes_t, size));
  EXPECT_EQ(offsetof(EventAttributes, payload), offsetof(nvtxEventAttributes_t, payload));
  EXPECT_EQ(offsetof(EventAttributes, message_type), offsetof(nvtxEventAttributes_t, messageType));
  EXPECT_EQ(offsetof(EventAttributes, message), offsetof(nvtxEventAttributes_t, message));
  EXPECT_EQ(int{kAscii}, int{NVTX_MESSAGE_TYPE_ASCII});
  EXPECT_EQ(int{kUnicode}, int{NVTX_MESSAGE_TYPE_UNICODE});
  EXPECT_EQ(int{kRegistered}, int{NVTX_MESSAGE_TYPE_REGISTERED});
  EXPECT_EQ(kNoTracking, NVTX_NO_PUSH_POP_TRACKING);
}

TEST(NvtxLayoutTest, FunctionNumbersAreThoseOfTheHeaders) {
  EXPECT_EQ(kCallbacksTable, std::uint32_t{NVTX_ETID_CALLBACKS});
  EXPECT_EQ(kModuleCore, std::uint32_t{NVTX_CB_MODULE_CORE});
  EXPECT_EQ(kModuleCore2, std::uint32_t{NVTX_CB_MODULE_CORE2});
  EXPECT_EQ(std::uint32_t{kRangePushA}, std::uint32_t{NVTX_CBID_CORE_RangePushA});
  EXPECT_EQ(std::uint32_t{kRangePop}, std::uint32_t{NVTX_CBID_CORE_RangePop});
  EXPECT_EQ(std::uint32_t{kRangeEnd}, std::uint32_t{NVTX_CBID_CORE_RangeEnd});
  EXPECT_EQ(std::uint32_t{kMarkW}, std::uint32_t{NVTX_CBID_CORE_MarkW});
  EXPECT_EQ(std::uint32_t{kNameOsThreadA}, std::uint32_t{NVTX_CBID_CORE_NameOsThreadA});
  EXPECT_EQ(std::uint32_t{kDomainRangePop}, std::uint32_t{NVTX_CBID_CORE2_DomainRangePop});
  EXPECT_EQ(std::uint32_t{kDomainRegisterStringW},
            std::uint32_t{NVTX_CBID_CORE2_DomainRegisterStringW});
  EXPECT_EQ(std::uint32_t{kDomainCreateA}, std::uint32_t{NVTX_CBID_CORE2_DomainCreateA});
  EXPECT_EQ(offsetof(ExportTableCallbacks, get_module_function_table),
            offsetof(NvtxExportTableCallbacks, GetModuleFunctionTable));
}

}  // namespace
}  // namespace penstock::agent::nvtx
