// SPDX-License-Identifier: Apache-2.0
//
// Runs a program under the agent, without a collector, and opens what it recorded.
#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tests/paths.h"
#include "traces/trace.h"

namespace penstock::traces {

class GpuRun : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = std::filesystem::temp_directory_path() / ("penstock_gpu_" + std::to_string(getpid()));
    std::filesystem::create_directories(folder_);
    trace_ = folder_ / "run.penstock";
  }
  void TearDown() override {
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
  }

  using Variables = std::map<std::string, std::string>;

  // Runs a program and returns its wait status. `words`: the program and its arguments.
  int Run(const std::vector<std::string>& words, const Variables& variables = {},
          bool with_agent = true) {
    std::error_code ignored;
    std::filesystem::remove(trace_, ignored);
    const pid_t pid = fork();
    if (pid == 0) {
      for (const char* name : {"NVTX_INJECTION64_PATH", "CUDA_INJECTION64_PATH", "PENSTOCK_GPU"}) {
        unsetenv(name);
      }
      for (const auto& [name, value] : variables) setenv(name.c_str(), value.c_str(), 1);
      if (with_agent) {
        setenv("LD_PRELOAD", paths::kAgent, 1);
        setenv("PENSTOCK_OUT", trace_.c_str(), 1);
      }
      const int out = open((folder_ / "stdout").c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0644);
      dup2(out, 1);
      std::vector<char*> arguments;
      for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
      arguments.push_back(nullptr);
      execv(arguments[0], arguments.data());
      _exit(126);
    }
    int status = -1;
    waitpid(pid, &status, 0);
    return status;
  }

  std::string Printed() {
    std::ifstream in(folder_ / "stdout");
    return {std::istreambuf_iterator<char>(in), {}};
  }

  std::unique_ptr<Trace> Open() {
    auto trace = OpenTrace(trace_);
    EXPECT_TRUE(trace.has_value()) << (trace.has_value() ? "" : trace.error().message);
    return trace.has_value() ? std::move(*trace) : nullptr;
  }

  struct Found {
    Span span;
    std::string name;
    std::string object;
    ThreadInfo thread;
    std::uint32_t pid = 0;
  };
  // Returns the spans of a stage, sorted by thread and start.
  static std::vector<Found> SpansOf(const Trace& trace, StageId stage) {
    std::vector<Found> found;
    for (std::uint32_t i = 0; i < trace.threads().size(); ++i) {
      const ThreadInfo& thread = trace.threads()[i];
      for (const Span& span : trace.Spans(ThreadId{i})) {
        if (span.stage != stage) continue;
        found.push_back({span, std::string(trace.String(span.name)),
                         std::string(trace.String(span.object)), thread,
                         trace.processes()[thread.process.value].pid});
      }
    }
    return found;
  }

  std::filesystem::path folder_;
  std::filesystem::path trace_;
};

}  // namespace penstock::traces
