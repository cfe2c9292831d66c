// SPDX-License-Identifier: Apache-2.0
#include "analyzer/whatif/grid.h"

#include <algorithm>
#include <cmath>

#include "analyzer/diagnosis/base.h"
#include "analyzer/diagnosis/summary.h"
#include "analyzer/simulate/simulate.h"
#include "analyzer/whatif/setting_predictor.h"
#include "analyzer/whatif/uneven_turns.h"
#include "analyzer/words/assumptions.h"
#include "analyzer/words/needs.h"

namespace penstock::analyzer {
namespace {

// The grid is simulated with this many batches or samples of a recording.
constexpr std::size_t kGridBatches = 1024;
constexpr std::size_t kGridTasks = 6144;

// The reference loader has memory for one batch more than its option says, because the training
// loop holds one.
int Extra(const Pipeline& pipeline) {
  return pipeline.sample_tasks ? 1 : 0;
}

// Adds a value to a sorted list, unless the list has it.
void AddSorted(int value, std::vector<int>& list) {
  const auto place = std::lower_bound(list.begin(), list.end(), value);
  if (place == list.end() || *place != value) list.insert(place, value);
}

// Fills empty lists: with the recorded values or, if the request asks for nothing, with a grid that
// suits the machine and contains the recorded setting.
void FillLists(const Pipeline& recorded, GridRequest& request) {
  const bool none = request.workers.empty() && request.prefetch.empty() && request.batch == 0 &&
                    !request.step && !request.pin && !request.persistent && !request.step_cores &&
                    request.scale.empty() && !request.changes.any();
  if (request.workers.empty() && !none) {
    request.workers = {recorded.workers};
  } else if (request.workers.empty()) {
    const int most = std::clamp(static_cast<int>(std::ceil(2 * recorded.cores)), 1, 16);
    for (int w = 1; w <= most; ++w) request.workers.push_back(w);
    if (recorded.workers > 0) AddSorted(recorded.workers, request.workers);
  }
  if (request.prefetch.empty()) {
    request.prefetch = {recorded.workers > 0 ? recorded.prefetch - Extra(recorded) : 2};
    const int as_recorded = request.prefetch.front();
    if (none) request.prefetch = {2, 4, 8};
    if (none) AddSorted(as_recorded, request.prefetch);
  }
}

// Scales the figures for one batch in `facts` and `material` to batches of another size.
void SetBatchSize(int batch, LoaderFacts& facts, Material& material) {
  if (!(facts.batch_size > 0)) return;
  const double ratio = batch / facts.batch_size;
  for (double* of_batch :
       {&facts.batch_bytes, &facts.fresh.batch, &facts.fresh.touch, &material.f32, &material.f16,
        &material.u8, &material.i64, &material.other}) {
    *of_batch *= ratio;
  }
  facts.batch_size = batch;
}

// Shortens the step to the length that it has when nothing competes with it. A run with
// --fixed-batch measures that length.
void FreeStep(double fixed_rate, const LoaderDiagnosis& loader, Pipeline& pipeline,
              Statements& notes) {
  double step = 0;
  double fixed = 0;  // time of copies, which stay as they are
  double samples = 0;
  for (const EpochDemand& epoch : pipeline.epochs) {
    for (const Demand& demand : epoch.batches) {
      step += demand.step;
      fixed += demand.h2d;
      samples += demand.own_samples();
    }
  }
  const double measured = std::max(0.0, samples / fixed_rate - fixed);
  const double scale = step > 0 ? std::min(1.0, measured / step) : 1;
  for (EpochDemand& epoch : pipeline.epochs) {
    for (Demand& demand : epoch.batches) demand.step *= scale;
  }
  pipeline.step_delay = 0;  // the measured length contains no delay
  notes.push_back(Say<words::kFixedBatch>(
      Give<"rate">(fixed_rate), Give<"gain">(fixed_rate / std::max(1e-9, loader.replay.measured)),
      Give<"step">(scale)));
}

// `predicted` on the base of the steady part, with a rate of at most `ceiling`, which was measured.
Prediction CappedAt(double ceiling, const Diagnosis& diagnosis, const Prediction& predicted) {
  Prediction told = OnSteadyPart(diagnosis, predicted);
  Interval& rate = told.rate;
  if (rate.estimate > ceiling) told.speedup *= ceiling / rate.estimate;
  rate.estimate = std::min(rate.estimate, ceiling);
  rate.low = std::min(rate.low, ceiling);
  rate.high = std::min(std::max(rate.high, rate.estimate), 1.02 * ceiling);  // noise between runs
  return told;
}

// The share of reading in the workers' time.
double ReadShare(const RunModel& run) {
  const double whole = run.stages.DataTime();
  return whole > 0 ? Seconds(run.stages[traces::StageId::kRead].wall) / whole : 0;
}

// A note on how reads are assumed to behave; nullopt if that does not matter for the predictions.
std::optional<Statement> NoteOfReads(const Diagnosis& diagnosis, const GridRequest& request) {
  const Changes& changes = request.changes;
  const LoaderDiagnosis& loader = *diagnosis.loader;
  const double device = loader.pipeline.device_per_sample;
  if (changes.disk > 0) return std::nullopt;
  if (loader.pipeline.turns && !changes.ram_cache) {
    return Say<words::kReadsTakeTurns>(Give<"each">(device));
  }
  if (device > 0) return Say<words::kReadsShare>(Give<"rate">(loader.material.file_bytes / device));
  if (loader.material.file_bytes > 0 && ReadShare(diagnosis.run) > 0.05 && !changes.ram_cache) {
    return Say<words::kReadsApart>(Give<"rate">(loader.material.reads.most_bytes_per_s),
                                   Give<"options">(request.options));
  }
  return std::nullopt;
}

Statements NotesOf(const Diagnosis& diagnosis, const GridRequest& request) {
  const LoaderDiagnosis& loader = *diagnosis.loader;
  const std::string& name = diagnosis.run.loader().name;
  Statements notes;
  if (loader.pipeline.crowded && !request.changes.alone) {
    notes.push_back(Say<words::kCrowded>(Give<"threads">(loader.pipeline.others),
                                         Give<"options">(request.options)));
  }
  if (std::abs(loader.replay.error()) > 0.05) {
    notes.push_back(Say<words::kReplayError>(Give<"error">(loader.replay.error())));
  }
  const bool without_workers = loader.pipeline.workers == 0 && !loader.pipeline.sample_tasks;
  if (without_workers && std::any_of(request.workers.begin(), request.workers.end(),
                                     [](int workers) { return workers > 0; })) {
    notes.push_back(Say<words::kNoHandover>());
  }
  if (request.batch > 0 && request.batch != static_cast<int>(loader.facts.batch_size)) {
    notes.push_back(request.step ? Say<words::kOtherBatchAndStep>()
                                 : Say<words::kOtherBatch>(Give<"options">(request.options)));
  }
  if (request.pin && *request.pin != loader.facts.pinned) {
    notes.push_back(*request.pin ? Say<words::kPinning>() : Say<words::kNotPinning>());
  }
  if (request.step && !request.step_cores && !loader.pipeline.step_load_known) {
    notes.push_back(Say<words::kStepWaits>(Give<"options">(request.options)));
  }
  if (!loader.pipeline.beside.empty()) {
    notes.push_back(Say<words::kTogether>(Give<"loaders">(1 + loader.pipeline.beside.size()),
                                          GiveIf<"name">(!name.empty(), name)));
  }
  if (auto reads = NoteOfReads(diagnosis, request)) notes.push_back(*std::move(reads));
  if (!loader.cpu.known) notes.push_back(Say<words::kNoCpuTimes>());
  if (const WorkersRead& read = loader.facts.read; read.few()) {
    notes.push_back(
        Say<words::kRoughMemory>(Give<"readings">(read.readings), Give<"read">(read.workers)));
  }
  const auto most = std::max_element(request.workers.begin(), request.workers.end());
  if (most != request.workers.end()) {
    const int recorded = diagnosis.run.loader().config.num_workers;
    Statement repeats = NoteOnWorkers(loader.sharding, recorded, *most);
    if (!repeats.empty()) notes.push_back(std::move(repeats));
  }
  return notes;
}

// Whether only the numbers of workers, the depths and the batch size may differ from the recording.
bool IsRecorded(const GridRequest& request, const LoaderFacts& facts) {
  return !request.step && !request.step_cores && request.scale.empty() && !request.changes.any() &&
         !(request.fixed_rate > 0) && request.pin.value_or(facts.pinned) == facts.pinned &&
         request.persistent.value_or(facts.persistent) == facts.persistent;
}

// Whether the step computes on cores that make it faster or slower.
bool ChangesCoresOfStep(const Changes& changes, const Pipeline& recorded) {
  const bool fewer = changes.cores > 0 && changes.cores < recorded.step_load;
  return fewer || (changes.core_speed != 1 && recorded.step_load > 0);
}

// Whether the step is the recorded one. A measured ceiling holds only for the recorded step and its
// copies.
bool IsRecordedStep(const GridRequest& request, const Pipeline& recorded, bool rebatched) {
  const bool scaled = std::any_of(request.scale.begin(), request.scale.end(), [&](const auto& one) {
    return one.first == Factor::kCompute || one.first == Factor::kH2d ||
           one.first == Factor::kTransfer ||
           (one.first == Factor::kAugment && recorded.step_transforms > 0);
  });
  return !request.step && !request.step_cores && !rebatched && !scaled &&
         !ChangesCoresOfStep(request.changes, recorded) && request.changes.transfer.empty() &&
         !request.changes.gpu_decode && !request.changes.gpu_augment;
}

// Whether step and copies are the recorded ones, so that the diagnosis's ceiling holds.
bool IsRecordedCeiling(const GridRequest& request, const Pipeline& recorded, bool rebatched,
                       const LoaderFacts& facts) {
  return IsRecordedStep(request, recorded, rebatched) && request.scale.empty() &&
         !request.changes.any() && !(request.fixed_rate > 0) &&
         request.pin.value_or(facts.pinned) == facts.pinned;
}

}  // namespace

std::optional<Factor> FactorOf(std::string_view name) {
  for (const Factor factor :
       {Factor::kRead, Factor::kDecode, Factor::kAugment, Factor::kTokenize, Factor::kCollate,
        Factor::kTransfer, Factor::kH2d, Factor::kCompute}) {
    if (FactorName(factor) == name) return factor;
  }
  return std::nullopt;
}

namespace {

// The depth of a loader without workers changes nothing.
bool NoneHasWorkers(const std::vector<LoaderSetup>& loaders) {
  return std::all_of(loaders.begin(), loaders.end(),
                     [](const LoaderSetup& loader) { return loader.workers == 0; });
}

Predicted<Grid> PredictOnOneMachine(const Diagnosis& diagnosis, const GridRequest& asked) {
  const LoaderDiagnosis& loader = *diagnosis.loader;
  const LoaderRun& run = diagnosis.run.loader();
  GridRequest request = asked;
  FillLists(loader.pipeline, request);
  const int size = static_cast<int>(run.samples_per_batch);
  const bool rebatched = request.batch > 0 && request.batch != size;
  if (!loader.pipeline.beside.empty() && (rebatched || request.changes.any())) {
    return Refuse(Say<words::kNeedsOneLoaderForThat>());
  }
  const Pipeline recorded = Shortened(loader.pipeline, kGridBatches, kGridTasks);
  Pipeline batched = rebatched ? WithBatch(recorded, run, request.batch) : recorded;
  LoaderFacts facts = loader.facts;
  Material material = loader.material;
  if (rebatched) SetBatchSize(request.batch, facts, material);
  Grid grid;
  grid.notes = NotesOf(diagnosis, request);
  if (request.fixed_rate > 0) FreeStep(request.fixed_rate, loader, batched, grid.notes);
  Predicted<Changed> changed =
      ApplyChanges(batched, facts, material, request.changes, request.device_costs);
  PENSTOCK_TRY(changed);
  grid.notes.insert(grid.notes.end(), changed->notes.begin(), changed->notes.end());
  grid.replay = loader.replay;
  grid.unit = RateUnit(run.samples_known);
  grid.changes = request.changes;

  Budget budget = BudgetOf(diagnosis.run.host);
  if (request.budget_ram > 0) budget.ram = request.budget_ram;
  const SettingPredictor predictor(recorded, *std::move(changed), loader.replay, budget);
  grid.ceiling_measured = request.fixed_rate > 0 && IsRecordedStep(request, recorded, rebatched);
  grid.whole_run = diagnosis.whole_run && !grid.ceiling_measured;
  grid.recorded = grid.whole_run ? diagnosis.whole_rate : diagnosis.samples_rate;
  Setting setting;
  setting.step = request.step;
  setting.step_load = request.step_cores;
  setting.pin = request.pin;
  setting.persistent = request.persistent;
  setting.scale = request.scale;
  for (const auto& [factor, scale] : request.scale) {
    if (factor == Factor::kAugment) setting.loop_transforms *= scale;
  }
  const Pipeline as_asked = predictor.AsAsked(setting);
  const bool same_step = IsRecordedCeiling(request, recorded, rebatched, loader.facts);
  const double step_allows =
      same_step && !diagnosis.whole_run ? diagnosis.ceiling : CeilingRate(as_asked, loader.replay);
  grid.ceiling = grid.ceiling_measured ? request.fixed_rate
                 : same_step           ? diagnosis.ceiling
                                       : CeilingOnBase(diagnosis, recorded, as_asked);
  const bool same = !rebatched && IsRecorded(request, loader.facts);
  const int batch = request.batch > 0 ? request.batch : size;
  std::vector<Setting> settings;
  for (const int workers : request.workers) {
    for (const int prefetch : request.prefetch) {
      setting.workers = workers;
      setting.prefetch = prefetch + Extra(recorded);
      settings.push_back(setting);
    }
  }
  std::vector<Predicted<Configuration>> predicted = predictor.Predict(settings);
  for (std::size_t i = 0; i < settings.size(); ++i) {
    const int workers = settings[i].workers;
    const int prefetch = settings[i].prefetch - Extra(recorded);
    if (const int most = loader.facts.most_workers;
        most > 0 && workers > most && workers != recorded.workers) {
      predicted[i] = Refuse(Say<words::kBeyondShards>(Give<"most">(most)));
    }
    if (!predicted[i]) {
      grid.left_out.push_back(
          {workers, prefetch, batch, request.changes.cores, std::move(predicted[i].error().why)});
      continue;
    }
    Configuration& one = *predicted[i];
    one.prefetch = prefetch;
    one.batch = batch;
    one.cores = request.changes.cores;
    one.predicted.most = step_allows;
    one.recorded = same && workers == recorded.workers &&
                   (settings[i].prefetch == recorded.prefetch ||
                    (workers == 0 && NoneHasWorkers(recorded.beside)));
    // A ceiling that was measured limits the steady rate.
    one.predicted = grid.ceiling_measured ? CappedAt(request.fixed_rate, diagnosis, one.predicted)
                                          : OnBase(diagnosis, one.predicted);
    grid.configurations.push_back(std::move(one));
  }
  if (request.changes.several) return grid;  // a note could not say which machine it is about
  const auto rate_under = [&](const Pipeline& pipeline, const Configuration& one) {
    setting.workers = one.workers;
    setting.prefetch = one.prefetch + Extra(recorded);
    return SimulateSteady(Apply(pipeline, setting, predictor.facts())).rate();
  };
  if (auto uneven = UnevenTurns(predictor.steady(), grid.configurations, rate_under)) {
    grid.notes.push_back(*std::move(uneven));
  }
  if (auto slower = OneWorkerIsSlower(grid.configurations, predictor.facts())) {
    grid.notes.push_back(*std::move(slower));
  }
  return grid;
}

// Appends the configurations of `more`, and the notes that `grid` does not have yet.
void Append(Grid more, Grid& grid) {
  for (Configuration& one : more.configurations) grid.configurations.push_back(std::move(one));
  for (LeftOut& one : more.left_out) grid.left_out.push_back(std::move(one));
  for (Statement& note : more.notes) {
    if (std::find(grid.notes.begin(), grid.notes.end(), note) == grid.notes.end()) {
      grid.notes.push_back(std::move(note));
    }
  }
}

}  // namespace

Predicted<Grid> PredictGrid(const Diagnosis& diagnosis, const GridRequest& asked) {
  if (Statement missing = NotEnough(diagnosis); !missing.empty()) return Refuse(std::move(missing));
  GridRequest request = asked;
  std::optional<Grid> grid;
  std::vector<LeftOut> refused;
  ErrorKind kind = ErrorKind::kInput;
  for (const double cores :
       asked.cores.empty() ? std::vector<double>{asked.changes.cores} : asked.cores) {
    request.changes.cores = cores;
    request.changes.several = asked.cores.size() > 1;
    Predicted<Grid> one = PredictOnOneMachine(diagnosis, request);
    if (!one) {
      kind = one.error().kind;
      const Pipeline& recorded = diagnosis.loader->pipeline;
      refused.push_back({recorded.workers, recorded.prefetch, 0, cores, one.error().why});
    } else if (grid) {
      Append(*std::move(one), *grid);
    } else {
      grid = *std::move(one);
    }
  }
  if (!grid) return Refuse(std::move(refused.front().why), kind);
  grid->several_machines = asked.cores.size() > 1;
  for (LeftOut& one : refused) grid->left_out.push_back(std::move(one));
  if (grid->configurations.empty() && !grid->left_out.empty()) {
    // Measuring other settings would hang such a program.
    Statement why = std::move(grid->left_out.front().why);
    if (why.Is(words::kProcessesMoved)) return Refuse(std::move(why));
    return Refuse(Say<words::kNothingLeft>(Give<"why">(std::move(why))));
  }
  return *std::move(grid);
}

}  // namespace penstock::analyzer
