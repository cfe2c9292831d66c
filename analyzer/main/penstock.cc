// SPDX-License-Identifier: Apache-2.0
//
// penstock: the command that people run. Commands that it does not do itself are programs beside
// it.
#include <cstdio>
#include <exception>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/core.h>

#include "analyzer/main/commands.h"
#include "analyzer/main/external.h"

namespace penstock::analyzer {
namespace {

struct Known {
  std::string_view name;
  std::string_view does;
};

// Commands that programs beside this one provide. Each is described only if its program exists.
constexpr Known kKnown[] = {
    {"record", "run a command under the agent and record it"},
    {"recover", "finish a trace whose recorder was killed"},
    {"export", "write a trace for Perfetto, chrome://tracing, SQLite, DFAnalyzer, as CSV or JSON"},
    {"import",
     "make a trace from a recording of torch.profiler, Nsight Systems, Perfetto, DFTracer"},
    {"validate", "check a trace for damage"},
    {"pack", "make one packed file of a recording"},
    {"load", "run the reference loader"},
    {"sweep", "measure a loader or a command over a grid of settings"},
    {"gui", "open the dashboard"},
};

int Help() {
  std::string text =
      "penstock: shows why a training run waits for data, and what to change\n\n"
      "usage: penstock COMMAND [ARGUMENTS]\n\n"
      "  report       say what holds a recorded run back\n"
      "  whatif       predict the throughput of other settings from a recorded run\n"
      "  plan         say which changes lead from a recorded run to the limit of its step\n"
      "  compare      say what changed between two recorded runs\n"
      "  merge        join the traces of a run's ranks or hosts into one\n"
      "  share        make one file of a run, for a report of a bug; on request without names\n"
      "  tune         try other settings on a command and say whether they gain what was "
      "predicted\n"
      "  doctor       say beforehand what can be seen in this environment, and what not\n"
      "  help         this text\n";
  for (const std::string& name : FindExternals(OwnFolder())) {
    std::string_view does;
    for (const Known& known : kKnown) {
      if (known.name == name) does = known.does;
    }
    text +=
        fmt::format("  {:<12} {}\n", name, does.empty() ? "penstock-" + name : std::string(does));
  }
  text += "\npenstock COMMAND --help tells more.\n";
  return Print(text);
}

int Main(const std::vector<std::string>& words) {
  if (words.empty()) {
    fmt::print(stderr, "penstock: which command? see: penstock help\n");
    return 2;
  }
  const std::string& command = words.front();
  std::vector<std::string> arguments(words.begin() + 1, words.end());
  if (command == "help" && !arguments.empty() && arguments.front().rfind("-", 0) != 0) {
    return Main({arguments.front(), "--help"});
  }
  if (command == "help" || command == "--help" || command == "-h") return Help();
  if (command == "--version") return Print("penstock " PENSTOCK_VERSION "\n");
  if (command == "report") return ReportCommand(arguments);
  if (command == "whatif") return WhatifCommand(arguments);
  if (command == "plan") return PlanCommand(arguments);
  if (command == "compare") return CompareCommand(arguments);
  if (command == "merge") return MergeCommand(arguments);
  if (command == "share") return ShareCommand(arguments);
  if (command == "tune") return TuneCommand(arguments);
  if (command == "doctor") return DoctorCommand(arguments);
  if (command.empty() || command.front() == '-') {
    fmt::print(stderr, "penstock: {} is not an option of penstock; see: penstock help\n", command);
    return 2;
  }
  return RunExternal(OwnFolder(), command, arguments);
}

}  // namespace
}  // namespace penstock::analyzer

int main(int argc, char** argv) {
  try {
    return penstock::analyzer::Main(std::vector<std::string>(argv + 1, argv + argc));
  } catch (const std::exception& error) {
    fmt::print(stderr, "penstock: {}\n", error.what());
    return 3;
  }
}
