// SPDX-License-Identifier: Apache-2.0
//
// penstock doctor [--json] [-- CMD...]
#include <algorithm>
#include <cstdio>
#include <string>
#include <system_error>
#include <vector>

#include <fmt/core.h>
#include <CLI/CLI.hpp>

#include "analyzer/doctor/doctor.h"
#include "analyzer/main/commands.h"
#include "analyzer/main/external.h"

extern char** environ;

namespace penstock::analyzer {

int DoctorCommand(const std::vector<std::string>& arguments) {
  CLI::App app("Says what a recording here will and will not see, and why.", "penstock doctor");
  bool json = false;
  app.add_flag("--json", json, "One object of schema penstock.doctor/1");
  app.footer("usage: penstock doctor [--json] [-- CMD...]");
  // What follows "--" is the command, whatever its words look like.
  const auto dashes = std::find(arguments.begin(), arguments.end(), "--");
  std::vector<std::string> own(arguments.begin(), dashes);
  std::reverse(own.begin(), own.end());  // as CLI11 wants it
  try {
    app.parse(own);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return app.exit(error);
    fmt::print(stderr, "penstock doctor: {}; a command comes after --: penstock doctor -- CMD\n",
               error.what());
    return 2;
  }
  DoctorInput input;
  std::error_code error;
  input.folder = OwnFolder();
  input.current = std::filesystem::current_path(error);
  if (dashes != arguments.end()) input.command.assign(dashes + 1, arguments.end());
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    const std::string line = *entry;
    const std::size_t equals = line.find('=');
    if (equals != std::string::npos)
      input.environment[line.substr(0, equals)] = line.substr(equals + 1);
  }
  const Checks checks = RunDoctor(input);
  const int printed = Print(json ? DoctorJson(checks) : DoctorText(checks, WantsColour()));
  if (printed != 0) return printed;
  return CanRecord(checks) ? 0 : 3;
}

}  // namespace penstock::analyzer
