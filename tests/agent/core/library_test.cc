// SPDX-License-Identifier: Apache-2.0
//
// Checks the file of the agent. It exports exactly the names that we list, needs no newer glibc
// than 2.17 and no libstdc++, and defines no symbol versions.

#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <fstream>
#include <memory>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "tests/paths.h"

namespace {

namespace paths = penstock::paths;

std::string OutputOf(const std::string& command) {
  std::string out;
  const std::unique_ptr<FILE, int (*)(FILE*)> pipe(popen(command.c_str(), "r"), pclose);
  std::array<char, 4096> buffer{};
  while (pipe != nullptr && fgets(buffer.data(), buffer.size(), pipe.get()) != nullptr) {
    out += buffer.data();
  }
  return out;
}

std::set<std::string> Listed() {
  std::set<std::string> names;
  std::stringstream files(paths::kExports);
  for (std::string file; std::getline(files, file, ':');) {
    std::ifstream in(file);
    for (std::string line; std::getline(in, line);) {
      if (!line.empty() && line[0] != '#') {
        names.insert(line);
      }
    }
  }
  return names;
}

TEST(AgentLibraryTest, ExportsExactlyTheListedSymbols) {
  std::set<std::string> found;
  std::stringstream lines(OutputOf("nm -D --defined-only " + std::string(paths::kAgent)));
  for (std::string address, type, name; lines >> address >> type >> name;) {
    found.insert(name);
  }
  EXPECT_EQ(found, Listed());
}

TEST(AgentLibraryTest, NeedsNothingNewerThanGlibc217) {
  std::stringstream lines(OutputOf("objdump -T " + std::string(paths::kAgent)));
  int versions = 0;
  for (std::string line; std::getline(lines, line);) {
    const size_t at = line.find("GLIBC_2.");
    if (at != std::string::npos) {
      ++versions;
      EXPECT_LE(std::stoi(line.substr(at + 8)), 17) << line;
    }
    EXPECT_EQ(line.find("GLIBCXX"), std::string::npos) << line;
    EXPECT_EQ(line.find("CXXABI"), std::string::npos) << line;
  }
  EXPECT_GT(versions, 5);
}

TEST(AgentLibraryTest, DependsOnTheCLibraryAlone) {
  std::stringstream lines(OutputOf("readelf -d " + std::string(paths::kAgent)));
  std::set<std::string> needed;
  bool defines_versions = false;
  for (std::string line; std::getline(lines, line);) {
    if (line.find("(NEEDED)") != std::string::npos) {
      needed.insert(line.substr(line.find('[') + 1, line.find(']') - line.find('[') - 1));
    }
    defines_versions = defines_versions || line.find("VERDEF") != std::string::npos;
  }
  EXPECT_EQ(needed, (std::set<std::string>{"libdl.so.2", "libc.so.6"}));
  EXPECT_FALSE(defines_versions) << "versioned references would not bind to the agent";
}

TEST(AgentLibraryTest, ThreadLocalStorageFitsTheStaticReserve) {
  std::stringstream lines(OutputOf("readelf -lW " + std::string(paths::kAgent)));
  size_t size = 0;
  for (std::string line; std::getline(lines, line);) {
    std::stringstream fields(line);
    std::string type, offset, address, physical, file_size, memory_size;
    fields >> type >> offset >> address >> physical >> file_size >> memory_size;
    if (type == "TLS") {
      size = std::stoul(memory_size, nullptr, 16);
    }
  }
  EXPECT_GT(size, 0u);
  EXPECT_LE(size, 64u);
}

}  // namespace
