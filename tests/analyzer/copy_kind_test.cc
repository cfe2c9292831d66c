// SPDX-License-Identifier: Apache-2.0
#include "analyzer/model/copy_kind.h"

#include <gtest/gtest.h>

#include "traces/trace_builder.h"

namespace penstock::analyzer {
namespace {

using traces::StageId;

TEST(CopyKindTest, IsReadFromTheNamesOfTheFormat) {
  const CopyKind up{CopyWay::kToDevice, CopyMemory::kPageable};
  EXPECT_EQ(CopyKindOf(StageId::kH2d, "H2D pageable"), up);
  EXPECT_EQ(CopyKindOf(StageId::kCall, "cudaMemcpyAsync: H2D pageable"), up);
  EXPECT_EQ(CopyKindOf(StageId::kH2d, "Tensor.to"),
            (CopyKind{CopyWay::kToDevice, CopyMemory::kUnknown}));
  EXPECT_EQ(CopyKindOf(StageId::kCopy, "D2H pinned"),
            (CopyKind{CopyWay::kFromDevice, CopyMemory::kPinned}));
  EXPECT_EQ(CopyKindOf(StageId::kCopy, "D2D")->way, CopyWay::kOnDevice);
  EXPECT_EQ(CopyKindOf(StageId::kCopy, "P2P")->way, CopyWay::kPeer);
  EXPECT_EQ(CopyKindOf(StageId::kCopy, "memset")->way, CopyWay::kSet);
  EXPECT_EQ(CopyKindOf(StageId::kCopy, "A2H")->way, CopyWay::kOther);
}

TEST(CopyKindTest, ACallThatStartedNoCopyHasNone) {
  EXPECT_FALSE(CopyKindOf(StageId::kCall, "cudaLaunchKernel"));
  EXPECT_FALSE(CopyKindOf(StageId::kCall, "cudaLaunchKernel: sgemm"));
  EXPECT_FALSE(CopyKindOf(StageId::kKernel, "H2D pageable"));
}

TEST(CopyKindTest, TheKindsOfATraceAreThoseOfItsNames) {
  traces::TraceData data;
  const StringId copy = data.Intern("H2D pinned");
  const StringId call = data.Intern("cudaLaunchKernel");
  const auto trace = traces::MakeTrace(std::move(data));
  CopyKinds kinds(*trace);
  for (int again = 0; again < 2; ++again) {
    EXPECT_EQ(kinds.Of(StageId::kH2d, copy)->memory, CopyMemory::kPinned);
    EXPECT_EQ(kinds.Of(StageId::kCopy, copy)->way, CopyWay::kToDevice);
    EXPECT_FALSE(kinds.Of(StageId::kCall, call));
  }
}

TEST(CopyKindTest, StreamsOfOtherToolsAreOfTheFirstDevice) {
  traces::ThreadInfo thread;
  thread.name = "python3";
  EXPECT_FALSE(DeviceOf(thread));
  thread.name = "GPU stream 7";
  EXPECT_EQ(DeviceOf(thread), 0u);
}

}  // namespace
}  // namespace penstock::analyzer
