// SPDX-License-Identifier: Apache-2.0
#include "analyzer/measure/device_steps.h"

#include <algorithm>
#include <cstddef>
#include <vector>

namespace penstock::analyzer {

void UseDevice(const LoaderRun& run, const DeviceRecords& records, const SteadyState& steady,
               Pipeline& pipeline) {
  if (!records.kernels() || records.batches.size() != run.batches.size()) return;
  const std::vector<Demand*> demands = BatchesOf(pipeline);
  if (demands.size() != run.batches.size()) return;
  double before = 0;
  double after = 0;
  std::int64_t done = kNever;  // end of the device's work on earlier batches
  for (std::size_t i = 0; i < demands.size(); ++i) {
    const Batch& batch = run.batches[i];
    const BatchOnDevice& on = records.batches[i];
    Demand& demand = *demands[i];
    before += demand.step;
    const bool last =
        i + 1 == demands.size() || run.batches[i + 1].key.generation != batch.key.generation;
    if (on.end != kNever && batch.was_delivered() && !steady.paused[i] && !last) {
      const double busy =
          static_cast<double>(std::max<std::int64_t>(0, on.end - std::max(batch.delivered, done))) *
          1e-9;
      // The device works on while the loop takes the next batch.
      const double beside = pipeline.pin_thread ? demand.next : demand.get + demand.next;
      const double whole = std::max(demand.step + demand.h2d, busy - beside);
      demand.h2d = std::min(on.exposed, whole);
      demand.step = whole - demand.h2d;
    }
    done = std::max(done, on.end);
    after += demand.step;
  }
  // The CPU does not compute in the time that the device adds.
  if (after > before && after > 0) pipeline.step_load *= before / after;
}

}  // namespace penstock::analyzer
