// SPDX-License-Identifier: Apache-2.0
#include "analyzer/whatif/pipeline.h"

#include <algorithm>

namespace penstock::analyzer {
namespace {

// Adds the interval that ends with this delivery to the steady window.
void Count(const EpochDemand& epoch, std::size_t j, double interval, double wait, Outcome& out) {
  if (j < epoch.warm || !(interval > 0)) return;
  out.steady_time += interval;
  out.steady_wait += wait;
  out.steady_samples += epoch.batches[j].samples;
}

double SimulateSerial(const EpochDemand& epoch, Outcome& out) {
  double now = epoch.worker_start.empty() ? 0 : epoch.worker_start.front();
  double step = 0;
  for (std::size_t j = 0; j < epoch.batches.size(); ++j) {
    const Demand& demand = epoch.batches[j];
    const double wait = demand.service();
    Count(epoch, j, step + wait, wait, out);
    step = demand.step + demand.h2d;
    now += wait + step;
  }
  return now;
}

double SimulateWorkers(const Pipeline& pipeline, const EpochDemand& epoch, Outcome& out) {
  const auto workers = static_cast<std::size_t>(pipeline.workers);
  const std::size_t credits = workers * static_cast<std::size_t>(pipeline.prefetch);
  std::vector<double> free(workers, 0.0);
  double last_start = 0;
  for (std::size_t w = 0; w < workers; ++w) {
    last_start = w < epoch.worker_start.size()
                     ? epoch.worker_start[w]
                     : last_start + (epoch.worker_start.empty() ? 0 : pipeline.worker_start);
    free[w] = last_start;
  }
  std::vector<double> delivered(epoch.batches.size(), 0.0);
  double cpu_free = 0;
  double station_free = 0;
  double consumer = 0;
  double before = 0;
  for (std::size_t j = 0; j < epoch.batches.size(); ++j) {
    const Demand& demand = epoch.batches[j];
    double& worker = free[j % workers];
    const double start = std::max(worker, j < credits ? 0.0 : delivered[j - credits]);
    const double cpu =
        demand.cpu() + pipeline.worker_cpu + pipeline.transfer_cpu + pipeline.step_cpu;
    cpu_free = std::max(cpu_free, start) + cpu / pipeline.cores;
    const double finish = std::max(start + demand.service() + demand.put, cpu_free);
    worker = finish + pipeline.overhead;
    double available = finish + demand.latency;
    if (demand.station > 0) {
      station_free = std::max(station_free, available) + demand.station;
      available = station_free;
    }
    delivered[j] = std::max(consumer, available) + demand.serial;
    Count(epoch, j, delivered[j] - before, delivered[j] - consumer, out);
    before = delivered[j];
    consumer = delivered[j] + demand.step + demand.h2d;
  }
  return consumer;
}

}  // namespace

std::size_t Pipeline::batches() const {
  std::size_t count = 0;
  for (const EpochDemand& epoch : epochs) count += epoch.batches.size();
  return count;
}

Outcome Simulate(const Pipeline& pipeline) {
  Outcome out;
  for (const EpochDemand& epoch : pipeline.epochs) {
    out.time +=
        pipeline.workers > 0 ? SimulateWorkers(pipeline, epoch, out) : SimulateSerial(epoch, out);
    for (const Demand& demand : epoch.batches) out.samples += demand.samples;
  }
  return out;
}

}  // namespace penstock::analyzer
