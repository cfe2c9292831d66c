// SPDX-License-Identifier: Apache-2.0
#include "analyzer/model/run_model.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "analyzer/model/loader_records.h"
#include "analyzer/model/loop_use.h"
#include "analyzer/model/main_rank.h"
#include "analyzer/model/run_builder.h"
#include "analyzer/model/taking_thread.h"
#include "analyzer/model/threads_beside.h"
#include "analyzer/stats/quantile.h"

namespace penstock::analyzer {
namespace {

bool ByKey(const Batch& a, const Batch& b) {
  return a.key.generation != b.key.generation ? a.key.generation < b.key.generation
                                              : a.key.index < b.key.index;
}

// Whether threads filled the batches sample by sample, instead of fetching them whole.
bool FilledBySamples(const LoaderRun& run) {
  std::size_t filled = 0;
  for (const Batch& batch : run.batches) {
    filled += batch.was_fetched() && !batch.whole && batch.fetch_thread != batch.wait_thread;
  }
  return filled * 2 > run.batches.size();
}

// The number of batches in flight of a loader that is filled sample by sample: the most that were
// in progress at once. A batch is in progress from its first sample to the end of its step.
int DepthInUse(const LoaderRun& run) {
  std::vector<std::pair<std::int64_t, int>> changes;
  for (const Batch& batch : run.batches) {
    if (!batch.was_fetched()) continue;
    changes.emplace_back(batch.fetch_start, 1);
    changes.emplace_back(batch.step_end == kNever ? batch.delivered : batch.step_end, -1);
  }
  std::sort(changes.begin(), changes.end());  // at equal times, ends come first
  int now = 0;
  int most = 1;
  for (const auto& [at, change] : changes) most = std::max(most, now += change);
  return most;
}

// Guesses the arguments of a loader without recorded facts from its spans and events. Workers of
// later epochs may be new processes, so the first epoch tells how many there are. The depth follows
// from the number of index messages (one for each batch) before the first batch was received. The
// return of next() is too late: PyTorch sends one more message before it.
void InferConfig(LoaderRun& run) {
  run.inferred = true;
  run.config.sample_tasks = FilledBySamples(run);
  if (run.epochs.empty()) return;
  const Epoch& epoch = run.epochs.front();
  const Batch& first = run.batches[epoch.first];
  // A pin thread may receive the first batch before the loop calls next().
  const std::int64_t received =
      first.got == kNever ? first.delivered : std::max(first.got, first.wait_start);
  std::set<std::uint32_t> fetchers;
  int before_first = 0;
  for (std::size_t i = epoch.first; i < epoch.first + epoch.count; ++i) {
    const Batch& batch = run.batches[i];
    if (batch.was_fetched() && batch.fetch_thread != batch.wait_thread) {
      fetchers.insert(batch.fetch_thread);
    }
    if (batch.index_sent != kNever && batch.index_sent < received) ++before_first;
  }
  run.config.num_workers = static_cast<int>(fetchers.size());
  if (run.config.sample_tasks) {
    run.config.persistent_workers = true;
    run.config.prefetch_factor = DepthInUse(run);
    return;
  }
  if (before_first > 0 && run.config.num_workers > 0) {
    run.config.prefetch_factor = std::max(1, before_first / run.config.num_workers);
  }
}

void FindEpochs(LoaderRun& run, const RunBuilder& builder) {
  for (std::size_t i = 0; i < run.batches.size(); ++i) {
    const Batch& batch = run.batches[i];
    if (run.epochs.empty() || run.epochs.back().generation != batch.key.generation) {
      const Iterator iterator{batch.consumer, batch.key.generation};
      Epoch epoch;
      epoch.generation = batch.key.generation;
      epoch.first = i;
      epoch.start = builder.epochs().StartOf(iterator, batch.wait_start);
      epoch.ended = builder.epochs().Ended(iterator);
      epoch.stop = builder.epochs().StopOf(iterator);
      run.epochs.push_back(epoch);
    }
    ++run.epochs.back().count;
  }
  // An epoch that another epoch follows has ended, even if its iterator was not exhausted.
  for (std::size_t i = 0; i + 1 < run.epochs.size(); ++i) run.epochs[i].ended = true;
}

// The threads that made samples, in the training process and in processes that work for it. Spans
// do not tell which loader a thread belongs to, so each loader gets all of these threads.
void FindThreads(const LoaderRun& run, const RunBuilder& builder,
                 std::span<const traces::ThreadInfo> threads,
                 std::map<std::uint32_t, WorkerRun>& workers) {
  for (std::uint32_t i = 0; i < threads.size(); ++i) {
    const ThreadWork& work = builder.WorkOf(i);
    if (work.samples == 0 || builder.consumers().Of(threads[i].process) != run.config.consumer)
      continue;
    WorkerRun& worker = workers[i];
    worker.process = threads[i].process;
    worker.worker_id = static_cast<std::int32_t>(workers.size()) - 1;
    worker.busy = work.busy;
    worker.cpu = work.cpu;
    worker.first = work.first;
    worker.last = work.last;
  }
  for (const Batch& batch : run.batches) {
    const auto finisher = workers.find(batch.fetch_thread);
    if (batch.was_fetched() && finisher != workers.end()) ++finisher->second.batches;
  }
}

void FindWorkers(LoaderRun& run, const RunBuilder& builder, bool cut,
                 std::span<const traces::ThreadInfo> threads,
                 std::span<const traces::ProcessInfo> processes) {
  std::map<std::uint32_t, WorkerRun> workers;  // by thread, since workers may be threads
  const bool fetches = std::any_of(run.batches.begin(), run.batches.end(),
                                   [](const Batch& batch) { return batch.whole; });
  for (const Batch& batch : run.batches) {
    if (run.config.sample_tasks) break;
    if (!batch.was_fetched()) continue;
    WorkerRun& worker = workers[batch.fetch_thread];
    worker.process = ProcessId{static_cast<std::uint32_t>(batch.worker_process)};
    worker.worker_id = processes[worker.process.value].worker_id;
    worker.seen = threads[batch.fetch_thread].first.value;
    worker.first =
        worker.first == kNever ? batch.fetch_start : std::min(worker.first, batch.fetch_start);
    // In a file that was cut, a batch may have only some of its samples. Such a batch counts for
    // `first` only. A batch that was not delivered is not in the run.
    if (cut && fetches && !batch.whole) continue;
    ++worker.batches;
    worker.busy += batch.fetch.wall;
    worker.cpu += batch.fetch.cpu;
    worker.last = std::max(worker.last, batch.fetch_end);
  }
  if (run.config.sample_tasks) {
    FindThreads(run, builder, threads, workers);
    if (run.config.num_workers > 0) {
      run.config.num_workers = std::max(run.config.num_workers, static_cast<int>(workers.size()));
    }
  }
  for (auto& [thread, worker] : workers) {
    worker.idle = builder.IdleOf(thread);
    run.workers.push_back(worker);
  }
}

// Batches have one size, except that the last batch of an epoch can be smaller; with an iterable
// dataset, the last batch of each worker. So the last `num_workers` batches of an epoch stay as
// they are. An earlier batch that seems smaller is assumed to have lost spans. This is wrong, by
// less than one batch, for a worker whose part of an iterable dataset ended early.
void RestoreSamples(LoaderRun& run, std::uint64_t size) {
  const auto last = static_cast<std::size_t>(std::max(1, run.config.num_workers));
  for (const Epoch& epoch : run.epochs) {
    for (std::size_t i = epoch.first; i + last < epoch.first + epoch.count; ++i) {
      Batch& batch = run.batches[i];
      if (batch.samples > 0 && batch.samples < size) batch.samples = size;
    }
  }
}

void CountSamples(LoaderRun& run) {
  std::vector<double> samples;
  for (const Batch& batch : run.batches) {
    if (batch.samples > 0) samples.push_back(static_cast<double>(batch.samples));
  }
  auto median = static_cast<std::uint64_t>(Median(std::move(samples)));
  const int told = run.config.batch_size > 0 ? run.config.batch_size : run.config.batch_length;
  const auto size = static_cast<std::uint64_t>(std::max(0, told));
  // A dataset with __getitems__, or one that makes batches itself, has one span for a batch.
  if (median == 1 && size > 1) {
    for (Batch& batch : run.batches) batch.samples = batch.sample_costs = 0;
    run.samples_per_span = size;
    median = 0;
  }
  if (size > 0 && median == size) RestoreSamples(run, size);
  run.samples_known = median > 0 || size > 0;
  run.samples_per_batch = std::max<std::uint64_t>(1, median > 0 ? median : size);
}

// A batch without recorded costs of its samples takes the costs of the last batch before it that
// has them, else of the first batch that has them. Costs are left out only in long runs, whose
// batches are alike.
void ShareSamples(LoaderRun& run) {
  const auto keeps = [](const Batch& batch) { return batch.sample_costs > 0; };
  const auto kept = std::find_if(run.batches.begin(), run.batches.end(), keeps);
  if (kept == run.batches.end()) return;
  Batch own = *kept;
  for (Batch& batch : run.batches) {
    if (keeps(batch)) {
      // A short batch at the end of an epoch does not lend its costs to others.
      if (batch.sample_costs >= std::min(own.sample_costs, run.samples_per_batch)) own = batch;
    } else if (batch.samples > 0) {
      batch.first_sample = own.first_sample;
      batch.sample_costs = std::min(own.sample_costs, static_cast<std::size_t>(batch.samples));
    }
  }
}

// Copies the costs of samples to their loader, in the order of its batches.
void TakeSamples(LoaderRun& run, const std::vector<SampleCost>& all) {
  std::size_t count = 0;
  for (const Batch& batch : run.batches) count += batch.sample_costs;
  run.samples.reserve(count);
  for (Batch& batch : run.batches) {
    const auto from = all.begin() + static_cast<std::ptrdiff_t>(batch.first_sample);
    batch.first_sample = run.samples.size();
    run.samples.insert(run.samples.end(), from,
                       from + static_cast<std::ptrdiff_t>(batch.sample_costs));
  }
  ShareSamples(run);
}

// Moves the loader that the user asked for to the front.
void PutFirst(std::vector<LoaderRun>& loaders, std::string_view name) {
  const auto named = std::find_if(loaders.begin(), loaders.end(),
                                  [name](const LoaderRun& run) { return run.name == name; });
  if (!name.empty() && named != loaders.end()) std::rotate(loaders.begin(), named, named + 1);
}

void FindLoaders(RunModel& model, RunBuilder& builder, const traces::Trace& trace,
                 std::string_view first) {
  const std::vector<SampleCost> samples = builder.TakeSamples();
  std::map<std::pair<std::uint32_t, int>, LoaderRun> runs;  // by training process and loader id
  std::map<std::uint32_t, std::vector<LoaderConfig>> known;
  for (std::uint32_t i = 0; i < trace.processes().size(); ++i) {
    known[i] = ReadLoaders(trace.processes()[i].facts, ProcessId{i});
  }
  const auto loader_of = [&](const Batch& batch) {
    const std::uint32_t consumer = batch.consumer.value;
    int id = LoaderOfGeneration(trace.processes()[consumer].facts, batch.key.generation);
    if (id < 0 && known[consumer].size() == 1) id = known[consumer].front().id;
    return std::make_pair(consumer, id);
  };
  std::map<std::pair<std::uint32_t, int>, std::size_t> counts;
  for (const Batch& batch : builder.batches()) {
    if (batch.was_delivered()) ++counts[loader_of(batch)];
  }
  for (const auto& [key, count] : counts) {
    LoaderRun& run = runs[key];
    run.config.consumer = ProcessId{key.first};
    for (const LoaderConfig& config : known[key.first]) {
      if (config.id == key.second) run.config = config;
    }
    run.batches.reserve(count);
  }
  for (const Batch& batch : builder.batches()) {
    if (batch.was_delivered()) runs[loader_of(batch)].batches.push_back(batch);
  }
  builder.batches().clear();
  for (auto& [key, run] : runs) {
    if (run.config.id < 0) {
      run.config.kind =
          trace.processes()[key.first].features & wire::kFeaturePython ? "pytorch" : "other";
    }
    std::sort(run.batches.begin(), run.batches.end(), ByKey);
    FindEpochs(run, builder);
    if (run.config.id < 0) InferConfig(run);
    FindWorkers(run, builder, model.cut, trace.threads(), trace.processes());
    CountSamples(run);
    TakeSamples(run, samples);
    run.probes = ProbeWindowsOf(trace, run.config.consumer);
    model.loaders.push_back(std::move(run));
  }
  NameLoaders(model.loaders);
  FindLoopUse(model.loaders);
  PutMostAwaitedFirst(model.loaders);
  PutSlowestRankFirst(model);
  PutFirst(model.loaders, first);
  if (!model.loaders.empty()) FindThreadsBeside(model.loaders.front(), builder, trace.threads());
  FindHelpers(model, builder, trace);
}

// The records of each process that uses devices, for a trace without loaders.
std::vector<DeviceRecords> ReadDevicesAlone(const traces::Trace& trace) {
  std::set<std::uint32_t> processes;
  for (const traces::ThreadInfo& thread : trace.threads()) {
    if (DeviceOf(thread)) processes.insert(thread.process.value);
  }
  std::vector<DeviceRecords> records;
  for (const std::uint32_t process : processes) {
    LoaderRun none;
    none.config.consumer = ProcessId{process};
    records.push_back(ReadDeviceRecords(trace, none));
  }
  return records;
}

// The reads on the host of the main loader. The clocks of two hosts can differ by more than a read
// takes, so it is not known which reads of two hosts overlapped.
std::vector<ReadSpan> ReadsOnOneHost(const RunModel& model, const std::vector<ReadSpan>& all) {
  if (!model.has_loader() || model.ranks.hosts.size() < 2) return all;
  const std::vector<std::size_t>& hosts = model.ranks.host_of;
  const std::size_t ours = hosts[model.loader().config.consumer.value];
  std::vector<ReadSpan> reads;
  for (const ReadSpan& read : all) {
    if (hosts[read.consumer] == ours) reads.push_back(read);
  }
  return reads;
}

// The CPU masks of the workers or, if none was recorded, of the training processes.
std::vector<std::string_view> MasksOfMakers(const traces::Trace& trace, const RunModel& model) {
  std::vector<std::string_view> masks;
  for (const auto role : {wire::kRoleWorker, wire::kRoleConsumer}) {
    for (std::uint32_t i = 0; i < trace.processes().size(); ++i) {
      const traces::ProcessInfo& process = trace.processes()[i];
      const auto mask = process.facts.find("process.affinity");
      if (!model.ranks.places.empty() && !model.IsOurs(ProcessId{i})) continue;
      if (process.role == role && mask != process.facts.end()) masks.push_back(mask->second);
    }
    if (!masks.empty()) break;
  }
  return masks;
}

}  // namespace

RunModel BuildRunModel(const traces::Trace& trace, std::string_view loader) {
  RunModel model;
  model.host = ReadHost(trace.facts());
  model.ranks = ReadRankLayout(trace);
  model.begin = trace.begin();
  model.end = std::max(trace.begin(), trace.end());
  model.cut = trace.losses().truncated;
  const std::string mode = TextFact(trace.facts(), "record.mode");
  model.collected = mode == "collector" || mode == "merged";
  model.imported = mode == "imported";
  for (const traces::ProcessInfo& process : trace.processes()) {
    model.roles.push_back(process.role);
    if (process.role == wire::kRoleConsumer) ++model.consumers;
    model.mapped = model.mapped || (process.features & wire::kFeatureMapped) != 0;
  }
  model.last_of.assign(trace.processes().size(), kNever);
  model.counters = ReadCounters(trace);
  RunBuilder builder(trace, model);
  for (std::uint32_t i = 0; i < trace.processes().size(); ++i) {
    model.consumer_of.push_back(builder.consumers().Of(ProcessId{i}));
  }
  RemoveWalksOfOrphans(model.roles, model.consumer_of, model.counters);
  builder.WalkSpans();
  const std::vector<ReadSpan> reads = builder.TakeReads();
  model.picture_format = builder.formats().Main();
  model.files = builder.files();
  builder.WalkEvents();
  builder.MatchWaits();
  builder.AttributeCopies();
  FindLoaders(model, builder, trace, loader);
  model.reads = FitReads(ReadsForBatches(ReadsOnOneHost(model, reads)));
  for (LoaderRun& run : model.loaders) run.turns = MeasureTurns(ReadsFor(run, reads));
  ShareSampleTimes(builder.TakeTimes(), model.loaders);
  if (model.has_loader()) model.reads.turns = model.loader().turns;
  if (model.has_loader()) {
    const RankPlace* place = model.ranks.Find(model.loader().config.consumer);
    if (place != nullptr) model.host = ShareOf(model.ranks.hosts[place->host], *place);
  }
  if (model.stages[traces::StageId::kKernel].count == 0) {
    for (LoaderRun& run : model.loaders) run.handed_on = HandsBatchesOn(trace, run);
  }
  NarrowAffinity(model.host, MasksOfMakers(trace, model));
  const std::uint64_t on_device =
      model.stages[traces::StageId::kKernel].count + model.stages[traces::StageId::kCopy].count +
      model.stages[traces::StageId::kH2d].count + model.stages[traces::StageId::kCall].count;
  if (on_device == 0) return model;
  if (model.has_loader()) {
    model.device = ReadDeviceRecords(trace, model.loader());
  } else {
    model.devices_alone = ReadDevicesAlone(trace);
  }
  return model;
}

}  // namespace penstock::analyzer
