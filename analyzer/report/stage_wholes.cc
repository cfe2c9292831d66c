// SPDX-License-Identifier: Apache-2.0
#include "analyzer/report/stage_wholes.h"

#include <algorithm>
#include <array>
#include <map>

#include "analyzer/report/report.h"

namespace penstock::analyzer {
namespace {

using traces::StageId;

constexpr std::array kOnDevices = {StageId::kH2d, StageId::kCopy, StageId::kKernel, StageId::kSync};

bool IsOnDevices(StageId stage) {
  return std::find(kOnDevices.begin(), kOnDevices.end(), stage) != kOnDevices.end();
}

// The end of the last work of devices.
std::int64_t LastOnDevices(const StageTable& table) {
  std::int64_t last = kNever;
  for (const StageId stage : kOnDevices) last = std::max(last, table[stage].last.value);
  return last;
}

struct OfLoop {
  const Batch* batch = nullptr;
  bool first = false;  // it is of the first of the loaders that are used together
};

// Loaders of a training process that are used together.
struct Together {
  std::size_t loop = 0;
  std::vector<OfLoop> taken;
};

// The steps of a loop that uses loaders together.
void AddSteps(Together& together, std::vector<LoopStep>& steps) {
  std::vector<OfLoop>& taken = together.taken;
  std::sort(taken.begin(), taken.end(), [](const OfLoop& a, const OfLoop& b) {
    return a.batch->delivered < b.batch->delivered;
  });
  bool open = false;
  for (const OfLoop& one : taken) {
    if (one.batch->delivered == kNever) continue;
    if (one.first) {
      steps.push_back({one.batch, 0, together.loop});
      open = true;
    }
    if (!open) continue;
    if (!one.first) steps.back().others.push_back(one.batch);
    steps.back().seconds += one.batch->loop_step();
    if (one.batch->step_end != kNever || one.batch->next_wait != kNever) continue;
    steps.pop_back();  // it did not end
    open = false;
  }
}

}  // namespace

double StageWholes::Of(StageId stage) const {
  if (OfWorkers(stage)) return making;
  if (stage == StageId::kIdle) return lives;
  if (stage == StageId::kStartup) return run;  // before the loop's first wait
  return IsOnDevices(stage) ? devices : loop;
}

bool StageWholes::HasUnended(StageId stage) const {
  constexpr double kNotable = 0.005;
  return IsOnDevices(stage) && devices > (1 + kNotable) * loop;
}

StageWholes WholesOf(const RunModel& run, const StageTable& table, const PartOfRun* part) {
  StageWholes wholes;
  wholes.making = table.DataTime();
  wholes.run = part == nullptr ? run.duration() : part->seconds;
  const std::int64_t last = LastOnDevices(table);
  std::map<std::uint32_t, const Batch*> last_of;  // by training process
  for (const LoaderRun& loader : run.loaders) {
    for (const Batch& batch : loader.batches) {
      if (part != nullptr && !(batch.was_delivered() && part->holds(batch.wait_start))) continue;
      wholes.loop += batch.wait() + batch.loop_step();
      if (!batch.was_delivered()) continue;
      const Batch*& latest = last_of[loader.config.consumer.value];
      if (latest == nullptr || batch.delivered > latest->delivered) latest = &batch;
    }
    for (const WorkerRun& worker : loader.workers) wholes.lives += worker.busy + worker.idle;
    if (part != nullptr) continue;
    // The next() that ends an epoch is a wait too.
    for (const Epoch& epoch : loader.epochs) wholes.loop += epoch.stop;
  }
  double unended = 0;
  for (const auto& [process, batch] : last_of) {
    if (batch->step_end == kNever && last > batch->delivered) {
      unended += Seconds(TimeNs{last - batch->delivered});
    }
  }
  if (wholes.loop <= 0) {
    wholes.loop = wholes.run;
    unended = 0;
  }
  wholes.devices = wholes.loop + unended;
  if (part != nullptr) {
    wholes.lives = Seconds(table[StageId::kIdle].wall) + Seconds(table[StageId::kFetch].wall);
  }
  wholes.lives = std::max(wholes.lives, 1e-9);
  return wholes;
}

double UnnamedTime(StageId stage, const StageTotals& totals) {
  constexpr double kNotable = 0.01;
  if (stage != StageId::kAugment || totals.children.empty()) return 0;
  const double whole = Seconds(totals.wall);
  double rest = whole;
  for (const auto& [name, part] : totals.children) rest -= Seconds(part.wall);
  return rest > kNotable * whole ? rest : 0;
}

bool DerivesSteps(const RunModel& run) {
  return run.stages[StageId::kStep].count == 0 ||
         std::any_of(run.loaders.begin(), run.loaders.end(),
                     [](const LoaderRun& loader) { return loader.use == LoopUse::kInterleaved; });
}

std::vector<LoopStep> StepsOf(const RunModel& run) {
  std::vector<LoopStep> steps;
  std::map<std::uint32_t, Together> together;  // by training process
  for (std::size_t l = 0; l < run.loaders.size(); ++l) {
    const LoaderRun& loader = run.loaders[l];
    if (loader.use == LoopUse::kInterleaved) {
      auto& [loop, taken] = together[loader.config.consumer.value];
      const bool first = taken.empty();
      if (first) loop = l;
      for (const Batch& batch : loader.batches) taken.push_back({&batch, first});
      continue;
    }
    for (const Batch& batch : loader.batches) {
      if (batch.delivered != kNever && batch.step_end != kNever)
        steps.push_back({&batch, batch.step(), l});
    }
  }
  for (auto& [process, loaders] : together) AddSteps(loaders, steps);
  return steps;
}

}  // namespace penstock::analyzer
