// SPDX-License-Identifier: Apache-2.0
//
// Tests which file a recording without a collector goes to, and which variables children get.

#include "agent/core/run_name.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <map>
#include <string>

#include "agent/core/process.h"

namespace penstock::agent {
namespace {

namespace fs = std::filesystem;

std::map<std::string, std::string> g_environment;

const char* Get(const char* name) {
  const auto found = g_environment.find(name);
  return found == g_environment.end() ? nullptr : found->second.c_str();
}

void Set(const char* name, const char* value) {
  g_environment[name] = value;
}

// Runs in a folder whose name has "%r" in it.
class RunNameTest : public testing::Test {
 protected:
  void SetUp() override {
    saved_ = g_config;
    before_ = fs::current_path();
    base_ = fs::temp_directory_path() / ("penstock_name_" + std::to_string(getpid()));
    fs::create_directories(base_ / "50%run");
    fs::current_path(base_ / "50%run");
    folder_ = fs::current_path().string() + "/";
  }
  void TearDown() override {
    g_config = saved_;
    g_environment.clear();
    fs::current_path(before_);
    std::error_code ignored;
    fs::remove_all(base_, ignored);
  }

  // Returns the output file of a process with the current environment. The first call is the first
  // process of a run; later calls are its children.
  static std::string Name(int rank = -1, int world_size = -1) {
    g_config = {};
    g_config.rank = rank;
    g_config.world_size = world_size;
    NameRun({Get, Set});
    return g_config.out;
  }

  Config saved_;
  fs::path before_;
  fs::path base_;
  std::string folder_;
};

TEST_F(RunNameTest, TheFolderIsNoPartOfTheName) {
  Set("PENSTOCK_OUT", "run.penstock");
  EXPECT_EQ(Name(), folder_ + "run.penstock");
  g_environment = {{"PENSTOCK_OUT", "run.penstock"}};
  EXPECT_EQ(Name(1, 2), folder_ + "run.rank1.penstock");
}

TEST_F(RunNameTest, AnEscapedPercentSignAsksForNoRank) {
  Set("PENSTOCK_OUT", "100%%r.penstock");
  EXPECT_EQ(Name(), folder_ + "100%r.penstock");
  EXPECT_EQ(g_environment["PENSTOCK_OUT"], folder_ + "100%r.penstock");
  EXPECT_EQ(g_environment["PENSTOCK_RUN"], g_config.run);
  const std::string run = g_config.run;
  EXPECT_EQ(Name(), folder_ + "100%r.penstock");  // a child
  EXPECT_EQ(g_config.run, run);
}

TEST_F(RunNameTest, ALauncherLeavesTheRankToItsChildrenAndTheFolderAsItIs) {
  Set("PENSTOCK_OUT", "r%r.penstock");
  EXPECT_EQ(Name(), folder_ + "rlauncher.penstock");
  EXPECT_EQ(g_environment.count("PENSTOCK_RUN"), 0u);
  fs::current_path("/");
  EXPECT_EQ(Name(3, 4), folder_ + "r3.penstock");
  EXPECT_EQ(g_environment["PENSTOCK_OUT"], folder_ + "r3.penstock");
  EXPECT_EQ(g_environment.count("PENSTOCK_RUN"), 1u);
}

TEST(NameBesideTest, HoldsTheTimeAndTheProcess) {
  char name[256];
  ASSERT_TRUE(NameBeside("/data.d/run.penstock", "4711-951782399.5@abc", name, sizeof name));
  EXPECT_STREQ(name, "/data.d/run.20000228-235959-4711.penstock");
  ASSERT_TRUE(NameBeside("/data.d/run", "1-1709251200.0@abc", name, sizeof name));
  EXPECT_STREQ(name, "/data.d/run.20240301-000000-1");
  EXPECT_FALSE(NameBeside("/a/very/long/name.penstock", "1-1.0@abc", name, 20));
}

}  // namespace
}  // namespace penstock::agent
