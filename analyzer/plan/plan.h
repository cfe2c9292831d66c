// SPDX-License-Identifier: Apache-2.0
//
// The plan: changes in the order in which to make them, from the recorded run up to the limit of
// its step. Each is predicted on top of the changes before it. Values; pure.
//
// Ids of steps: num_workers, prefetch_factor, persistent_workers, malloc, pin_memory, draft,
// ram_cache, transfer_u8, decoder, transforms_in_workers, reads_apart, pack, store_once,
// stored_size, gpu_augment, gpu_decode, in_order, slow_samples, python_loop, slow_call,
// fewer_frames. Ids of experiments: the ids of steps, worker_threads, start_method,
// reference_loader, and the ids of findings.
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
  std::uint64_t ram = 0;         // bytes of batches, workers and caches
  bool batches_alone = false;    // `ram` holds only batches and caches, because the workers' own
                                 // memory is not known
  bool rough = false;            // `ram` comes from few readings of the workers
  bool cached = false;           // `ram` holds the data set too
  int workers = 0;               // processes, or threads, that make batches
  bool other_ram = true;         // `ram` is not that of the run before the step
  std::uint64_t ram_before = 0;  // that of the run before the step; 0: not known
  bool other_workers = true;     // the same for `workers`
  double disk = 0;               // bytes
  int lines = 0;                 // lines of code, roughly
};

struct PlanStep {
  std::string id;
  std::string value;  // if it is an argument of the loader: its value, "4"; else ""
  Statement change;
  Statement risk;          // how it changes the data that the network gets; empty: not at all
  Statements notes;        // what is assumed
  Prediction predicted;    // together with the steps before it; its speed-up is over the recorded
                           // run
  double gain = 1;         // speed-up over the run with the steps before it
  bool with_next = false;  // it gains only together with the next step
  PlanCost cost;
  Factor limited_by = Factor::kNone;
  Factor also_limits = Factor::kNone;  // would gain as much if it were free
  Setting setting;                     // the loader's setting after this step
  std::vector<std::string> findings;   // ids of findings to which the step is an answer
};

// A finding that no step answers, although the gain of its remedy can be predicted. The gain is on
// top of the whole plan.
struct PlanRest {
  std::string finding;
  double gain = 1;
  double unsure = 0;  // fraction by which the rate may be lower than predicted, if that may be all
                      // of the gain
};

// A finding whose gain is predicted by itself, but not on top of the plan.
struct PlanLeft {
  std::string finding;
  bool excluded = false;  // a step does the same or rules the remedy out
  bool remedied = false;  // a change of the plan's search is its remedy. If it is not excluded, the
                          // run would not fit into memory with it, or cannot be predicted
};

// A change whose gain cannot be predicted from the trace, and an experiment that measures the gain.
struct PlanExperiment {
  std::string id;
  Statement why;
  std::string command;  // "": the program has to be changed first
};

struct Plan {
  Statement missing;       // why nothing can be predicted; empty: the plan is predicted
  Statement verdict;       // how far the steps get the run
  Statement unit;          // of rates
  Interval now;            // samples per second of the recorded run (Diagnosis::base_rate())
  bool whole_run = false;  // as in Diagnosis: all rates are of the whole run
  Factor limited_by = Factor::kNone;
  Factor also_limits = Factor::kNone;  // would gain as much if it were free
  std::vector<PlanStep> steps;
  std::vector<PlanRest> rest;
  std::vector<PlanLeft> left;
  std::vector<PlanExperiment> experiments;
  double ceiling = 0;         // samples per second if data cost nothing; 0: not known
  bool other_copies = false;  // the ceiling assumes the shorter copies that remain after the plan;
                              // otherwise it is Diagnosis::ceiling
  bool no_ceiling = false;    // the run is almost nothing but data, so there is no ceiling
  int simulations = 0;        // number of simulations that the search ran

  // The rate with all steps; if there are no steps, the rate of the recorded run.
  [[nodiscard]] double end() const {
    return steps.empty() ? now.estimate : steps.back().predicted.rate.estimate;
  }
};

struct PlanRequest {
  double budget_ram = 0;    // bytes; 0: that of the machine
  std::string trace = "T";  // the trace's name in commands
  std::string command{};    // the command that was recorded; "": not known
  bool outside = false;     // only changes that need no edit, and no experiments
};

// Finds the cheapest combination of changes that is within 2 % of the best and fits memory,
// /dev/shm and cores. Leaves out a step whose gain lies within the confidence interval of its
// prediction, unless it gains together with steps after it.
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
