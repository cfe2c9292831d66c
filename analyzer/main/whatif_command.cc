// SPDX-License-Identifier: Apache-2.0
//
// penstock whatif T [--loader train.py:88] [--workers 1..16] [--prefetch 2,4,8] [--batch N]
//                   [--step-ms X] [--step-cores X] [--pin 0|1] [--persistent 0|1]
//                   [--without STAGE,...] [--speedup STAGE=TIMES,...]
//                   [--transfer u8] [--ram-cache] [--pack] [--offline-resize PIXELS]
//                   [--decoder NAME] [--disk RATE] [--alone] [--cores N|1..64] [--core-speed X]
//                   [--gpu decode,augment] [--gpu-overlap X] [--device-costs FILE]
//                   [--fixed-batch T2] [--budget-ram 8G] [--json]
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include <fmt/core.h>

#include "analyzer/main/arguments.h"
#include "analyzer/main/commands.h"
#include "analyzer/report/grid_report.h"
#include "analyzer/whatif/grid.h"
#include "traces/base/command_line.h"

namespace penstock::analyzer {
namespace {

constexpr std::string_view kWhatIfName = "whatif";

struct Words {
  std::string trace, loader, workers, prefetch, budget, disk, cores, costs, fixed;
  Changes changes;
  std::vector<std::string> gpu, without, speedup;
  int batch = 0;
  double step_ms = 0;
  double step_cores = 0;
  bool pin = false;
  bool persistent = false;
  bool json = false;
};

Result<Factor> ReadFactor(const std::string& name) {
  const auto factor = FactorOf(name);
  if (factor) return *factor;
  return Fail(ErrorKind::kUsage,
              fmt::format("{}: not a stage; there are read, decode, augment, tokenize, collate, "
                          "transfer, h2d and compute",
                          name));
}

Result<void> ReadScales(const Words& words, GridRequest& request) {
  for (const std::string& name : words.without) {
    const Result<Factor> factor = ReadFactor(name);
    PENSTOCK_TRY(factor);
    request.scale.emplace_back(*factor, 0.0);
  }
  for (const std::string& word : words.speedup) {
    const std::size_t equals = word.find('=');
    const Result<Factor> factor = ReadFactor(word.substr(0, equals));
    PENSTOCK_TRY(factor);
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

Result<void> ReadCores(const std::string& text, GridRequest& request) {
  if (text.empty()) return {};
  if (text.find("..") != std::string::npos || text.find(',') != std::string::npos) {
    const auto counts = ParseCounts(text, 1);
    PENSTOCK_TRY(counts);
    request.cores.assign(counts->begin(), counts->end());
    return {};
  }
  char* end = nullptr;
  request.changes.cores = std::strtod(text.c_str(), &end);
  if (*end != '\0' || !(request.changes.cores >= 0.1 && request.changes.cores <= 4096)) {
    return Fail(
        ErrorKind::kUsage,
        "--cores " + text + ": give a number from 0.1 to 4096, or a list like 1..64 or 2,4,8");
  }
  return {};
}

Result<void> ReadChanges(const Words& words, GridRequest& request) {
  request.changes = words.changes;
  for (const std::string& stage : words.gpu) {
    if (stage != "decode" && stage != "augment") {
      return Fail(ErrorKind::kUsage, "--gpu " + stage + ": decode and augment can be moved");
    }
    (stage == "decode" ? request.changes.gpu_decode : request.changes.gpu_augment) = true;
  }
  PENSTOCK_TRY(ReadCores(words.cores, request));
  if (!words.disk.empty()) {
    const auto rate = ParseSize(words.disk);
    PENSTOCK_TRY(rate);
    request.changes.disk = *rate;
  }
  return {};
}

Result<DeviceCosts> CostsOf(const Diagnosis& diagnosis, const std::string& file) {
  const std::string gpu = diagnosis.loader ? diagnosis.loader->material.gpu : "";
  DeviceCosts costs = BuiltInDeviceCosts(gpu);
  if (file.empty()) return costs;
  std::ifstream in(file);
  std::ostringstream text;
  in >> text.rdbuf();  // reaches the end unless opening or reading fails, as with a folder
  if (!in.eof()) return Fail(ErrorKind::kInput, file + ": cannot be read");
  Result<DeviceCosts> read = ReadDeviceCosts(text.str(), std::move(costs));
  if (!read) return Fail(read.error().kind, file + ": " + read.error().message);
  return read;
}

// The steady rate, in samples per second, of a run that was recorded with --fixed-batch.
// Errors: kInput if the run was recorded without it, or is too short. The caller puts the name of
//         the trace in front of the message.
Result<double> FixedRate(const Diagnosis& diagnosis) {
  if (!diagnosis.loader || !diagnosis.run.loader().config.fixed_batch) {
    return Fail(ErrorKind::kInput, "was not recorded with --fixed-batch");
  }
  if (!diagnosis.loader->steady.steady) return Fail(ErrorKind::kInput, "has too few batches");
  return diagnosis.loader->steady.rate.estimate;
}

Result<GridRequest> ReadRequest(const traces::CommandLine& line, const Words& words) {
  GridRequest request;
  if (!words.workers.empty()) {
    auto counts = ParseCounts(words.workers, 0);
    PENSTOCK_TRY(counts);
    request.workers = std::move(*counts);
  }
  if (!words.prefetch.empty()) {
    auto counts = ParseCounts(words.prefetch, 1);
    PENSTOCK_TRY(counts);
    request.prefetch = std::move(*counts);
  }
  if (!words.budget.empty()) {
    const auto size = ParseSize(words.budget);
    PENSTOCK_TRY(size);
    request.budget_ram = *size;
  }
  request.batch = words.batch;
  if (line.Given("--step-ms")) request.step = words.step_ms * 1e-3;
  if (line.Given("--pin")) request.pin = words.pin;
  if (line.Given("--persistent")) request.persistent = words.persistent;
  if (line.Given("--step-cores")) request.step_cores = words.step_cores;
  PENSTOCK_TRY(ReadChanges(words, request));
  const Result<void> scales = ReadScales(words, request);
  PENSTOCK_TRY(scales);
  return request;
}

void AddChanges(traces::CommandLine& line, Words& words) {
  Changes& changes = words.changes;
  line.Add("--transfer", changes.transfer,
           "Data type of pixels on their way to the device: u8, f16, f32; f32:u8 gives the "
           "recorded one too");
  line.AddFlag("--ram-cache", changes.ram_cache, "Dataset in memory (page cache, tmpfs)");
  line.AddFlag("--pack", changes.pack, "Small files packed into large ones, read in sequence");
  line.Add("--offline-resize", changes.resize, "Pictures stored with a long side of PIXELS")
      .Check(traces::NumberBetween(1, 1e6));
  line.Add("--decoder", changes.decoder, "Another JPEG decoder: opencv, libjpeg-turbo, ...");
  line.Add("--disk", words.disk, "Bytes a second that all reads share: 500M");
  line.AddFlag("--alone", changes.alone,
               "Without the other programs that used cores during the recording");
  line.Add("--cores", words.cores,
           "Cores of another machine, with nothing else on it: 16 or 1..64 or 2,4,8");
  line.Add("--core-speed", changes.core_speed,
           "Speed of its cores, times that of the recorded ones")
      .Check(traces::NumberBetween(0.01, 100));
  line.Add("--gpu", words.gpu, "Stages on the GPU: decode,augment or augment").SplitAt(',');
  line.Add("--gpu-overlap", changes.gpu_overlap,
           "Share of the device time of these stages that overlaps with the step, 0 to 1 "
           "(default 0)")
      .Check(traces::NumberBetween(0, 1));
  line.Add("--device-costs", words.costs,
           "File of device times: lines \"decode MILLISECONDS_A_MEGAPIXEL SOURCE\"");
  line.Add("--fixed-batch", words.fixed,
           "Trace of the same program recorded with --fixed-batch: its rate is the ceiling");
}

}  // namespace

int WhatifCommand(const std::vector<std::string>& arguments) {
  traces::CommandLine line("Predicts the throughput of other settings from one recorded run.",
                           "penstock whatif");
  Words words;
  line.Add("trace", words.trace, "Trace of the run").Required();
  line.Add("--loader", words.loader,
           "Which loader, by the line that makes it: train.py:88 (default: the one that the loop "
           "waits for most)");
  line.Add("--workers", words.workers, "Numbers of workers: 1..16 or 0,2,4");
  line.Add("--prefetch", words.prefetch, "Prefetch factors: 2,4,8");
  line.Add("--batch", words.batch, "Batch size").Check(traces::WholeNumber(1, 1 << 20));
  line.Add("--step-ms", words.step_ms, "Time between two batches in the training loop")
      .Check(traces::NumberBetween(0, 1e7));
  line.Add("--pin", words.pin, "Pinned memory: 0 or 1");
  line.Add("--persistent", words.persistent, "Workers that stay between epochs: 0 or 1");
  line.Add("--without", words.without, "Stages that cost nothing: decode,augment").SplitAt(',');
  line.Add("--speedup", words.speedup, "Stages that are faster: decode=2,read=1.5").SplitAt(',');
  line.Add("--step-cores", words.step_cores, "Cores that the step keeps busy")
      .Check(traces::NumberBetween(0, 4096));
  AddChanges(line, words);
  line.Add("--budget-ram", words.budget, "Memory for batches and workers: 8G");
  line.AddFlag("--json", words.json, "One object: {\"configurations\": [...]}");
  if (const auto status = Parse(line, arguments)) return *status;
  auto request = ReadRequest(line, words);
  if (!request) return Complain(kWhatIfName, request.error());
  int status = 0;
  const auto trace = OpenOrComplain(kWhatIfName, words.trace, status);
  if (trace == nullptr) return status;
  const Diagnosis diagnosis = Diagnose(*trace, words.loader);
  if (const Statement unknown = UnknownLoader(diagnosis.run, words.loader); !unknown.empty()) {
    return Complain(kWhatIfName, {ErrorKind::kUsage, English(unknown)});
  }
  const auto costs = CostsOf(diagnosis, words.costs);
  if (!costs) return Complain(kWhatIfName, costs.error());
  request->device_costs = *costs;
  if (!words.fixed.empty()) {
    const auto fixed = OpenOrComplain(kWhatIfName, words.fixed, status);
    if (fixed == nullptr) return status;
    // With --fixed-batch this loader loads no data, so the loop may wait most for another loader.
    // The rate of the same loader is wanted.
    const RunModel& run = diagnosis.run;
    const auto rate = FixedRate(Diagnose(*fixed, run.has_loader() ? run.loader().name : ""));
    if (!rate)
      return Complain(kWhatIfName, {rate.error().kind, words.fixed + " " + rate.error().message});
    request->fixed_rate = *rate;
  }
  const auto grid = PredictGrid(diagnosis, *request);
  if (!grid) {
    return Complain(kWhatIfName,
                    {grid.error().kind, words.trace + ": " + English(grid.error().why)});
  }
  return Print(words.json ? GridJson(*grid)
                          : GridText(*grid, WantsColour() ? Colour::kOn : Colour::kOff));
}

}  // namespace penstock::analyzer
