// SPDX-License-Identifier: Apache-2.0
//
// Runs penstock-record as a user does, with its output in files. A RecordRun has a folder of its
// own, which it removes at the end, and a process group of its own.
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
    long files = 0;           // RLIMIT_NOFILE; 0: not changed
    long long file_size = 0;  // RLIMIT_FSIZE; 0: not changed
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
  // Waits until the file exists. Returns false if it does not exist after `seconds`.
  [[nodiscard]] bool Appears(const std::string& name, double seconds) const;

 private:
  std::filesystem::path folder_;
  std::map<std::string, std::string> environment_;
  std::string terminal_;  // "": the terminal of the test
  pid_t pid_ = -1;
};

[[nodiscard]] std::string FakeProgram();

// A trace and, for each of its threads, the sample numbers of the finished decode spans in the
// order in which they were written.
struct TraceContents {
  std::vector<std::vector<std::int64_t>> threads;
  std::uint64_t spans = 0;
  std::uint64_t unfinished = 0;
  std::unique_ptr<traces::Trace> trace;
};
[[nodiscard]] TraceContents ReadTrace(const std::string& path);

// Returns the numbers of committed spans that the threads of fake_program have stored.
[[nodiscard]] std::vector<std::uint64_t> ReadCounts(const std::string& path, std::size_t count);

// Kills the process and waits until it is gone: a killed process has its files open a moment
// longer.
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
