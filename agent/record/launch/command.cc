// SPDX-License-Identifier: Apache-2.0
#include "agent/record/launch/command.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string_view>

#include <fmt/format.h>

#include "agent/record/sample/clock.h"
#include "traces/base/say.h"

namespace penstock::record {
namespace {

std::vector<char*> Pointers(const std::vector<std::string>& strings) {
  std::vector<char*> pointers;
  pointers.reserve(strings.size() + 1);
  for (const std::string& text : strings) pointers.push_back(const_cast<char*>(text.c_str()));
  pointers.push_back(nullptr);
  return pointers;
}

bool IsVariable(std::string_view entry, std::string_view name) {
  return entry.size() > name.size() && entry.substr(0, name.size()) == name &&
         entry[name.size()] == '=';
}

bool Lists(std::string_view list, std::string_view item) {
  while (!list.empty()) {
    const auto end = std::min(list.find_first_of(": "), list.size());
    if (list.substr(0, end) == item) return true;
    list.remove_prefix(std::min(end + 1, list.size()));
  }
  return false;
}

}  // namespace

std::vector<std::string> Environment() {
  std::vector<std::string> entries;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    entries.emplace_back(*entry);
  }
  return entries;
}

std::vector<std::string> TracedEnvironment(const std::vector<std::string>& environment,
                                           const Options& options, const std::string& agent,
                                           const std::string& arena) {
  std::vector<std::string> result;
  std::string preload;
  for (const std::string& entry : environment) {
    if (IsVariable(entry, "LD_PRELOAD")) {
      preload = entry.substr(sizeof "LD_PRELOAD=" - 1);
    } else if (!IsVariable(entry, "PENSTOCK_ARENA") && !IsVariable(entry, "PENSTOCK_AGENT") &&
               !IsVariable(entry, "PENSTOCK_OUT")) {
      result.push_back(entry);
    }
  }
  const auto set = [&](std::string_view name, const std::string& value) {
    result.erase(std::remove_if(result.begin(), result.end(),
                                [&](const std::string& e) { return IsVariable(e, name); }),
                 result.end());
    result.push_back(fmt::format("{}={}", name, value));
  };
  if (!options.allocator.empty()) {
    preload += (preload.empty() ? "" : ":") + options.allocator;
  }
  if (!Lists(preload, agent)) preload += (preload.empty() ? "" : ":") + agent;
  set("LD_PRELOAD", preload);
  set("PENSTOCK_ARENA", arena);
  set("PENSTOCK_AGENT", agent);
  set("PENSTOCK_GPU", options.gpu);
  // The driver and NVTX load the libraries that these variables name. A variable that is set
  // already keeps its value, and the agent records that.
  const auto point = [&](std::string_view name) {
    const bool taken = std::any_of(result.begin(), result.end(), [&](const std::string& e) {
      return IsVariable(e, name) && e.size() > name.size() + 1;
    });
    if (!taken) set(name, agent);
  };
  if (options.gpu != "off") point("NVTX_INJECTION64_PATH");
  if (options.gpu == "auto" || options.gpu == "cupti") point("CUDA_INJECTION64_PATH");
  if (!options.overrides.empty()) {
    set("PENSTOCK_OVERRIDE", OverridesText(options.overrides));
    for (const auto& [name, value] : OverriddenVariables(options.overrides)) set(name, value);
  }
  if (!options.stage.empty()) set("PENSTOCK_STAGE", options.stage);
  if (options.no_command) set("PENSTOCK_NO_COMMAND", "1");
  if (options.fixed_batch) set("PENSTOCK_FIXED_BATCH", "1");
  if (options.limit_batches != 0) set("PENSTOCK_BATCHES", std::to_string(options.limit_batches));
  if (!options.data.empty()) {
    std::string folders;
    for (const std::string& folder : options.data) folders += (folders.empty() ? "" : ":") + folder;
    set("PENSTOCK_DATA", folders);
  }
  return result;
}

int Reap(pid_t child) {
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return status;
}

int ExecStatus(int error) {
  return error == ENOENT ? 127 : 126;
}

int Become(const std::vector<std::string>& command) {
  execvp(command.front().c_str(), Pointers(command).data());
  return errno;
}

Started Start(const std::vector<std::string>& command, const std::vector<std::string>& environment,
              const SignalState& signals, const Channel& channel) {
  int report[2] = {-1, -1};  // pipe for the error of exec; without it the child prints the error
  [[maybe_unused]] const int made = pipe2(report, O_CLOEXEC);
  const std::vector<char*> arguments = Pointers(command);
  const std::vector<char*> variables = Pointers(environment);
  Message started;
  started.type = MessageType::kStarted;
  const pid_t pid = fork();
  if (pid < 0) {
    const int error = errno;
    close(report[0]);
    close(report[1]);
    return {-1, error, false};
  }
  if (pid == 0) {
    started.values[0] = static_cast<std::uint64_t>(getpid());
    started.values[1] = static_cast<std::uint64_t>(MonotonicNow().value);
    if (channel.is_open()) channel.Send(started);
    sigaction(SIGCHLD, &signals.child, nullptr);
    sigprocmask(SIG_SETMASK, &signals.mask, nullptr);
    execvpe(arguments[0], arguments.data(), variables.data());
    const int error = errno;
    if (write(report[1], &error, sizeof error) != static_cast<ssize_t>(sizeof error)) {
      SayError("penstock-record", fmt::format("{}: {}", command.front(), std::strerror(error)));
    }
    _exit(ExecStatus(error));
  }
  close(report[1]);
  Started result{pid, 0};
  ssize_t got = 0;
  do {
    got = read(report[0], &result.error, sizeof result.error);
  } while (got < 0 && errno == EINTR);
  close(report[0]);
  if (got != static_cast<ssize_t>(sizeof result.error)) result.error = 0;
  if (result.error != 0) {
    Reap(pid);
    result.pid = -1;
  }
  return result;
}

}  // namespace penstock::record
