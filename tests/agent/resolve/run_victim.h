// SPDX-License-Identifier: Apache-2.0
//
// For tests of preloaded libraries: runs a victim program with a preload and collects what it
// prints.
#pragma once

#include <sys/wait.h>

#include <cstdio>
#include <map>
#include <sstream>
#include <string>

namespace penstock::agent_test {

struct Outcome {
  int status = -1;  // exit status, or 128 + signal
  std::string output;
};

// Runs a shell command line with additional variables ("LD_PRELOAD=... X=...").
inline Outcome RunVictim(const std::string& environment, const std::string& command) {
  Outcome outcome;
  const std::string line = "exec env " + environment + " " + command + " 2>&1";
  FILE* const pipe = popen(line.c_str(), "r");
  if (pipe == nullptr) return outcome;
  char buffer[4096];
  while (const size_t size = fread(buffer, 1, sizeof buffer, pipe)) {
    outcome.output.append(buffer, size);
  }
  const int status = pclose(pipe);
  outcome.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return outcome;
}

// Returns the lines of the form "key value".
inline std::map<std::string, std::string> Fields(const std::string& output) {
  std::map<std::string, std::string> fields;
  std::istringstream lines(output);
  for (std::string line; std::getline(lines, line);) {
    const size_t space = line.find(' ');
    if (space != std::string::npos) fields[line.substr(0, space)] = line.substr(space + 1);
  }
  return fields;
}

}  // namespace penstock::agent_test
