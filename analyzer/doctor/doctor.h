// SPDX-License-Identifier: Apache-2.0
//
// penstock doctor: says what a recording on this machine will see and not see, and why. It looks at
// files and limits, and loads the GPU's libraries. It runs no program of the user. The environment
// comes in as a value. Not thread-safe.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace penstock::analyzer {

enum class Health {
  kOk,
  kWarn,  // part of the run will not be seen, or will mislead
  kBad,   // recording cannot work
};

struct Check {
  std::string id;  // "agent", "python", "shm": stable
  Health health = Health::kOk;
  std::string fact;
  std::string consequence;  // what follows for the recording; may be empty for kOk
  std::string remedy;       // may be empty
};

struct DoctorInput {
  std::filesystem::path folder;   // of the penstock program
  std::filesystem::path current;  // working directory
  std::map<std::string, std::string> environment;
  std::vector<std::string> command;  // empty: the machine only
};

using Checks = std::vector<Check>;

// Runs all checks, in the order in which they are shown. Errors: none; a file that cannot be read
// counts as absent.
[[nodiscard]] Checks RunDoctor(const DoctorInput& input);

inline constexpr std::string_view kAgentLibrary = "libpenstock_agent.so";

// The value of a variable; empty if it is not set. The view is into `input`.
[[nodiscard]] std::string_view Variable(const DoctorInput& input, const std::string& name);

// The groups of checks; each adds to `checks`. `python`: the interpreter whose packages are looked
// at.
void CheckAgent(const DoctorInput& input, Checks& checks);
void CheckPreloads(const DoctorInput& input, Checks& checks);
void CheckTarget(const DoctorInput& input, Checks& checks);
void CheckPython(const std::filesystem::path& python, Checks& checks);
// `root`: the folder that holds proc and sys, for the limits of control groups.
void CheckHost(Checks& checks, const std::filesystem::path& root = "/");
void CheckGpu(Checks& checks);
void CheckGpuTools(const DoctorInput& input, Checks& checks);

[[nodiscard]] std::string DoctorText(const Checks& checks, bool colour);
[[nodiscard]] std::string DoctorJson(const Checks& checks);
[[nodiscard]] bool CanRecord(const Checks& checks);

}  // namespace penstock::analyzer
