// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "agent/record/collect/collector.h"

namespace penstock::record {
namespace {

TEST(FullDiskTest, TimesAddUp) {
  FullDisk disk;
  disk.Begin(TimeNs{10});
  disk.Begin(TimeNs{12});
  EXPECT_EQ(disk.Total(TimeNs{15}), TimeNs{5});
  disk.End(TimeNs{20});
  EXPECT_FALSE(disk.is_full());
  disk.Begin(TimeNs{30});
  EXPECT_EQ(disk.Total(TimeNs{31}), TimeNs{11});
}

TEST(FullDiskTest, ADiskThatIsFullOnlyAfterTheEndCountsAsNothing) {
  FullDisk disk;
  disk.Begin(TimeNs{30});
  EXPECT_EQ(disk.Total(TimeNs{20}), TimeNs{0});
}

}  // namespace
}  // namespace penstock::record
