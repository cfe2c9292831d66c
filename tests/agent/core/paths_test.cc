// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstring>
#include <string>

#include "agent/core/paths.h"
#include "agent/core/process.h"
#include "agent/system/strings.h"

namespace penstock::agent {
namespace {

class DatasetPathTest : public testing::TestWithParam<std::pair<const char*, bool>> {};

TEST_P(DatasetPathTest, IsToldFromSystemAndSource) {
  const auto [path, dataset] = GetParam();
  EXPECT_EQ(IsDatasetPath(path, std::strlen(path)), dataset) << path;
}

INSTANTIATE_TEST_SUITE_P(
    Paths, DatasetPathTest,
    testing::Values(
        std::pair{"/data/imagenet/train/n01440764/x.JPEG", true},
        std::pair{"/home/me/sets/shard-000001.tar", true}, std::pair{"/dev/shm/set/a.jpg", true},
        std::pair{"/home/me/.cache/huggingface/datasets/a.arrow", true},
        std::pair{"/mnt/nfs/list.txt", true}, std::pair{"/library/set/a.jpg", true},
        std::pair{"/lib/x86_64-linux-gnu/a", false}, std::pair{"/lib64/a", false},
        std::pair{"/usr/lib/python3.11/os.py", false}, std::pair{"/home/me/train.py", false},
        std::pair{"/home/me/venv/lib/python3.11/site-packages/PIL/a.png", false},
        std::pair{"/home/me/.cache/pip/x", false}, std::pair{"/proc/self/io", false},
        std::pair{"/sys/fs/cgroup/cpu.max", false}, std::pair{"/home/me/libfoo.so.1.2", false},
        std::pair{"/home/me/net.ckpt", false}, std::pair{"/dev/shm/torch_4711_99_0", false},
        std::pair{"/tmp/x.jpg (deleted)", false}, std::pair{"/dev/urandom", false}));

TEST(DatasetPathTest, ConfiguredPrefixWinsOverTheRules) {
  Text text{g_config.data, sizeof g_config.data};
  text.Add("/usr/share/sets:/opt/x");
  EXPECT_TRUE(IsDatasetPath("/usr/share/sets/a.jpg", 21));
  EXPECT_FALSE(IsDatasetPath("/usr/share/setsother/a.jpg", 26));
  g_config.data[0] = 0;
}

std::string Opened(const char* path) {
  char name[kMaxPath];
  return {name, NameOpened(path, name)};
}

TEST(NameOpenedTest, IsAbsolute) {
  char here[kMaxPath];
  ASSERT_NE(getcwd(here, sizeof here), nullptr);
  const std::string prefix = std::string(here) == "/" ? "/" : std::string(here) + "/";
  EXPECT_EQ(Opened("/data/a.jpg"), "/data/a.jpg");
  EXPECT_EQ(Opened("set/a.jpg"), prefix + "set/a.jpg");
  EXPECT_EQ(Opened("./a.jpg"), prefix + "a.jpg");
  const std::string long_name(kMaxPath - prefix.size() - 1, 'x');
  EXPECT_EQ(Opened(long_name.c_str()), prefix + long_name);
}

TEST(NameOpenedTest, LeavesToTheKernelWhatOnlyItKnows) {
  const std::string too_long(kMaxPath, 'x');
  for (const char* path :
       {"../a.jpg", "set/../a.jpg", "set/./a.jpg", ".", "", "./", ".//a.jpg", "/proc/self/fd/3",
        "/etc/../data/a.jpg", "/dev/fd/3", "/dev/stdin", too_long.c_str()}) {
    EXPECT_EQ(Opened(path), "") << path;
  }
}

}  // namespace
}  // namespace penstock::agent
