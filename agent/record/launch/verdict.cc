// SPDX-License-Identifier: Apache-2.0
#include "agent/record/launch/verdict.h"

#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <string>
#include <system_error>

#include <fmt/format.h>

#include "agent/record/launch/find_agent.h"
#include "agent/record/launch/progress.h"
#include "traces/base/json_text.h"
#include "traces/base/say.h"

namespace penstock::record {
namespace {

void RunReport(const std::filesystem::path& trace) {
  const std::string program = OwnFolder() + "/penstock";
  if (access(program.c_str(), X_OK) != 0) return;
  const std::string file = trace.string();
  std::fflush(nullptr);
  const pid_t pid = fork();
  if (pid == 0) {
    dup2(STDERR_FILENO, STDOUT_FILENO);  // standard output belongs to the command
    execl(program.c_str(), program.c_str(), "report", file.c_str(), "--brief",
          static_cast<char*>(nullptr));
    _exit(127);
  }
  while (pid > 0 && waitpid(pid, nullptr, 0) < 0 && errno == EINTR) {
  }
}

}  // namespace

void ShowVerdict(const std::filesystem::path& trace, const Message& totals) {
  std::error_code error;
  const auto size = std::filesystem::file_size(trace, error);
  if (error) return;
  std::string counts;
  if (totals.type == MessageType::kFinished) {
    counts = fmt::format(", {} spans", totals.values[kSpans]);
  }
  if (totals.values[kLost] != 0) {
    counts += fmt::format(", {} records lost because there was no room", totals.values[kLost]);
  }
  SayError("penstock-record",
           fmt::format("wrote {} ({}{})", VisibleText(trace.string()), HumanBytes(size), counts));
  RunReport(trace);
}

}  // namespace penstock::record
