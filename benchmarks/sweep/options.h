// SPDX-License-Identifier: Apache-2.0
//
// The command line of penstock-sweep, as plain data.
#pragma once

#include <filesystem>
#include <optional>
#include <regex>
#include <string>
#include <vector>

#include "benchmarks/sweep/grid.h"
#include "traces/base/result.h"

namespace penstock::sweep {

struct Options {
  std::string source;                // loader; empty with a command
  std::vector<std::string> command;  // training
  bool ablate = false;
  std::vector<Axis> axes;
  std::vector<std::string> fixed;  // options of penstock-load for all runs, as words
  std::string overrides;           // overrides of the command for all runs: "pin=1"
  unsigned threads = 1;            // ablation
  unsigned repeats = 3;
  unsigned warmup = 1;
  double tie = 0.02;
  double timeout_s = 0;
  std::optional<std::regex> pattern;
  std::filesystem::path json;  // "-": standard output, empty: none
  std::filesystem::path csv;
  std::filesystem::path device_costs;  // file: measures device costs instead; empty: no
  std::filesystem::path keep;          // folder for traces
  std::filesystem::path programs;      // folder of penstock, penstock-load and penstock-record
  std::vector<std::string> benchmark_flags;
  std::optional<std::string> print;  // --help or --version: print this and end
};

// Errors: kUsage, one line.
Result<Options> ParseOptions(const std::vector<std::string>& arguments);

}  // namespace penstock::sweep
