// SPDX-License-Identifier: Apache-2.0
#include "agent/record/launch/find_agent.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <system_error>

#include <gtest/gtest.h>

namespace penstock::record {
namespace {

namespace fs = std::filesystem;

std::string NoFolder() {
  return {};
}

class FindAgentTest : public ::testing::Test {
 protected:
  FindAgentTest() {
    std::string name = fs::temp_directory_path() / "find-agent-XXXXXX";
    base_ = mkdtemp(name.data());
  }
  ~FindAgentTest() override {
    std::error_code ignored;
    fs::remove_all(base_, ignored);
  }

  std::string Put(const fs::path& relative) const {
    const fs::path path = base_ / relative;
    fs::create_directories(path.parent_path());
    std::ofstream(path) << "agent";
    return fs::canonical(path).string();
  }
  std::string Folder(const fs::path& relative) const {
    fs::create_directories(base_ / relative);
    return (base_ / relative).string();
  }

  fs::path base_;
};

TEST_F(FindAgentTest, LooksInTheBuildAndInTheInstalledPlace) {
  const std::string bin = Folder("bin");
  EXPECT_EQ(FindAgent(nullptr, bin, NoFolder), "");
  const auto never = []() -> std::string {
    ADD_FAILURE() << "no link is needed";
    return {};
  };
  const std::string installed = Put("lib/penstock/libpenstock_agent.so");
  EXPECT_EQ(FindAgent(nullptr, bin, never), installed);
  const std::string built = Put("lib/libpenstock_agent.so");
  EXPECT_EQ(FindAgent(nullptr, bin, NoFolder), built);
  const std::string own = Put("elsewhere/agent.so");
  EXPECT_EQ(FindAgent(own.c_str(), bin, NoFolder), own);
  EXPECT_EQ(FindAgent((base_ / "missing.so").c_str(), bin, NoFolder), "");
}

TEST_F(FindAgentTest, LinksToAFolderWhoseNameCannotBePreloaded) {
  const std::string links = Folder("links");
  for (const char* name : {"with blank", "with:colon"}) {
    const std::string agent = Put(fs::path(name) / "lib" / "libpenstock_agent.so");
    const std::string bin = Folder(fs::path(name) / "bin");
    const std::string found = FindAgent(nullptr, bin, [&] { return links; });
    EXPECT_EQ(found.find_first_of(": "), std::string::npos) << found;
    EXPECT_EQ(fs::canonical(found), agent);
    EXPECT_EQ(fs::path(found).filename(), "libpenstock_agent.so");
    EXPECT_EQ(FindAgent(nullptr, bin, [&] { return links; }), found);  // the same link again
    EXPECT_EQ(FindAgent(nullptr, bin, NoFolder), "");
  }
  EXPECT_EQ(std::distance(fs::directory_iterator(links), fs::directory_iterator()), 2);
  const std::string blank = Put("with blank/my agent.so");
  EXPECT_EQ(FindAgent(blank.c_str(), "", [&] { return links; }), "");
}

TEST_F(FindAgentTest, KeepsLinksWhereNobodyElseWrites) {
  const std::string runtime = Folder("run");
  ASSERT_EQ(chmod(runtime.c_str(), 0700), 0);
  const std::string folder = LinkFolder(runtime.c_str());
  EXPECT_EQ(folder, runtime + "/penstock");
  ASSERT_EQ(chmod(folder.c_str(), 0777), 0);
  EXPECT_EQ(LinkFolder(runtime.c_str()), "");
  fs::remove(folder);
  fs::create_directory_symlink(Folder("somebody"), folder);
  EXPECT_EQ(LinkFolder(runtime.c_str()), "");
  for (const mode_t mode : {0770u, 0707u}) {
    const std::string open = Folder("open");
    ASSERT_EQ(chmod(open.c_str(), mode), 0);
    EXPECT_EQ(LinkFolder(open.c_str()).rfind("/tmp/penstock-", 0), 0u) << "others can rename in it";
    EXPECT_TRUE(fs::is_empty(open));
  }
  const fs::path link = base_ / "link";
  fs::create_directory_symlink(runtime, link);
  EXPECT_EQ(LinkFolder(link.c_str()).rfind("/tmp/penstock-", 0), 0u);
  EXPECT_EQ(LinkFolder(Folder("with blank").c_str()).rfind("/tmp/penstock-", 0), 0u);
}

}  // namespace
}  // namespace penstock::record
