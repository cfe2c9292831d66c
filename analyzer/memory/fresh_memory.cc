// SPDX-License-Identifier: Apache-2.0
#include "analyzer/memory/fresh_memory.h"

#include <algorithm>
#include <optional>
#include <string>

#include "analyzer/memory/page_faults.h"

namespace penstock::analyzer {
namespace {

constexpr double kWholeFault = 2;           // cost of a fault, in first touches of a page
constexpr double kSharedFile = 0.13e-3;     // seconds to make, map and free a shared file
constexpr double kMappedBlock = 128 << 10;  // bytes; glibc maps a block of this size by itself

// Whether glibc manages the memory. Other allocators give memory back by their own rules, in the
// training process as in workers.
bool IsGlibc(const traces::Trace& trace) {
  const auto& processes = trace.processes();
  return std::all_of(processes.begin(), processes.end(), [](const auto& process) {
    const std::string allocator = TextFact(process.facts, "allocator");
    return allocator.empty() || allocator == "libc";
  });
}

// Pages that a worker maps anew for each sample, and how far this number may be off.
struct Pages {
  double sample = 0;
  double doubt = 0;
};

// `kept`: pages that a sample keeps until its batch is complete; `picture`: pages of its decoded
// picture; `torch_share`: the part of `kept` that PyTorch allocated. PyTorch's part is mapped anew
// either for each sample or hardly ever, so half of it is the estimate, and the other half is the
// doubt.
Pages EstimatedPages(double kept, double picture, bool picture_fits, double torch_share) {
  constexpr double kDoubt = 0.85;
  const double of_torch = torch_share * kept / 2;
  const double of_others = (1 - torch_share) * (kept + (picture_fits ? picture : 0) / 2);
  return {of_torch + of_others, of_torch + kDoubt * of_others};
}

Pages MeasuredPages(const PageFaults& faults, double kept, bool picture_fits) {
  constexpr double kDoubt = 0.3;  // ours
  const double most = picture_fits ? faults.avoidable() : std::min(faults.avoidable(), kept);
  return {most, kDoubt * most};
}

// Minor faults of a process for each batch that was delivered in the steady windows; 0 if there
// were too few batches in the windows.
double FaultsPerBatch(const CounterSeries& series, const RunModel& model,
                      const SteadyState& steady) {
  constexpr double kFewest = 8;  // batches
  const CounterGrowth faults = GrowthWithin(series, steady.windows, model.begin);
  const double batches = steady.batch_rate() * faults.seconds;
  return batches >= kFewest ? faults.value / batches : 0;
}

}  // namespace

FreshMemory MeasureFreshMemory(const traces::Trace& trace, const RunModel& model,
                               const LoaderRun& run, const Material& material,
                               const MemoryModel& memory) {
  const std::optional<FaultCost> cost = FaultCostOf(trace);
  const double bytes = material.sample_bytes * static_cast<double>(run.samples_per_batch);
  if (!cost || !(bytes > 0) || run.config.sample_tasks) return {};
  const double fault = kWholeFault * cost->seconds;
  FreshMemory fresh;
  fresh.batch = kSharedFile + bytes / cost->page * fault;
  if (!IsGlibc(trace)) return fresh;
  const auto pages = [&](double size) { return size >= kMappedBlock ? size / cost->page : 0; };
  const bool picture_fits = material.decoded_bytes <= bytes;
  Pages anew;
  if (run.config.num_workers == 0) {
    anew = EstimatedPages(pages(material.sample_bytes), pages(material.decoded_bytes), picture_fits,
                          material.torch_share);
  } else if (const auto faults = MeasurePageFaults(model, run, material, memory, *cost)) {
    anew = MeasuredPages(*faults, pages(material.sample_bytes), picture_fits);
  }
  fresh.sample = anew.sample * fault;
  fresh.doubt = anew.doubt * fault;
  return fresh;
}

double FirstTouch(const traces::Trace& trace, const RunModel& model, const LoaderRun& run,
                  const SteadyState& steady, double batch_bytes, bool shares, bool reads_batches) {
  const std::optional<FaultCost> cost = FaultCostOf(trace);
  const bool copied = run.config.pins || run.config.sample_tasks || !shares;
  if (!cost || copied || !(batch_bytes > 0)) return 0;
  const double pages = batch_bytes / cost->page;
  const double fault = kWholeFault * cost->seconds;
  if (run.config.num_workers == 0) return reads_batches ? pages * fault : 0;
  for (const CounterSeries& series : model.counters) {
    if (series.name != "minor_faults" || series.process != run.config.consumer) continue;
    const double faults = FaultsPerBatch(series, model, steady);
    return std::min(faults, pages) * fault;
  }
  return 0;
}

}  // namespace penstock::analyzer
