// SPDX-License-Identifier: Apache-2.0
#include "analyzer/plan/experiments.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>
#include <utility>

#include <fmt/core.h>

#include "analyzer/diagnosis/base.h"
#include "analyzer/words/experiments.h"
#include "analyzer/words/plan.h"

namespace penstock::analyzer {
namespace {

constexpr double kWorthTrying = 1.05;  // speed-up by itself

// Findings whose predicted gain becomes an experiment if no lever removes the same cost. `bound`:
// the prediction is an upper bound, because it makes the whole cost free.
struct Uncombined {
  std::string_view finding;
  bool bound;
};
constexpr std::array<Uncombined, 9> kUncombined = {{{"collate-slow", true},
                                                    {"copies-not-overlapped", true},
                                                    {"pin-thread-behind", true},
                                                    {"slow-storage", true},
                                                    {"transfer-ceiling", true},
                                                    {"wide-labels", true},
                                                    {"hot-python-loop", false},
                                                    {"slow-call", false},
                                                    {"decodes-more-frames-than-used", false}}};

// Transforms that the reference loader has, by their names in torchvision and albumentations.
struct Operation {
  std::string_view transform;
  std::string_view name;  // for --ops; ends in "=" if it takes a size; "": needs no operation
};
constexpr std::array<Operation, 16> kOperations = {{{"RandomResizedCrop", "random_resized_crop="},
                                                    {"Resize", "resize="},
                                                    {"CenterCrop", "center_crop="},
                                                    {"RandomCrop", "random_crop="},
                                                    {"RandomHorizontalFlip", "flip"},
                                                    {"HorizontalFlip", "flip"},
                                                    {"RandomVerticalFlip", "vflip"},
                                                    {"VerticalFlip", "vflip"},
                                                    {"ToTensor", ""},
                                                    {"PILToTensor", ""},
                                                    {"ToTensorV2", ""},
                                                    {"ToImage", ""},
                                                    {"ToDtype", ""},
                                                    {"ConvertImageDtype", ""},
                                                    {"Normalize", "normalize"},
                                                    {"Compose", ""}}};

// A word, quoted for a shell if needed.
std::string Quoted(std::string_view word) {
  const auto plain = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           std::string_view("/._-+=:,@%").find(c) != std::string_view::npos;
  };
  if (!word.empty() && std::all_of(word.begin(), word.end(), plain)) return std::string(word);
  std::string quoted = "'";
  for (const char c : word) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

std::string CommandOf(const PlanRequest& request) {
  return request.command.empty() ? "COMMAND" : request.command;
}

// Whether a lever removes the same cost as `finding`.
bool HasLever(const Levers& levers, std::string_view finding) {
  if (std::any_of(levers.all.begin(), levers.all.end(),
                  [&](const Lever& one) { return one.also == finding; })) {
    return true;
  }
  using Pair = std::pair<std::string_view, std::string_view>;
  for (const auto& [removed, lever] :
       {Pair{"slow-storage", "ram_cache"}, Pair{"transfer-ceiling", "transfer_u8"},
        Pair{"collate-slow", "transfer_u8"}, Pair{"copies-not-overlapped", "pin_memory"},
        Pair{"hot-python-loop", "python_loop"}, Pair{"slow-call", "slow_call"},
        Pair{"decodes-more-frames-than-used", "fewer_frames"}}) {
    const bool there = std::any_of(levers.all.begin(), levers.all.end(),
                                   [&lever = lever](const Lever& one) { return one.id == lever; });
    if (removed == finding && there) return true;
  }
  return false;
}

// Whether the workers are processes that import modules and unpickle the dataset when they start.
bool StartsAnew(const LoaderConfig& config) {
  return config.num_workers > 0 && !config.sample_tasks &&
         (config.start_method == "spawn" || config.start_method == "forkserver");
}

// The side of a sample of three channels in pixels; 0: not known, or samples are not square.
int SideOf(const LoaderDiagnosis& loader) {
  const Material& material = loader.material;
  const double samples = std::max(1.0, loader.facts.batch_size);
  const double pixels = (material.f32 / 4 + material.f16 / 2 + material.u8) / samples / 3;
  const double side = std::round(std::sqrt(pixels));
  return side >= 8 && std::abs(side * side - pixels) < 0.01 * pixels ? static_cast<int>(side) : 0;
}

std::string WhatIfOf(const std::string& id, const std::string& trace) {
  if (id == "transfer_u8") return "penstock whatif " + trace + " --transfer f32:u8";
  if (id == "ram_cache") return "penstock whatif " + trace + " --ram-cache";
  return "";
}

}  // namespace

std::string OperationsOf(const traces::Trace& trace, const Diagnosis& diagnosis) {
  const int side = SideOf(*diagnosis.loader);
  std::string text;
  bool sized = false;
  for (const auto& [name, part] : diagnosis.run.stages[traces::StageId::kAugment].children) {
    const std::string_view seen = trace.String(name);
    const auto known = std::find_if(kOperations.begin(), kOperations.end(),
                                    [seen](const Operation& one) { return one.transform == seen; });
    if (known == kOperations.end()) return "";
    if (known->name.empty()) continue;
    const bool size = known->name.back() == '=';
    if (size && side == 0) return "";
    sized = sized || size;
    text +=
        (text.empty() ? "" : ",") + std::string(known->name) + (size ? std::to_string(side) : "");
  }
  return sized ? text : "";
}

std::vector<PlanExperiment> FindExperiments(const traces::Trace& trace, const Diagnosis& diagnosis,
                                            const std::vector<Finding>& findings,
                                            const Levers& levers, const PlanRequest& request) {
  const LoaderDiagnosis& loader = *diagnosis.loader;
  std::vector<PlanExperiment> all;
  const std::string name = Quoted(request.trace);
  for (const Finding& finding : findings) {
    if (finding.id == "cpu-oversubscribed") {
      all.push_back({"worker_threads", Say<words::kTryThreads>(),
                     "OMP_NUM_THREADS=1 MKL_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 penstock record "
                     "-o threads.penstock -- " +
                         CommandOf(request)});
    }
    const auto known =
        std::find_if(kUncombined.begin(), kUncombined.end(),
                     [&](const Uncombined& one) { return one.finding == finding.id; });
    if (known == kUncombined.end() || !finding.predicted) continue;
    if (finding.predicted->speedup < kWorthTrying || HasLever(levers, finding.id)) continue;
    all.push_back(
        {finding.id,
         Say<words::kTryFinding>(Give<"finding">(finding.id), Give<"bound">(known->bound),
                                 Give<"gain">(OnBase(diagnosis, *finding.predicted).speedup)),
         ""});
  }
  for (const Unpredicted& one : levers.unpredicted) {
    if (one.most < kWorthTrying) continue;
    all.push_back({one.id,
                   Say<words::kTryUnpredicted>(Give<"change">(one.change), Give<"why">(one.why)),
                   WhatIfOf(one.id, name)});
  }
  if (const double gain = GainOf(diagnosis, Factor::kStartup);
      gain >= kWorthTrying && StartsAnew(diagnosis.run.loader().config)) {
    all.push_back(
        {"start_method",
         Say<words::kTryFork>(Give<"method">(diagnosis.run.loader().config.start_method),
                              Give<"gain">(gain)),
         "penstock record --override start_method=fork -o fork.penstock -- " + CommandOf(request)});
  }
  const std::string root = TextFact(trace.facts(), "dataset.root");
  const std::string operations = OperationsOf(trace, diagnosis);
  const LoaderRun& run = diagnosis.run.loader();
  if (run.config.kind == "pytorch" && !root.empty() && !operations.empty() &&
      loader.attribution.headroom >= kWorthTrying) {
    const int workers = std::max(1, static_cast<int>(loader.pipeline.cores));
    all.push_back({"reference_loader", Say<words::kTryLoader>(),
                   fmt::format("penstock load {} --workers {} --batch {} --ops {} --epochs 1",
                               Quoted(root), workers, run.samples_per_batch, operations)});
  }
  return all;
}

}  // namespace penstock::analyzer
