// SPDX-License-Identifier: Apache-2.0
//
// Measures a configuration: one run of the reference loader, or of any training program under
// penstock-record. A Runner belongs to one thread.
#pragma once

#include <filesystem>
#include <optional>
#include <regex>
#include <stop_token>
#include <string>
#include <vector>

#include "benchmarks/sweep/process.h"
#include "benchmarks/sweep/result.h"

namespace penstock::sweep {

class Runner {
 public:
  Runner() = default;
  virtual ~Runner() = default;
  Runner(const Runner&) = delete;
  Runner& operator=(const Runner&) = delete;

  // Runs the cell once. Errors: kInput if this run failed but others may succeed; kUsage and
  // kEnvironment if every run would fail.
  virtual Result<Measurement> Run(const Cell& cell, const std::stop_token& stop) = 0;
};

// Runs penstock-load SOURCE --AXIS VALUE ... OPTIONS --json in a fresh process.
class LoaderRunner : public Runner {
 public:
  // `words`: the program, the source and the options of all runs.
  LoaderRunner(std::vector<std::string> words, std::vector<Axis> axes, ProcessLimits limits);
  Result<Measurement> Run(const Cell& cell, const std::stop_token& stop) override;

 private:
  std::vector<std::string> words_;
  std::vector<Axis> axes_;
  ProcessLimits limits_;
};

struct CommandOptions {
  std::filesystem::path record;       // penstock-record
  std::filesystem::path penstock;     // for `penstock report`
  std::string overrides;              // for all runs: "pin=1"
  std::optional<std::regex> pattern;  // its group is the figure; nullopt: the report's rate is
  std::filesystem::path keep;         // folder for the traces; empty: they are removed
  std::vector<std::string> command;
};

// Runs penstock-record --override AXIS=VALUE,... -- COMMAND.
class CommandRunner : public Runner {
 public:
  CommandRunner(CommandOptions options, std::vector<Axis> axes, ProcessLimits limits);
  ~CommandRunner() override;
  Result<Measurement> Run(const Cell& cell, const std::stop_token& stop) override;

 private:
  Result<Measurement> Report(const std::filesystem::path& trace, const std::stop_token& stop);

  CommandOptions options_;
  std::vector<Axis> axes_;
  ProcessLimits limits_;
  std::filesystem::path scratch_;  // made at the first run
  unsigned runs_ = 0;
};

// The number in the last match of a pattern with one group, which is matched line by line.
[[nodiscard]] std::optional<double> FigureIn(const std::string& text, const std::regex& pattern);

}  // namespace penstock::sweep
