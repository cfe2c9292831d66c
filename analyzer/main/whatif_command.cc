// SPDX-License-Identifier: Apache-2.0
//
// penstock whatif T [--workers 1..16] [--prefetch 2,4,8] [--batch N] [--step-ms X] [--pin 0|1]
//                   [--persistent 0|1] [--without STAGE,...] [--speedup STAGE=TIMES,...] [--json]
#include <charconv>
#include <cstdlib>
#include <string>
#include <vector>

#include <fmt/core.h>
#include <CLI/CLI.hpp>

#include "analyzer/main/arguments.h"
#include "analyzer/main/commands.h"
#include "analyzer/report/grid_report.h"
#include "analyzer/whatif/grid.h"

namespace penstock::analyzer {
namespace {

constexpr std::string_view kName = "whatif";

struct Words {
  std::string trace, workers, prefetch, budget;
  std::vector<std::string> gpu, without, speedup;
  int batch = 0;
  double step_ms = -1;
  bool pin = false;
  bool persistent = false;
  bool json = false;
};

Result<Factor> ReadFactor(const std::string& name) {
  const auto factor = FactorOf(name);
  if (factor) return *factor;
  return Fail(ErrorKind::kUsage,
              fmt::format("{}: not a stage; there are read, decode, augment, collate, transfer, "
                          "h2d and compute",
                          name));
}

Result<void> ReadScales(const Words& words, GridRequest& request) {
  for (const std::string& name : words.without) {
    const Result<Factor> factor = ReadFactor(name);
    if (!factor) return tl::unexpected<Error>(factor.error());
    request.scale.emplace_back(*factor, 0.0);
  }
  for (const std::string& word : words.speedup) {
    const std::size_t equals = word.find('=');
    const Result<Factor> factor = ReadFactor(word.substr(0, equals));
    if (!factor) return tl::unexpected<Error>(factor.error());
    char* end = nullptr;
    const std::string times = equals == std::string::npos ? "" : word.substr(equals + 1);
    const double value = std::strtod(times.c_str(), &end);
    if (times.empty() || *end != '\0' || !(value >= 1e-3 && value <= 1e6)) {
      return Fail(ErrorKind::kUsage, word + ": say how many times as fast, like decode=2");
    }
    request.scale.emplace_back(*factor, 1 / value);
  }
  return {};
}

Result<GridRequest> ReadRequest(const CLI::App& app, const Words& words) {
  GridRequest request;
  if (!words.workers.empty()) {
    auto counts = ParseCounts(words.workers, 0);
    if (!counts) return tl::unexpected<Error>(counts.error());
    request.workers = std::move(*counts);
  }
  if (!words.prefetch.empty()) {
    auto counts = ParseCounts(words.prefetch, 1);
    if (!counts) return tl::unexpected<Error>(counts.error());
    request.prefetch = std::move(*counts);
  }
  if (!words.budget.empty()) {
    const auto size = ParseSize(words.budget);
    if (!size) return tl::unexpected<Error>(size.error());
    request.budget_ram = *size;
  }
  request.batch = words.batch;
  if (app.count("--step-ms") > 0) request.step = words.step_ms * 1e-3;
  if (app.count("--pin") > 0) request.pin = words.pin;
  if (app.count("--persistent") > 0) request.persistent = words.persistent;
  const Result<void> scales = ReadScales(words, request);
  if (!scales) return tl::unexpected<Error>(scales.error());
  return request;
}

}  // namespace

int WhatifCommand(const std::vector<std::string>& arguments) {
  CLI::App app("Predicts the throughput of other settings from one recorded run.",
               "penstock whatif");
  Words words;
  app.add_option("trace", words.trace, "Trace of the run")->required();
  app.add_option("--workers", words.workers, "Numbers of workers: 1..16 or 0,2,4");
  app.add_option("--prefetch", words.prefetch, "Prefetch factors: 2,4,8");
  app.add_option("--batch", words.batch, "Batch size")->check(CLI::Range(1, 1 << 20));
  app.add_option("--step-ms", words.step_ms, "Time between two batches in the training loop")
      ->check(CLI::Range(0.0, 1e7));
  app.add_option("--pin", words.pin, "Pinned memory: 0 or 1");
  app.add_option("--persistent", words.persistent, "Workers that stay between epochs: 0 or 1");
  app.add_option("--without", words.without, "Stages that cost nothing: decode,augment")
      ->delimiter(',');
  app.add_option("--speedup", words.speedup, "Stages that are faster: decode=2,read=1.5")
      ->delimiter(',');
  app.add_option("--gpu", words.gpu, "Stages on the GPU (needs measured device costs)")
      ->delimiter(',');
  app.add_option("--budget-ram", words.budget, "Memory for batches and workers: 8G");
  app.add_flag("--json", words.json, "One object: {\"configurations\": [...]}");
  if (const auto status = Parse(app, arguments)) return *status;
  if (!words.gpu.empty()) {
    return Complain(kName, {ErrorKind::kEnvironment,
                            "--gpu: not available: no device costs measured on this machine"});
  }
  const auto request = ReadRequest(app, words);
  if (!request) return Complain(kName, request.error());
  int status = 0;
  const auto trace = OpenOrComplain(kName, words.trace, status);
  if (trace == nullptr) return status;
  const auto grid = PredictGrid(Diagnose(*trace), *request);
  if (!grid) {
    return Complain(kName, {grid.error().kind, words.trace + ": " + grid.error().message});
  }
  return Print(words.json ? GridJson(*grid)
                          : GridText(*grid, WantsColour() ? Colour::kOn : Colour::kOff));
}

}  // namespace penstock::analyzer
