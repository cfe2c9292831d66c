// SPDX-License-Identifier: Apache-2.0
#include "agent/record/launch/find_agent.h"

#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <string_view>
#include <system_error>
#include <vector>

#include <fmt/format.h>

#include "traces/base/xxh64.h"

namespace penstock::record {
namespace fs = std::filesystem;
namespace {

constexpr std::string_view kAgentName = "libpenstock_agent.so";

// Whether this is a folder (no link to one) into which nobody else can put anything.
bool IsOursAlone(const std::string& folder) {
  struct stat status;
  return lstat(folder.c_str(), &status) == 0 && S_ISDIR(status.st_mode) &&
         status.st_uid == getuid() && (status.st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

bool Preloadable(std::string_view path) {
  return path.find_first_of(": \t\n") == std::string_view::npos;
}

std::string LinkTo(const fs::path& agent, const std::string& link_folder) {
  if (link_folder.empty()) return {};
  std::error_code error;
  const std::string folder = agent.parent_path().string();
  const fs::path link =
      fs::path(link_folder) / fmt::format("lib-{:016x}", Xxh64(folder.data(), folder.size()));
  if (fs::read_symlink(link, error) != folder) {
    const std::string fresh = fmt::format("{}.{}", link.string(), getpid());
    fs::create_directory_symlink(folder, fresh, error);
    fs::rename(fresh, link, error);
  }
  const std::string linked = (link / agent.filename()).string();
  // The link replaces only the folder's name. If the file's own name has a blank or a colon, no
  // link helps.
  return Preloadable(linked) && access(linked.c_str(), R_OK) == 0 ? linked : "";
}

}  // namespace

std::string OwnFolder() {
  std::error_code error;
  return fs::read_symlink("/proc/self/exe", error).parent_path().string();
}

std::string LinkFolder(const char* runtime_folder) {
  std::string folder = fmt::format("/tmp/penstock-{}", getuid());
  if (runtime_folder != nullptr && *runtime_folder == '/' && Preloadable(runtime_folder) &&
      IsOursAlone(runtime_folder)) {
    folder = std::string(runtime_folder) + "/penstock";
  }
  mkdir(folder.c_str(), 0700);
  return IsOursAlone(folder) ? folder : "";
}

std::string FindAgent(const char* named, const std::string& own_folder,
                      const std::function<std::string()>& link_folder) {
  std::error_code error;
  std::vector<fs::path> places;
  if (named != nullptr && *named != 0) {
    places = {fs::absolute(named, error)};
  } else {
    const fs::path libraries = fs::path(own_folder) / ".." / "lib";
    places = {libraries / kAgentName, libraries / "penstock" / kAgentName};
  }
  for (const fs::path& place : places) {
    const fs::path found = fs::canonical(place, error);
    if (error || access(found.c_str(), R_OK) != 0) continue;
    return Preloadable(found.native()) ? found.string() : LinkTo(found, link_folder());
  }
  return {};
}

}  // namespace penstock::record
