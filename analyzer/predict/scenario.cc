// SPDX-License-Identifier: Apache-2.0
#include "analyzer/predict/scenario.h"

#include <algorithm>
#include <cmath>
#include <initializer_list>

#include "analyzer/model/loader_memory.h"
#include "analyzer/model/worker_use.h"

namespace penstock::analyzer {
namespace {

// docs/diagnosis.md 3.8: fitted to 27 runs of torch's DataLoader with constant service times.
constexpr double kWorkerOverhead = 0.8e-3;
constexpr double kConsumerOverhead = 0.8e-3;  // for a batch of one tensor
// Each further file descriptor is a connection to the worker, which both sides authenticate.
// Source: ours, samples that slept: a get took 1.0 ms with one tensor, 2.0 with three, 2.9 with
// six.
constexpr double kDescriptorOverhead = 0.4e-3;
// For batches through a pipe. A pipe was seen to carry 1e9 B/s; cedar already avoids worker
// processes near 1e8 B/s.
constexpr double kSecondsPerByte = 1e-9;
constexpr double kMostOfTouching = 0.9;        // of a step or a copy
constexpr double kPinSecondsPerByte = 0.2e-9;  // a copy in memory at 5 GB/s

template <class Change>
void ForEach(Pipeline& pipeline, Change change) {
  for (EpochDemand& epoch : pipeline.epochs) {
    for (Demand& demand : epoch.batches) change(demand);
  }
}

// Seconds of all batches.
struct Sums {
  double step = 0;
  double loop = 0;    // of the loop's own thread: steps, copies and the handover
  double making = 0;  // of all workers
  double cpu = 0;     // of workers and steps
  double batches = 0;
};
Sums SumsOf(const Pipeline& pipeline) {
  Sums sums;
  for (const EpochDemand& epoch : pipeline.epochs) {
    for (const Demand& demand : epoch.batches) {
      sums.step += demand.step;
      sums.loop += demand.step + demand.h2d + demand.next + demand.get;
      sums.making += demand.service();
      sums.cpu += demand.cpu() + pipeline.step_load * demand.step;
      sums.batches += 1;
    }
  }
  return sums;
}

void Add(Work& work, double seconds) {
  work.wall += seconds;
  work.cpu += seconds;
}

// Makes `parts` cheaper by `seconds` of CPU time in all, at most by nine tenths of their CPU time.
void Subtract(Demand& demand, std::initializer_list<Work Demand::*> parts, double seconds) {
  constexpr double kMost = 0.9;
  double cpu = 0;
  for (const auto part : parts) cpu += (demand.*part).cpu;
  if (!(cpu > 0)) return;
  const double share = std::min(kMost, seconds / cpu);
  for (const auto part : parts) Add(demand.*part, -share * (demand.*part).cpu);
}

// Adds the cost of fresh memory if batches of a loader are now made in workers (`in_workers`) and
// were not before. Otherwise subtracts it: they were made in workers before and are no longer.
void ChangeMemory(Pipeline& changed, std::size_t loader, bool in_workers,
                  const FreshMemory& fresh) {
  double doubt = 0;
  double service = 0;
  ForEach(changed, [&](Demand& demand) {
    if (demand.loader != loader) return;
    const double samples = demand.samples * fresh.sample;
    if (in_workers) {
      Add(demand.collate, fresh.batch);
      Add(demand.other, samples);
      (demand.h2d > 0 ? demand.h2d : demand.step) += fresh.touch;
    } else {
      Subtract(demand, {&Demand::collate}, fresh.batch);
      Subtract(demand, {&Demand::decode, &Demand::augment, &Demand::other}, samples);
      double& touching = demand.h2d > 0 ? demand.h2d : demand.step;
      touching -= std::min(fresh.touch, kMostOfTouching * touching);
    }
    doubt += demand.samples * fresh.doubt;
    service += demand.service();
  });
  if (service > 0) changed.doubt = std::hypot(changed.doubt, doubt / service);
}

// The share of making batches of `loader` in which code computes that neither reads nor decodes.
double ShareOfOtherCode(Pipeline& pipeline, std::size_t loader) {
  double other = 0;
  double service = 0;
  ForEach(pipeline, [&](const Demand& demand) {
    if (demand.loader != loader) return;
    other += demand.augment.cpu + demand.tokenize.cpu + demand.other.cpu;
    service += demand.service();
  });
  return service > 0 ? std::min(1.0, other / service) : 0;
}

// How long the training process waits on average for the descriptors of a batch while their worker
// makes another batch. A thread of the worker sends each one, and needs the interpreter for it.
// Source: ours, on two cores. Samples that held the interpreter: 2 to 3 ms for each descriptor in
// batches of 10 ms, 4 to 7 ms in batches of 100 ms. Samples of PyTorch's operators: 1.1 to 1.5 ms.
// Samples that slept: 0.5 ms.
double AskingFor(int descriptors, double other_code) {
  constexpr double kFree = 0.4e-3;  // the interpreter is free, as it is in most of decoding
  constexpr double kHeld = 2.5e-3;
  return descriptors * (kFree + (kHeld - kFree) * other_code);
}

// Widens the interval, since waiting for descriptors is assumed: it may take from half to one and
// a half times as long. The worker makes another batch for the share of the time in which it is
// busy, and has made half of it on average. What the loop has to wait anyway, it does not wait
// twice.
void DoubtAsking(Pipeline& changed, double asking) {
  const Sums sums = SumsOf(changed);
  if (changed.workers == 0 || !(sums.loop + sums.making > 0)) return;
  const double of_workers = sums.making / changed.workers;
  const double unasked = std::max({sums.loop, of_workers, sums.cpu / changed.cores});
  const double most = std::min(sums.batches * asking, 0.5 * sums.making);
  const double asked = most * std::min(1.0, of_workers / unasked);
  const double turn = std::max(unasked, sums.loop + asked);
  const double longer = std::max(0.0, sums.loop + 1.5 * asked - turn);
  changed.doubt = std::hypot(changed.doubt, longer / turn);
}

// Adds the handover to workers if a loader had none `before`. Removes it if it has none now.
void ChangeHandover(Pipeline& changed, std::size_t loader, int before, double batch_bytes,
                    bool pinned, const LoaderFacts& facts) {
  LoaderSetup& setup = loader == 0 ? changed : changed.beside[loader - 1];
  if ((before == 0) == (setup.workers == 0)) return;
  const bool in_workers = before == 0;
  setup.overhead = in_workers ? kWorkerOverhead : 0;
  setup.pin_thread = in_workers && pinned;
  setup.asking = in_workers && facts.shares
                     ? AskingFor(facts.descriptors, ShareOfOtherCode(changed, loader))
                     : 0;
  // The costs of fresh memory are known for the main loader. The samples of other loaders are
  // assumed to be like those of the main loader.
  FreshMemory fresh = facts.fresh;
  const double share = facts.batch_bytes > 0 ? batch_bytes / facts.batch_bytes : 1;
  fresh.batch *= share;
  fresh.touch *= share;
  ChangeMemory(changed, loader, in_workers, fresh);
  const double copied = facts.shares ? 0 : batch_bytes * kSecondsPerByte;
  const double taking =
      kConsumerOverhead +
      (facts.shares ? kDescriptorOverhead * std::max(0, facts.descriptors - 1) : 0);
  ForEach(changed, [&](Demand& demand) {
    if (demand.loader != loader) return;
    if (in_workers) {
      demand.get = taking + copied;
    } else {
      demand.put = demand.feed = demand.latency = demand.get = demand.next = 0;
    }
  });
}

// Adds the useful work of PyTorch's thread pool in the training process to the work of workers, in
// which PyTorch has one thread. The useful part is between nothing and a quarter of the pool's CPU
// time; in the rest the pool spins. The middle, an eighth, is assumed. OpenCV keeps its pool in
// workers, but the two pools cannot be told apart.
// Source: ours, samples of PyTorch operations on two cores: the pool used as much CPU time as the
// training process's own thread, and workers took 1.0 to 1.2 times as long for a sample.
void LeavePool(Pipeline& changed, const Pipeline& from) {
  constexpr double kShared = 0.125;
  if (from.workers != 0 || changed.workers == 0 || !(from.pool_cpu > 0)) return;
  const double shared = kShared * from.pool_cpu;
  double service = 0;
  double batches = 0;
  ForEach(changed, [&](Demand& demand) {
    if (demand.loader != 0) return;
    service += demand.service();
    batches += 1;
    Add(demand.other, shared);
  });
  if (service > 0) changed.doubt = std::hypot(changed.doubt, shared * batches / service);
}

// If several threads compute a step, they wait for each other again and again. If workers want the
// same cores, all threads wait for the one that has lost its core, and the step takes far longer.
// If a setting adds workers to a recording without workers, the part of the step in which workers
// compute takes up to 1 + kStall times as long as predicted. If it removes all workers, this part
// may be shorter than predicted by the same factor. Source: ours, a step of many short operations
// on two cores: 1.7 to 2.5 times.
void DoubtSteps(Pipeline& changed, const Pipeline& from) {
  constexpr double kSeveral = 1.3;  // threads
  constexpr double kStall = 1.5;
  if ((from.workers == 0) == (changed.workers == 0)) return;
  const int workers = std::max(from.workers, changed.workers);
  if (!from.step_load_known || from.step_load < kSeveral) return;
  if (from.step_load + workers <= from.cores) return;
  const Sums sums = SumsOf(changed);
  const double turn = std::max({sums.step, sums.making / workers, sums.cpu / from.cores});
  if (!(turn > 0)) return;
  const double longer = kStall * std::min(sums.step, sums.making) / turn;
  changed.doubt = std::hypot(changed.doubt, longer / (1 + longer));
}

// Widens the interval if a setting has more workers than cores, the recorded run had another number
// of workers, and the cores bound the rate. Workers that take turns on a core share its caches, and
// the loop may lose its core. Source: ours, two cores, programs that nobody had tuned for: four
// workers made -15, -9, -2, +6 and +14 % of what was predicted from one or two.
void DoubtTurns(Pipeline& changed, const Pipeline& from) {
  constexpr double kTurns = 0.1;      // with twice as many workers as cores
  constexpr double kNoneBelow = 0.7;  // of what bounds the rate
  if (changed.workers == from.workers || changed.workers <= changed.cores) return;
  const Sums sums = SumsOf(changed);
  const double of_cores = sums.cpu / changed.cores;
  const double turn = std::max({sums.loop, sums.making / changed.workers, of_cores});
  if (!(turn > 0)) return;
  const double bound = std::clamp((of_cores / turn - kNoneBelow) / (1 - kNoneBelow), 0.0, 1.0);
  const double more = std::min(1.0, (changed.workers - changed.cores) / changed.cores);
  changed.doubt = std::hypot(changed.doubt, kTurns * more * bound);
}

// Shortens steps to their length without workers on the loop's core. Keeps their CPU time.
void LeaveCoresToSteps(Pipeline& changed) {
  const double left = 1 - changed.step_delay;
  ForEach(changed, [&](Demand& demand) { demand.step *= left; });
  changed.step_load = std::min(changed.step_load / left, changed.cores);
  changed.step_delay = 0;
}

void ChangeWorkers(Pipeline& changed, const Pipeline& from, const LoaderFacts& facts) {
  if (changed.sample_tasks) return;
  LeavePool(changed, from);
  DoubtSteps(changed, from);
  DoubtTurns(changed, from);
  if (from.workers > 0 && changed.workers == 0) LeaveCoresToSteps(changed);
  changed.threads_moved = from.worker_threads && changed.workers == 0;
  changed.processes_moved = from.own_processes && changed.workers > 0;
  ChangeHandover(changed, 0, from.workers, facts.batch_bytes, facts.pinned, facts);
  for (std::size_t i = 0; i < changed.beside.size(); ++i) {
    const LoaderSetup& before = from.beside[i];
    ChangeHandover(changed, i + 1, before.workers, before.batch_bytes, before.pinned, facts);
  }
  if (from.workers == 0 && changed.workers > 0 && !facts.persistent && !changed.epochs.empty()) {
    for (EpochDemand& epoch : changed.epochs) epoch.warm_up = changed.epochs.front().warm_up;
  }
  if (from.workers > 0 && changed.workers == 0) {
    for (EpochDemand& epoch : changed.epochs) {
      epoch.worker_start.clear();
      // One process makes all batches.
      if (&epoch != &changed.epochs.front()) epoch.warm_up = Demand{};
    }
  }
}

// Loaders that the loop uses together with the main one get the main loader's new number of workers
// and depth. If these do not change, each loader keeps its own.
std::vector<LoaderSetup> BesideUnder(const Pipeline& recorded, const Setting& setting) {
  std::vector<LoaderSetup> beside = recorded.beside;
  if (setting.workers == recorded.workers && setting.prefetch == recorded.prefetch) return beside;
  for (LoaderSetup& setup : beside) {
    setup.workers = std::max(0, setting.workers);
    setup.prefetch = std::max(1, setting.prefetch);
  }
  return beside;
}

// Changes pinning for the main loader only. Loaders beside it keep theirs, as RamOf() assumes.
void ChangePin(Pipeline& changed, bool pin, const LoaderFacts& facts) {
  if (changed.sample_tasks || pin == facts.pinned) return;
  const double copy = pin ? facts.batch_bytes * kPinSecondsPerByte : 0;
  changed.pin_thread = pin && changed.workers > 0;
  ForEach(changed, [&](Demand& demand) {
    if (demand.loader == 0) demand.pin = copy;
  });
}

// Persistent workers already exist when later epochs begin. Other workers start in each epoch as in
// the first.
void ChangePersistence(Pipeline& changed, bool persistent, const LoaderFacts& facts) {
  if (persistent == facts.persistent || changed.epochs.empty()) return;
  const std::vector<double> first = changed.epochs.front().worker_start;
  for (EpochDemand& epoch : changed.epochs) {
    if (persistent) epoch.stop = 0;  // persistent workers end with the program
  }
  for (std::size_t e = 1; e < changed.epochs.size(); ++e) {
    std::vector<double>& starts = changed.epochs[e].worker_start;
    changed.epochs[e].one_more = persistent ? 0 : changed.epochs.front().one_more;
    changed.epochs[e].warm_up = persistent ? Demand{} : changed.epochs.front().warm_up;
    starts = persistent ? std::vector<double>(starts.size()) : first;
  }
}

// Sets the length of a step. The step computes during the same share of its time as the recorded
// one. If the recorded step was too short to tell the share, the new step computes for as long as
// the recorded one. It waits for the rest of its time, as a loop waits for a GPU.
void ChangeStep(Pipeline& changed, double step) {
  double recorded = 0;
  double turns = 0;  // batches of the main loader
  ForEach(changed, [&](Demand& demand) {
    recorded += demand.step;
    turns += demand.loader == 0 ? 1 : 0;
  });
  recorded /= std::max(1.0, turns);
  ForEach(changed, [&](Demand& demand) {
    if (changed.beside.empty()) {
      demand.step = step;
    } else if (recorded > 0) {
      demand.step *= step / recorded;
    } else {
      demand.step = demand.loader == 0 ? step : 0;
    }
  });
  if (changed.step_load_known || !(step > 0)) return;
  changed.step_load *= std::min(1.0, recorded / step);
}

}  // namespace

LoaderFacts FactsOf(const RunModel& model, const LoaderRun& run) {
  LoaderFacts facts;
  facts.batch_bytes = FilledBatchBytes(model, run);
  facts.batch_size = static_cast<double>(run.samples_per_batch);
  facts.persistent = run.config.persistent_workers;
  facts.pinned = run.config.pin_memory;
  facts.descriptors = run.config.descriptors;
  facts.most_workers = MostUsefulWorkers(run);
  facts.read = ReadWorkers(model, run.config.consumer);
  facts.worker_bytes = facts.read.bytes;
  return facts;
}

Pipeline Apply(const Pipeline& pipeline, const Setting& setting, const LoaderFacts& facts) {
  Pipeline changed = pipeline;
  changed.workers = std::max(0, setting.workers);
  changed.prefetch = std::max(1, setting.prefetch);
  if (setting.in_order) changed.in_order = *setting.in_order;
  changed.beside = BesideUnder(pipeline, setting);
  ChangeWorkers(changed, pipeline, facts);
  if (setting.pin) ChangePin(changed, *setting.pin, facts);
  if (pipeline.workers == 0 && !changed.sample_tasks && !changed.pin_thread) {
    DoubtAsking(changed, changed.asking);
  }
  if (setting.persistent) ChangePersistence(changed, *setting.persistent, facts);
  if (setting.step) ChangeStep(changed, *setting.step);
  if (setting.step_load) changed.step_load = *setting.step_load;
  for (const auto& [factor, scale] : setting.scale)
    ScaleFactor(changed, factor, scale, FirstBatches::kScaled);
  ScaleLoopTransforms(changed, setting.loop_transforms);
  if (changed.workers != pipeline.workers) DoubtThreads(changed);
  return changed;
}

double WorkerBytes(const LoaderFacts& facts, int workers) {
  if (facts.worker_bytes <= 0) return 0;
  // With another number of workers, at most the memory that has grown can be saved.
  const double grown = facts.growth.copied.grown + facts.growth.fresh.grown;
  const double least = std::max(0.0, facts.worker_bytes - grown);
  return std::max(least, facts.worker_bytes + facts.growth.Change(workers).estimate);
}

int AllWorkers(const Pipeline& pipeline, const Setting& setting) {
  int all = std::max(0, setting.workers);
  for (const LoaderSetup& other : BesideUnder(pipeline, setting)) all += other.workers;
  return all;
}

std::uint64_t RamOf(const Pipeline& pipeline, const Setting& setting, const LoaderFacts& facts) {
  const double batch = facts.batch_bytes;
  // Each credit holds a batch, and each worker makes one more. Pinned batches exist twice.
  const auto in_flight = [](double bytes, int workers, int prefetch, bool pinned) {
    return bytes * workers * (prefetch + 1) + (pinned ? bytes * workers * prefetch : 0);
  };
  double bytes = batch;
  if (pipeline.sample_tasks) {
    bytes = batch * (setting.prefetch + 1);
  } else {
    if (setting.workers > 0) {
      const bool pinned = setting.pin.value_or(facts.pinned);
      bytes = in_flight(batch, setting.workers, setting.prefetch, pinned);
    }
    for (const LoaderSetup& other : BesideUnder(pipeline, setting)) {
      bytes += in_flight(other.batch_bytes, other.workers, other.prefetch, other.pinned);
    }
    bytes += WorkerBytes(facts, setting.workers) * AllWorkers(pipeline, setting);
  }
  return static_cast<std::uint64_t>(std::max(0.0, bytes));
}

double SharedMemoryOf(const Pipeline& pipeline, const Setting& setting, const LoaderFacts& facts) {
  if (pipeline.sample_tasks || !facts.shares) return 0;
  double bytes = facts.batch_bytes * std::max(0, setting.workers) * (setting.prefetch + 1);
  for (const LoaderSetup& other : BesideUnder(pipeline, setting)) {
    bytes += other.batch_bytes * other.workers * (other.prefetch + 1);
  }
  return kSharedMargin * bytes;
}

}  // namespace penstock::analyzer
