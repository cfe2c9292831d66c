// SPDX-License-Identifier: Apache-2.0
//
// The loaders that a program used, from the facts of the training process. Values.
#pragma once

#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "analyzer/model/host.h"
#include "traces/event.h"

namespace penstock::analyzer {

struct LoaderConfig {
  std::string kind = "other";  // pytorch | penstock | other
  int id = -1;                 // k in the facts loader.<k>.*; -1: no facts
  ProcessId consumer;
  int num_workers = 0;  // processes, or threads where `sample_tasks`
  bool workers_known = true;
  int prefetch_factor = 2;  // PyTorch's default; has no meaning without workers
  // Whether threads fill batches together, sample by sample. prefetch_factor is then the number of
  // all batches in flight, not for each worker.
  bool sample_tasks = false;
  int batch_size = 0;    // 0: not known
  int batch_length = 0;  // samples, if the dataset makes batches itself; 0: it does not, or unknown
  int descriptors = 0;   // file descriptors that pass a batch of a worker; 0: none, or not known
  bool pin_memory = false;  // as the program asked for it
  bool pins = false;        // batches really are pinned: PyTorch does so only if it finds a device
  bool persistent_workers = false;
  bool in_order = true;
  bool fixed_batch = false;  // one batch is delivered again and again; no others are made
  std::string package;       // the package of a loader of kind "other", if its hooks record it
  std::string start_method;
  std::string dataset_kind;
  std::int64_t dataset_length = -1;  // -1: not known, or without end
  std::int64_t epoch_batches = 0;    // batches of an epoch in this process, by its sampler; 0: not
                                     // known
  std::string made_at;               // "/home/a/train.py:88": the line of the program that made it
  std::string called_from;           // the line that called the function around `made_at`
  bool made_anew = false;            // these lines made such a loader more than once

  // Batches that may be in flight at once; without workers: none.
  [[nodiscard]] int credits() const {
    if (sample_tasks) return num_workers > 0 ? prefetch_factor : 0;
    return num_workers * prefetch_factor;
  }
  // Samples of the whole dataset; 0: not known. The length of a dataset that makes batches itself
  // counts batches.
  [[nodiscard]] double dataset_samples() const {
    if (dataset_length <= 0) return 0;
    const bool of_batches = batch_size <= 0 && batch_length > 0;
    return static_cast<double>(dataset_length) * (of_batches ? batch_length : 1);
  }
  // Batches of a whole epoch; 0: not known. If the sampler's number is not known, a process is
  // assumed to read the whole dataset, although each of several ranks reads only a part.
  [[nodiscard]] double whole_epoch() const {
    if (epoch_batches > 0) return static_cast<double>(epoch_batches);
    if (dataset_length <= 0) return 0;
    if (batch_size <= 0) {  // a dataset that returns batches counts batches
      return batch_length > 0 ? static_cast<double>(dataset_length) : 0;
    }
    return std::ceil(static_cast<double>(dataset_length) / batch_size);
  }
};

// The loaders in the facts of `process`, by id.
[[nodiscard]] std::vector<LoaderConfig> ReadLoaders(const Facts& facts, ProcessId process);

// Loader id of an iterator: the fact epoch.<generation>; -1 if unknown.
[[nodiscard]] int LoaderOfGeneration(const Facts& facts, std::uint16_t generation);

}  // namespace penstock::analyzer
