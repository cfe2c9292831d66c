// SPDX-License-Identifier: Apache-2.0
#include "traces/host_facts.h"

#include <unistd.h>

#include <fstream>

#include <gtest/gtest.h>

namespace penstock::traces {
namespace {

class CgroupTest : public ::testing::Test {
 protected:
  void SetUp() override {
    char name[] = "/tmp/penstock-cgroup-XXXXXX";
    root_ = mkdtemp(name);
  }
  void TearDown() override { std::filesystem::remove_all(root_); }
  void Put(const std::string& path, const std::string& text) {
    std::filesystem::create_directories((root_ / path).parent_path());
    std::ofstream(root_ / path) << text;
  }
  std::filesystem::path root_;
};

TEST_F(CgroupTest, TightestLimitOnTheWayUpCounts) {
  Put("a/b/cpu.max", "max 100000\n");
  Put("a/cpu.max", "150000 100000\n");
  Put("cpu.max", "400000 100000\n");
  Put("a/b/memory.max", "8589934592\n");
  Put("a/memory.max", "max\n");
  const CgroupLimits limits = ReadCgroupLimits("0::/a/b\n", root_);
  ASSERT_TRUE(limits.cpu_quota && limits.memory_limit);
  EXPECT_DOUBLE_EQ(*limits.cpu_quota, 1.5);
  EXPECT_EQ(*limits.memory_limit, Bytes{8589934592u});
}

TEST_F(CgroupTest, VersionOneHasItsOwnFiles) {
  Put("cpu,cpuacct/g/cpu.cfs_quota_us", "50000\n");
  Put("cpu,cpuacct/g/cpu.cfs_period_us", "100000\n");
  Put("cpu,cpuacct/cpu.cfs_quota_us", "-1\n");
  Put("memory/g/memory.limit_in_bytes", "1073741824\n");
  Put("memory/memory.limit_in_bytes", "9223372036854771712\n");
  const CgroupLimits limits =
      ReadCgroupLimits("4:cpu,cpuacct:/g\n3:memory:/g\n2:cpuset:/\n0::/user\n", root_);
  ASSERT_TRUE(limits.cpu_quota && limits.memory_limit);
  EXPECT_DOUBLE_EQ(*limits.cpu_quota, 0.5);
  EXPECT_EQ(*limits.memory_limit, Bytes{1073741824});
}

TEST_F(CgroupTest, UseIsThatOfTheGroupWhoseLimitBinds) {
  Put("a/b/memory.max", "8000\n");
  Put("a/memory.max", "6000\n");
  Put("a/memory.current", "5000\n");
  Put("a/memory.stat", "anon 2500\nfile 1500\ninactive_file 1000\nactive_file 500\n");
  const CgroupLimits limits = ReadCgroupLimits("0::/a/b\n", root_);
  EXPECT_EQ(limits.memory_group, root_ / "a");
  EXPECT_EQ(CgroupMemoryUse(limits.memory_group), Bytes{3500});
  EXPECT_FALSE(CgroupMemoryUse(root_ / "a/b"));
}

TEST_F(CgroupTest, UseOfVersionOneIsThatOfTheGroupsBelowToo) {
  Put("memory/g/memory.limit_in_bytes", "9000\n");
  Put("memory/g/memory.usage_in_bytes", "7000\n");
  Put("memory/g/memory.stat", "inactive_file 1\ntotal_inactive_file 2000\ntotal_active_file 500\n");
  const CgroupLimits limits = ReadCgroupLimits("3:memory:/g\n", root_);
  EXPECT_EQ(CgroupMemoryUse(limits.memory_group), Bytes{4500});
}

TEST_F(CgroupTest, PathOfTheHostNeedNotExist) {
  Put("cpu.max", "200000 100000\n");
  const CgroupLimits limits = ReadCgroupLimits("0::/docker/0123/inner\n", root_);
  ASSERT_TRUE(limits.cpu_quota);
  EXPECT_DOUBLE_EQ(*limits.cpu_quota, 2.0);
  EXPECT_FALSE(limits.memory_limit);
}

TEST_F(CgroupTest, NoLimitIsNoNumber) {
  const CgroupLimits limits = ReadCgroupLimits("garbage\n0::/\n", root_);
  EXPECT_FALSE(limits.cpu_quota);
  EXPECT_FALSE(limits.memory_limit);
}

constexpr const char* kMounts =
    "22 1 0:21 / / rw - ext4 /dev/vda rw\n"
    "23 22 0:22 / /dev/shm rw shared:3 - tmpfs tmpfs rw\n"
    "24 22 0:23 / /data rw - ext4 /dev/sdb1 rw\n"
    "25 24 0:24 / /data/my\\040set rw shared:1 master:2 - nfs4 server:/x rw\n"
    "26 22 0:25 / /data rw - xfs /dev/sdc1 rw\n";

TEST(MountTest, LongestMountPointWins) {
  EXPECT_EQ(FindMount(kMounts, "/dev/shm/set")->filesystem, "tmpfs");
  EXPECT_EQ(FindMount(kMounts, "/data/my set/train")->filesystem, "nfs4");
  EXPECT_EQ(FindMount(kMounts, "/database")->filesystem, "ext4");
  EXPECT_EQ(FindMount(kMounts, "/database")->source, "/dev/vda");
}

TEST(MountTest, LaterMountHidesTheEarlier) {
  EXPECT_EQ(FindMount(kMounts, "/data/x")->filesystem, "xfs");
}

TEST(StorageTest, SharedMemoryIsMemory) {
  const Storage storage = StorageOf("/dev/shm/not/there");
  EXPECT_EQ(storage.filesystem, "tmpfs");
  EXPECT_EQ(storage.device, "memory");
}

TEST(FactsTest, HostTellsItsBasics) {
  const Facts facts = HostFacts();
  for (const char* key : {"host", "kernel", "cpu.cores", "cpu.affinity", "memory.total"}) {
    EXPECT_TRUE(facts.contains(key)) << key;
  }
}

TEST(FactsTest, CommandIsQuotedForAShell) {
  EXPECT_EQ(QuoteCommand({"python", "train.py", "--name", "a b", "it's", ""}),
            "python train.py --name 'a b' 'it'\\''s' ''");
}

TEST(HostFactsTest, CpuListsAreShort) {
  EXPECT_EQ(CpuList({}), "");
  EXPECT_EQ(CpuList({0, 1, 2, 5, 7, 8}), "0-2,5,7-8");
}

}  // namespace
}  // namespace penstock::traces
