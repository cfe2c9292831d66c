// SPDX-License-Identifier: Apache-2.0
//
// Traces of a DataLoader whose costs are all known. The analyzer must find these costs.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "traces/trace.h"

namespace penstock::analyzer::testing {

// Costs of one batch in milliseconds.
struct Costs {
  double read = 1;
  double decode = 4;
  double augment = 2;
  double collate = 0.5;
  double put = 0.1;  // in the feeder thread of the worker
  double get = 0.3;  // in the training process
  double step = 4;
  double h2d = 0;  // at the beginning of the step
  double tokenize = 0;
};

struct Synthetic {
  int workers = 2;
  int prefetch = 2;
  int batch_size = 4;
  int batches = 200;  // of each epoch
  int epochs = 1;
  bool persistent = false;
  double worker_start = 2;  // ms for each worker, one after the other
  double worker_stop = 0;   // ms for each worker, in the next() that ends an epoch
  double cpu_share = 1;     // CPU time of computing stages over their wall time
  int cores = 8;
  std::uint64_t file_bytes = 100'000;
  std::uint64_t decoded_bytes = 600'000;  // of one image
  std::uint64_t sample_bytes = 150'528;
  std::string decoder = "jpeg";
  std::string file{};  // path of the file that all samples are read from
  std::string transform = "RandomResizedCrop";
  bool loader_facts = true;
  bool host_facts = true;
  bool events = true;
  bool sample_spans = true;
  // Costs of batch `index` of epoch `epoch`.
  std::function<Costs(int epoch, int index)> costs = [](int, int) { return Costs{}; };
};

// Requires: costs >= 0.
[[nodiscard]] traces::TraceData MakeSynthetic(const Synthetic& run);
[[nodiscard]] std::unique_ptr<traces::Trace> SyntheticTrace(const Synthetic& run);

// Adds a thread of the training process on which a library names what it does. In each step it
// decodes for 2 ms, then resizes for 1 ms, then has a range that names no stage. Requires: steps of
// 4 ms.
void AddNamedRanges(traces::TraceData& data);

// Adds a value of a counter of a process.
void AddCounter(traces::TraceData& data, const char* name, std::uint32_t process, double at_ms,
                double value);

// The same costs for every batch.
[[nodiscard]] std::function<Costs(int, int)> Always(Costs costs);

[[nodiscard]] constexpr TimeNs Ms(double milliseconds) {
  return TimeNs{static_cast<std::int64_t>(milliseconds * 1e6 + 0.5)};
}

}  // namespace penstock::analyzer::testing
