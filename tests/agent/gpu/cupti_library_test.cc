// SPDX-License-Identifier: Apache-2.0
//
// The agent never uses a libcupti that is newer than the driver. If it did, the double would abort
// the program, as CUPTI of CUDA 13.2 would end it.

#include <gtest/gtest.h>

#include <string>

#include "tests/agent/gpu/cupti_run.h"
#include "tests/paths.h"

namespace penstock::traces {
namespace {

const std::string kNewCupti = std::string(paths::kGpuDoubles) + "/cupti13/libcupti.so.13";

class CuptiLibraryTest : public CuptiTest {
 protected:
  void ExpectTooNew() {
    EXPECT_EQ(Fact("gpu.level"), "calls");
    EXPECT_EQ(Fact("gpu.reason"), "no libcupti is installed that the driver (CUDA 12) can use");
    EXPECT_EQ(Works(), 0u);
  }
};

TEST_F(CuptiLibraryTest, ARuntimeOf12DoesNotFallBackToANewerOneThanTheDriver) {
  Train({}, "driver:runtime:cupti13");
  ASSERT_FALSE(HasFatalFailure());
  ExpectTooNew();
}

TEST_F(CuptiLibraryTest, WithAStaticRuntimeTheDriverTells) {
  victim_ = paths::kGpuStaticVictim;
  Train({}, "driver:cupti13");
  ASSERT_FALSE(HasFatalFailure());
  // No hook sees calls of a static runtime, so level "calls" is not reached.
  EXPECT_EQ(Fact("gpu.reason"), "no libcupti is installed that the driver (CUDA 12) can use");
  Train({}, "driver:cupti13:cupti");
  ExpectAgreement();
  EXPECT_NE(Fact("gpu.cupti").find("libcupti.so.12"), std::string::npos);
}

TEST_F(CuptiLibraryTest, ANameWithoutAVersionIsNotTrusted) {
  Train({}, "driver:runtime:cuptiplain");
  ASSERT_FALSE(HasFatalFailure());
  ExpectTooNew();
}

TEST_F(CuptiLibraryTest, NeitherIsOneThatIsMapped) {
  Train({{"FAKE_MAPPED", kNewCupti}});
  ASSERT_FALSE(HasFatalFailure());
  EXPECT_EQ(Fact("gpu.level"), "calls");
  EXPECT_EQ(Fact("gpu.reason"),
            "the program's libcupti (CUDA 13) is newer than the driver (CUDA 12)");
}

TEST_F(CuptiLibraryTest, ADriverOf13TakesIt) {
  Train({{"FAKE_DRIVER", "13000"}}, "driver:runtime:cupti13");
  ExpectAgreement();
  EXPECT_EQ(Fact("gpu.level"), "cupti");
  EXPECT_NE(Fact("gpu.cupti").find("libcupti.so.13"), std::string::npos);
}

}  // namespace
}  // namespace penstock::traces
