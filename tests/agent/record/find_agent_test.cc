// SPDX-License-Identifier: Apache-2.0
#include "agent/record/find_agent.h"

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
  EXPECT_EQ(FindAgent(nullptr, bin, ""), "");
  const std::string installed = Put("lib/penstock/libpenstock_agent.so");
  EXPECT_EQ(FindAgent(nullptr, bin, ""), installed);
  const std::string built = Put("lib/libpenstock_agent.so");
  EXPECT_EQ(FindAgent(nullptr, bin, ""), built);
  const std::string own = Put("elsewhere/agent.so");
  EXPECT_EQ(FindAgent(own.c_str(), bin, ""), own);
  EXPECT_EQ(FindAgent((base_ / "missing.so").c_str(), bin, ""), "");
}

TEST_F(FindAgentTest, LinksToAFolderWhoseNameCannotBePreloaded) {
  const std::string links = Folder("links");
  for (const char* name : {"with blank", "with:colon"}) {
    const std::string agent = Put(fs::path(name) / "lib" / "libpenstock_agent.so");
    const std::string bin = Folder(fs::path(name) / "bin");
    const std::string found = FindAgent(nullptr, bin, links);
    EXPECT_EQ(found.find_first_of(": "), std::string::npos) << found;
    EXPECT_EQ(fs::canonical(found), agent);
    EXPECT_EQ(fs::path(found).filename(), "libpenstock_agent.so");
    EXPECT_EQ(FindAgent(nullptr, bin, links), found);  // the link is used again
    EXPECT_EQ(FindAgent(nullptr, bin, ""), "");
  }
  EXPECT_EQ(std::distance(fs::directory_iterator(links), fs::directory_iterator()), 2);
}

TEST_F(FindAgentTest, KeepsLinksWhereNobodyElseWrites) {
  const std::string runtime = Folder("run");
  const std::string folder = LinkFolder(runtime.c_str());
  EXPECT_EQ(folder, runtime + "/penstock");
  ASSERT_EQ(chmod(folder.c_str(), 0777), 0);
  EXPECT_EQ(LinkFolder(runtime.c_str()), "");
  fs::remove(folder);
  fs::create_directory_symlink(Folder("somebody"), folder);
  EXPECT_EQ(LinkFolder(runtime.c_str()), "");
  EXPECT_EQ(LinkFolder(Folder("with blank").c_str()).rfind("/tmp/penstock-", 0), 0u);
}

}  // namespace
}  // namespace penstock::record
