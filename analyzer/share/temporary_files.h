// SPDX-License-Identifier: Apache-2.0
//
// Files that must not outlive this process, even if a signal ends it (SIGINT, SIGTERM, SIGHUP).
// After SIGKILL they stay. RemoveAbandonedTraces() then removes the trace when the next bundle of
// the same name is made. Only one TemporaryFiles may exist at a time.
#pragma once

#include <csignal>

#include <array>
#include <filesystem>
#include <string>
#include <vector>

namespace penstock::analyzer {

class TemporaryFiles {
 public:
  // The files need not exist yet. A signal that is ignored stays ignored.
  explicit TemporaryFiles(std::vector<std::filesystem::path> paths);
  ~TemporaryFiles();
  TemporaryFiles(const TemporaryFiles&) = delete;
  TemporaryFiles& operator=(const TemporaryFiles&) = delete;

 private:
  static void RemoveAndDie(int signal);

  std::vector<std::string> paths_;
  std::vector<const char*> names_;  // the names in paths_, then nullptr; for the handler
  std::array<struct sigaction, 3> before_{};
};

// "b.zip" -> "b.zip.4711.trace", where this process keeps the trace of a bundle.
[[nodiscard]] std::filesystem::path TemporaryTrace(const std::filesystem::path& output);

// Removes the traces of processes that were killed while they made `output`. A trace stays if it is
// locked, or if another process with the number in its name is alive.
void RemoveAbandonedTraces(const std::filesystem::path& output);

}  // namespace penstock::analyzer
