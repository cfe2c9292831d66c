// SPDX-License-Identifier: Apache-2.0
//
// Runs penstock-record as a user does: as a program, whose output goes to files. A RecordRun owns
// its folder and its process group.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "traces/trace.h"

namespace penstock::record {

class RecordRun {
 public:
  RecordRun();
  ~RecordRun();
  RecordRun(const RecordRun&) = delete;
  RecordRun& operator=(const RecordRun&) = delete;

  struct Limits {
    long files = 0;           // RLIMIT_NOFILE; 0 = as it is
    long long file_size = 0;  // RLIMIT_FSIZE
  };
  // Starts penstock-record in the folder, in a process group of its own.
  void Start(const std::vector<std::string>& arguments, Limits limits);
  void Start(const std::vector<std::string>& arguments) { Start(arguments, Limits()); }
  // Waits for penstock-record to end and returns its wait status.
  int Wait();
  // Start() and Wait().
  int operator()(const std::vector<std::string>& arguments) { return (*this)(arguments, Limits()); }
  int operator()(const std::vector<std::string>& arguments, Limits limits) {
    Start(arguments, limits);
    return Wait();
  }
  void KillGroup(int signal) const;

  // Makes Start() give penstock-record a session of its own, with this terminal.
  void OnTerminal(const std::string& name) { terminal_ = name; }
  void Setenv(const std::string& name, const std::string& value) { environment_[name] = value; }
  [[nodiscard]] pid_t pid() const { return pid_; }
  [[nodiscard]] std::filesystem::path folder() const { return folder_; }
  [[nodiscard]] std::string path(const std::string& name) const { return folder_ / name; }
  [[nodiscard]] std::string out() const { return Read("stdout"); }
  [[nodiscard]] std::string err() const { return Read("stderr"); }
  [[nodiscard]] std::string Read(const std::string& name) const;
  // Polls until the file is there; false after `seconds`.
  [[nodiscard]] bool Appears(const std::string& name, double seconds) const;

 private:
  std::filesystem::path folder_;
  std::map<std::string, std::string> environment_;
  std::string terminal_;  // "": that of the test
  pid_t pid_ = -1;
};

[[nodiscard]] std::string FakeProgram();

// Sample numbers of the finished decode spans of each thread of a trace, in the order written.
struct TraceContents {
  std::vector<std::vector<std::int64_t>> threads;
  std::uint64_t spans = 0;
  std::uint64_t unfinished = 0;
  std::unique_ptr<traces::Trace> trace;
};
[[nodiscard]] TraceContents ReadTrace(const std::string& path);

// The counts of committed spans that fake_program has written.
[[nodiscard]] std::vector<std::uint64_t> ReadCounts(const std::string& path, std::size_t count);

// Kills the process and waits until it is gone, since it holds its files a moment longer.
void KillAndAwait(pid_t pid);

[[nodiscard]] std::size_t Lines(const std::string& text);

// A folder for the rings of one test, since other tests run at the same time.
class ShmFolder {
 public:
  ShmFolder();
  ~ShmFolder();
  ShmFolder(const ShmFolder&) = delete;
  ShmFolder& operator=(const ShmFolder&) = delete;
  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] std::size_t Arenas() const;

 private:
  std::string path_;
};

}  // namespace penstock::record
