// SPDX-License-Identifier: Apache-2.0
//
// penstock doctor [--json] [-- CMD...]
#include <string>
#include <system_error>
#include <vector>

#include "analyzer/doctor/doctor.h"
#include "analyzer/main/arguments.h"
#include "analyzer/main/commands.h"
#include "analyzer/main/external.h"

extern "C" char** environ;

namespace penstock::analyzer {

int DoctorCommand(const std::vector<std::string>& arguments) {
  traces::CommandLine line("Says what a recording here will and will not see, and why.",
                           "penstock doctor");
  bool json = false;
  line.AddFlag("--json", json, "One object of schema penstock.doctor/1");
  line.SetFooter("usage: penstock doctor [--json] [-- CMD...]");
  const SplitWords words = SplitAtDashes(arguments);
  if (const auto status =
          Parse(line, words.own, "a command comes after --: penstock doctor -- CMD")) {
    return *status;
  }
  DoctorInput input;
  std::error_code error;
  input.folder = OwnFolder();
  input.current = std::filesystem::current_path(error);
  input.command = words.command;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    const std::string variable = *entry;
    const std::size_t equals = variable.find('=');
    if (equals != std::string::npos)
      input.environment[variable.substr(0, equals)] = variable.substr(equals + 1);
  }
  const Checks checks = RunDoctor(input);
  const int printed = Print(json ? DoctorJson(checks) : DoctorText(checks, WantsColour()));
  if (printed != 0) return printed;
  return CanRecord(checks) ? 0 : 3;
}

}  // namespace penstock::analyzer
