// SPDX-License-Identifier: Apache-2.0
//
// The plan: changes in the order in which one would make them, from the run as it is to the limit
// of its step, each predicted on top of those before it. Values; pure.
//
// Ids of steps: num_workers, prefetch_factor, persistent_workers, malloc, pin_memory, draft,
// ram_cache, transfer_u8, decoder, transforms_in_workers, reads_apart, pack, store_once,
// stored_size, gpu_augment, gpu_decode. Of experiments: those, worker_threads, reference_loader,
// and the ids of findings.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analyzer/advice/finding.h"
#include "analyzer/diagnosis/diagnosis.h"
#include "analyzer/predict/predict.h"
#include "analyzer/predict/scenario.h"
#include "analyzer/stats/bootstrap.h"
#include "analyzer/words/statement.h"
#include "traces/trace.h"

namespace penstock::analyzer {

// What the run needs once a step is done; lines and disk are of the step alone.
struct PlanCost {
  std::uint64_t ram = 0;  // bytes of batches, workers and caches
  int workers = 0;        // processes, or threads, that make batches
  double disk = 0;        // bytes
  int lines = 0;          // of code, about
};

struct PlanStep {
  std::string id;
  std::string value;  // of an argument of the loader: "4"; else ""
  Statement change;
  Statement risk;          // what it changes for the network; empty: nothing
  Statements notes;        // what is assumed
  Prediction predicted;    // with the steps before it; speedup over the run as it is
  double gain = 1;         // over the steps before it
  bool with_next = false;  // gains together with the next step alone
  PlanCost cost;
  Factor limited_by = Factor::kNone;
  Setting setting;  // of the loader, up to here
};

// What the trace cannot predict, and how to find out.
struct PlanExperiment {
  std::string id;
  Statement why;
  std::string command;  // "" where a change of the program comes first
};

struct Plan {
  Statement missing;  // why nothing can be predicted; empty: something was
  Statement verdict;  // where the way ends
  Statement unit;     // of rates
  Interval now;       // samples per second of the run as it is, on the base of its diagnosis
  Factor limited_by = Factor::kNone;
  std::vector<PlanStep> steps;
  std::vector<PlanExperiment> experiments;
  double ceiling = 0;       // samples per second if data cost nothing; 0: not known
  bool no_ceiling = false;  // without its data hardly anything would be left of the run
  int simulations = 0;      // that the search took

  // With all steps; that of the run as it is without any.
  [[nodiscard]] double end() const {
    return steps.empty() ? now.estimate : steps.back().predicted.rate.estimate;
  }
};

struct PlanRequest {
  double budget_ram = 0;    // bytes; 0: that of the machine
  std::string trace = "T";  // as commands name it
  std::string command{};    // that was recorded; "" not known
  bool outside = false;     // changes alone that need no edit: what tune can try
};

// The cheapest combination of changes within 2 % of the best that fits memory, /dev/shm and cores.
// A step that gains less than its own interval is left out.
// Bound: 1,000 simulations of 256 batches (2,048 samples where threads share them), then some 10 of
// the whole pipeline for each step. Requires: `findings` are those of RunRules().
[[nodiscard]] Plan BuildPlan(const traces::Trace& trace, const Diagnosis& diagnosis,
                             const std::vector<Finding>& findings, const PlanRequest& request);

}  // namespace penstock::analyzer
