// SPDX-License-Identifier: Apache-2.0
//
// The plan: changes in the order in which to make them, from the run as it is to the limit of its
// step, each predicted on top of those before it. Values; pure.
//
// Ids of steps: num_workers, prefetch_factor, persistent_workers, malloc, pin_memory, draft,
// ram_cache, transfer_u8, decoder, transforms_in_workers, reads_apart, pack, store_once,
// stored_size, gpu_augment, gpu_decode, in_order, slow_samples, python_loop, slow_call,
// fewer_frames. Ids of experiments: the same, worker_threads,
// start_method, reference_loader, and the ids of findings.
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

// The needs of the run once a step is done. `lines` and `disk` are for the step alone.
struct PlanCost {
  std::uint64_t ram = 0;       // bytes of batches, workers and caches
  bool batches_alone = false;  // the workers' own memory is not known, so `ram` lacks it
  int workers = 0;             // processes, or threads, that make batches
  double disk = 0;             // bytes
  int lines = 0;               // lines of code, roughly
};

struct PlanStep {
  std::string id;
  std::string value;  // if it is an argument of the loader: its value, "4"; else ""
  Statement change;
  Statement risk;          // how it changes what the network sees; empty: not at all
  Statements notes;        // what is assumed
  Prediction predicted;    // together with the steps before it; speed-up over the run as it is
  double gain = 1;         // speed-up over the run with the steps before it
  bool with_next = false;  // it gains only together with the next step
  PlanCost cost;
  Factor limited_by = Factor::kNone;
  Setting setting;                    // the loader's setting after this step
  std::vector<std::string> findings;  // ids of findings to which the step is an answer
};

// A finding that no step answers, though its remedy can be predicted: what it gains on top of the
// whole plan.
struct PlanRest {
  std::string finding;
  double gain = 1;
};

// Something that the trace cannot predict, and how to find out.
struct PlanExperiment {
  std::string id;
  Statement why;
  std::string command;  // "": the program has to be changed first
};

struct Plan {
  Statement missing;       // why nothing can be predicted; empty: something was
  Statement verdict;       // how far the steps get
  Statement unit;          // of rates
  Interval now;            // samples per second of the run as it is (Diagnosis::base_rate())
  bool whole_run = false;  // as in Diagnosis: all rates are of the whole run
  Factor limited_by = Factor::kNone;
  std::vector<PlanStep> steps;
  std::vector<PlanRest> rest;
  std::vector<PlanExperiment> experiments;
  double ceiling = 0;         // samples per second if data cost nothing; 0: not known
  bool other_copies = false;  // the ceiling is with the copies that are left at the end, which are
                              // shorter; otherwise it is Diagnosis::ceiling
  bool no_ceiling = false;    // the run is almost nothing but data, so there is no ceiling
  int simulations = 0;        // number that the search ran

  // The rate with all steps; without steps, that of the run as it is.
  [[nodiscard]] double end() const {
    return steps.empty() ? now.estimate : steps.back().predicted.rate.estimate;
  }
};

struct PlanRequest {
  double budget_ram = 0;    // bytes; 0: that of the machine
  std::string trace = "T";  // as commands name it
  std::string command{};    // that was recorded; "" not known
  bool outside = false;     // only changes that need no edit, and no experiments
};

// The cheapest combination of changes within 2 % of the best that fits memory, /dev/shm and cores.
// A step that gains less than its own interval is left out, unless it gains together with steps
// after it.
// Cost: about 1,000 simulations of 256 batches (2,048 samples if threads share them), then some 10
//       of the whole pipeline for each step.
// Requires: `findings` are those of RunRules().
[[nodiscard]] Plan BuildPlan(const traces::Trace& trace, const Diagnosis& diagnosis,
                             const std::vector<Finding>& findings, const PlanRequest& request);

// `plan` with only the chosen steps, in the same order, predicted anew.
// Requires: chosen.size() == plan.steps.size(); the rest is what BuildPlan() made `plan` from.
[[nodiscard]] Plan WithSteps(const Plan& plan, const std::vector<bool>& chosen,
                             const Diagnosis& diagnosis, const std::vector<Finding>& findings,
                             const PlanRequest& request);

}  // namespace penstock::analyzer
