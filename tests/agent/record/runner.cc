// SPDX-License-Identifier: Apache-2.0
#include "tests/agent/record/runner.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <sstream>

#include <gtest/gtest.h>

#include "agent/record/sample/proc_fs.h"
#include "tests/paths.h"

namespace penstock::record {

RecordRun::RecordRun() {
  char name[] = "/tmp/penstock-record-test-XXXXXX";
  folder_ = mkdtemp(name);
  environment_["PENSTOCK_AGENT"] = paths::kStubAgent;
}

RecordRun::~RecordRun() {
  if (pid_ > 0) KillGroup(SIGKILL);
  std::error_code error;
  std::filesystem::remove_all(folder_, error);
}

void RecordRun::Start(const std::vector<std::string>& arguments, Limits limits) {
  std::fflush(nullptr);
  pid_ = fork();
  ASSERT_GE(pid_, 0);
  if (pid_ == 0) {
    if (terminal_.empty()) {
      setpgid(0, 0);
    } else {
      setsid();
      dup2(open(terminal_.c_str(), O_RDWR), 0);  // becomes the terminal of the session
    }
    if (chdir(folder_.c_str()) != 0) _exit(90);
    dup2(open("stdout", O_WRONLY | O_CREAT | O_TRUNC, 0600), 1);
    dup2(open("stderr", O_WRONLY | O_CREAT | O_TRUNC, 0600), 2);
    for (int fd = 3; fd < 1024; ++fd) close(fd);
    for (const auto& [key, value] : environment_) setenv(key.c_str(), value.c_str(), 1);
    if (limits.files != 0) {
      const rlimit limit{static_cast<rlim_t>(limits.files), static_cast<rlim_t>(limits.files)};
      setrlimit(RLIMIT_NOFILE, &limit);
    }
    if (limits.file_size != 0) {
      const rlimit limit{static_cast<rlim_t>(limits.file_size),
                         static_cast<rlim_t>(limits.file_size)};
      setrlimit(RLIMIT_FSIZE, &limit);
    }
    std::vector<char*> words{const_cast<char*>(paths::kRecord)};
    for (const std::string& word : arguments) words.push_back(const_cast<char*>(word.c_str()));
    words.push_back(nullptr);
    execv(paths::kRecord, words.data());
    _exit(91);
  }
  if (terminal_.empty()) setpgid(pid_, pid_);
}

int RecordRun::Wait() {
  int status = -1;
  waitpid(pid_, &status, 0);
  return status;
}

void RecordRun::KillGroup(int signal) const {
  kill(-pid_, signal);
}

std::string RecordRun::Read(const std::string& name) const {
  std::ostringstream text;
  text << std::ifstream(folder_ / name).rdbuf();
  return text.str();
}

bool RecordRun::Appears(const std::string& name, double seconds) const {
  for (int i = 0; i < static_cast<int>(seconds * 100); ++i) {
    if (std::filesystem::exists(folder_ / name)) return true;
    usleep(10'000);
  }
  return false;
}

std::string FakeProgram() {
  return paths::kFakeProgram;
}

TraceContents ReadTrace(const std::string& path) {
  TraceContents contents;
  auto trace = traces::OpenTrace(path);
  EXPECT_TRUE(trace) << (trace ? "" : trace.error().message);
  if (!trace) return contents;
  contents.trace = std::move(*trace);
  for (std::uint32_t i = 0; i < contents.trace->threads().size(); ++i) {
    std::vector<traces::Span> spans = contents.trace->Spans(ThreadId{i});
    std::vector<std::int64_t> samples;
    for (const traces::Span& span : spans) {
      if ((span.flags & wire::kFlagUnfinished) != 0) {
        ++contents.unfinished;
      } else if (span.stage == traces::StageId::kDecode) {
        samples.push_back(span.sample);
        EXPECT_EQ(contents.trace->String(span.name), "fake");
      }
    }
    std::sort(samples.begin(), samples.end());
    contents.spans += samples.size();
    contents.threads.push_back(std::move(samples));
  }
  return contents;
}

std::vector<std::uint64_t> ReadCounts(const std::string& path, std::size_t count) {
  std::vector<std::uint64_t> counts(count);
  std::ifstream file(path, std::ios::binary);
  file.read(reinterpret_cast<char*>(counts.data()), static_cast<std::streamsize>(count * 8));
  return counts;
}

void KillAndAwait(pid_t pid) {
  kill(pid, SIGKILL);
  for (int i = 0; i < 10'000; ++i) {
    const auto text = ReadFile("/proc/" + std::to_string(pid) + "/stat", 4096);
    const auto stat = text ? ParseStat(*text) : std::nullopt;
    if (!stat || stat->gone()) return;
    usleep(1000);
  }
  ADD_FAILURE() << "process " << pid << " does not end";
}

std::size_t Lines(const std::string& text) {
  return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
}

ShmFolder::ShmFolder() : path_("/dev/shm/record_test_" + std::to_string(getpid())) {
  std::filesystem::create_directories(path_);
}

ShmFolder::~ShmFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

std::size_t ShmFolder::Arenas() const {
  std::size_t count = 0;
  for (const auto& entry : std::filesystem::directory_iterator(path_)) {
    count += entry.path().filename().string().rfind("penstock-", 0) == 0 ? 1u : 0u;
  }
  return count;
}

}  // namespace penstock::record
