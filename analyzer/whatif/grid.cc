// SPDX-License-Identifier: Apache-2.0
#include "analyzer/whatif/grid.h"

#include <algorithm>
#include <cmath>

#include <fmt/core.h>

#include "analyzer/whatif/simulate.h"

namespace penstock::analyzer {
namespace {

// Of a recording, what the grid is simulated with; and what names the bottleneck of each.
constexpr std::size_t kBatches = 1024;
constexpr std::size_t kTasks = 6144;
constexpr std::size_t kNamingBatches = 128;
constexpr std::size_t kNamingTasks = 1024;
constexpr int kNamingCredits = 64;  // more hide no more jitter than these

// The reference loader's ring has one batch more than its option says: the one in use.
int Extra(const Pipeline& pipeline) {
  return pipeline.sample_tasks ? 1 : 0;
}

void FillLists(const Pipeline& recorded, GridRequest& request) {
  const bool none = request.workers.empty() && request.prefetch.empty() && request.batch == 0 &&
                    !request.step && !request.pin && !request.persistent && request.scale.empty();
  if (request.workers.empty()) {
    const int most = std::clamp(static_cast<int>(std::ceil(2 * recorded.cores)), 1, 16);
    for (int w = 1; none && w <= most; ++w) request.workers.push_back(w);
    if (!none) request.workers = {recorded.workers};
  }
  if (request.prefetch.empty()) {
    request.prefetch = {recorded.workers > 0 ? recorded.prefetch - Extra(recorded) : 2};
    if (none) request.prefetch = {2, 4, 8};
  }
}

Factor NameOf(const Pipeline& naming, Setting setting, const LoaderFacts& facts) {
  const int each = naming.sample_tasks ? 1 : std::max(1, setting.workers);
  setting.prefetch = std::min(setting.prefetch, std::max(2, kNamingCredits / each));
  return Attribute(Apply(naming, setting, facts), Span::kSteady).bottleneck;
}

std::vector<std::string> NotesOf(const Diagnosis& diagnosis, const GridRequest& request) {
  const LoaderDiagnosis& loader = *diagnosis.loader;
  std::vector<std::string> notes;
  if (loader.pipeline.crowded) {
    notes.emplace_back(
        "other programs competed for the cores while this was recorded: other settings would get "
        "other shares, so take these figures as rough");
  }
  if (std::abs(loader.replay.error()) > 0.05) {
    notes.push_back(fmt::format("the model repeats the recorded run with an error of {:+.0f} %",
                                100 * loader.replay.error()));
  }
  const bool first = loader.pipeline.workers == 0 && !loader.pipeline.sample_tasks;
  if (first && std::any_of(request.workers.begin(), request.workers.end(),
                           [](int workers) { return workers > 0; })) {
    notes.emplace_back(
        "nothing was handed over between processes in this recording: 0.8 ms a batch on both sides "
        "and 1 ns a byte are assumed, and no memory of the workers' own");
  }
  if (request.batch > 0 && request.batch != static_cast<int>(loader.facts.batch_size)) {
    notes.emplace_back(
        request.step ? "per sample, everything but the step is taken to cost what it does now"
                     : "per sample, everything is taken to cost what it does now, the step too; "
                       "give --step-ms if you know better");
  }
  if (request.pin && *request.pin != loader.facts.pinned) {
    notes.emplace_back(*request.pin ? "pinning is taken to copy at 5 GB/s, and the copy to the "
                                      "device to stay as it is"
                                    : "the copy to the device is taken to stay as it is");
  }
  if (!loader.cpu.known) {
    notes.emplace_back("no CPU times were recorded: that cores are shared is not seen");
  }
  return notes;
}

}  // namespace

std::optional<Factor> FactorOf(std::string_view name) {
  for (const Factor factor : {Factor::kRead, Factor::kDecode, Factor::kAugment, Factor::kCollate,
                              Factor::kTransfer, Factor::kH2d, Factor::kCompute}) {
    if (FactorName(factor) == name) return factor;
  }
  return std::nullopt;
}

std::string NotEnough(const Diagnosis& diagnosis) {
  if (!diagnosis.loader) {
    return "not enough: needs the batches of a loader (torch.utils.data or penstock load), and "
           "none was seen";
  }
  const LoaderDiagnosis& loader = *diagnosis.loader;
  if (loader.fetched < 0.5) {
    return "not enough: needs to see batches being made, and most were made out of sight";
  }
  if (!loader.steady.steady) {
    return fmt::format(
        "not enough: needs 16 batches after the queues have filled, and has {}; record {} more",
        loader.steady.batches, 16 - loader.steady.batches);
  }
  if (std::abs(loader.replay.error()) > kUselessReplay) {
    return fmt::format(
        "not enough: needs a run that the model explains, and on this one it is off by {:+.0f} %: "
        "spans are missing, or the loop does what the model does not know",
        100 * loader.replay.error());
  }
  return "";
}

Result<Grid> PredictGrid(const Diagnosis& diagnosis, const GridRequest& asked) {
  const std::string missing = NotEnough(diagnosis);
  if (!missing.empty()) return Fail(ErrorKind::kInput, missing);
  const LoaderDiagnosis& loader = *diagnosis.loader;
  const LoaderRun& run = diagnosis.run.loader();
  GridRequest request = asked;
  FillLists(loader.pipeline, request);

  const int size = static_cast<int>(run.samples_per_batch);
  const bool rebatched = request.batch > 0 && request.batch != size;
  const Pipeline recorded = Shortened(loader.pipeline, kBatches, kTasks);
  const bool recurs = StartRecurs(recorded);
  const double recorded_time = recurs ? TimeOf(recorded) : 0;
  const double recorded_rate =
      SimulateSteady(SteadyPart(recorded)).rate() * loader.replay.correction();
  const Pipeline base = rebatched ? WithBatch(recorded, run, request.batch) : recorded;
  const Pipeline steady = SteadyPart(base);
  const Pipeline naming = Shortened(steady, kNamingBatches, kNamingTasks);
  Budget budget = BudgetOf(diagnosis.run.host);
  if (request.budget_ram > 0) budget.ram = request.budget_ram;

  Setting setting;
  setting.batch = request.batch;
  setting.step = request.step;
  setting.pin = request.pin;
  setting.persistent = request.persistent;
  setting.scale = request.scale;
  const bool same = !rebatched && !request.step && request.scale.empty() &&
                    request.pin.value_or(loader.facts.pinned) == loader.facts.pinned &&
                    request.persistent.value_or(loader.facts.persistent) == loader.facts.persistent;
  // What a batch weighs once it is collated from another number of samples.
  LoaderFacts facts = loader.facts;
  if (rebatched && facts.batch_size > 0) facts.batch_bytes *= request.batch / facts.batch_size;

  Grid grid;
  grid.replay = loader.replay;
  grid.unit = run.samples_known ? "samples/s" : "batches/s";
  grid.notes = NotesOf(diagnosis, request);
  for (const int workers : request.workers) {
    for (const int prefetch : request.prefetch) {
      setting.workers = workers;
      setting.prefetch = prefetch + Extra(recorded);
      Configuration one;
      one.workers = workers;
      one.prefetch = prefetch;
      one.batch = request.batch > 0 ? request.batch : size;
      one.predicted.rate = PredictRate(Apply(steady, setting, facts), loader.replay);
      if (recurs) {
        const double time = TimeOf(Apply(base, setting, facts));
        if (time > 0) one.predicted.speedup = recorded_time / time;
      } else if (recorded_rate > 0) {
        one.predicted.speedup = one.predicted.rate.estimate / recorded_rate;
      }
      one.predicted.ram = RamOf(recorded, setting, loader.facts);
      one.bottleneck = NameOf(naming, setting, facts);
      one.recorded = same && workers == recorded.workers &&
                     (workers == 0 || setting.prefetch == recorded.prefetch);
      const double shared = SharedMemoryOf(recorded, setting, loader.facts);
      one.fits = !(budget.ram > 0 && static_cast<double>(one.predicted.ram) > budget.ram) &&
                 !(budget.shared_memory > 0 && shared > budget.shared_memory);
      grid.configurations.push_back(one);
    }
  }
  return grid;
}

}  // namespace penstock::analyzer
