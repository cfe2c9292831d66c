// SPDX-License-Identifier: Apache-2.0
//
// The order of samples: the stream of one rank as batches, and each batch as samples. A pure
// function of the options, with O(1) memory for any number of samples. Immutable, thread-safe.
#pragma once

#include <cstdint>

#include "loader/pipeline/options.h"

namespace penstock::loader {

// One batch of the stream.
struct BatchPlace {
  std::uint64_t epoch = 0;
  std::uint64_t index = 0;     // in the epoch of this rank; counts from 0 also after resuming
  std::uint64_t position = 0;  // of its first sample in the epoch
  std::uint64_t valid = 0;     // samples in it
  bool last = false;           // of its epoch
};

class SampleOrder {
 public:
  // Errors: kInput if there are no samples; kUsage if the batch is empty, the rank is not below the
  // world size, or the run would resume after the end of an epoch or after the last epoch.
  static Result<SampleOrder> Make(std::uint64_t samples, const PipelineOptions& options);

  // Batches in the whole stream; ~0 if it has no end.
  [[nodiscard]] std::uint64_t batches() const { return batches_; }
  // Batches and samples of one whole epoch of this rank.
  [[nodiscard]] std::uint64_t epoch_batches() const { return Batches(EpochSamples(0)); }
  [[nodiscard]] std::uint64_t epoch_samples() const { return EpochSamples(0); }
  [[nodiscard]] std::uint64_t batch_size() const { return batch_; }
  [[nodiscard]] std::uint64_t samples() const { return samples_; }  // of the source

  // Requires: batch < batches().
  [[nodiscard]] BatchPlace At(std::uint64_t batch) const;
  // Position in the epoch of sample `i` of that batch. Requires: i < place.valid.
  [[nodiscard]] std::uint64_t Position(const BatchPlace& place, std::uint64_t i) const {
    return place.position + i * world_;
  }
  // Index in the dataset of the sample at that position of that epoch. Cost: some rounds of a
  // cipher.
  [[nodiscard]] std::uint64_t Sample(std::uint64_t epoch, std::uint64_t position) const;
  // Where a run continues after every rank has consumed this batch.
  [[nodiscard]] StreamPosition After(const BatchPlace& place) const;

 private:
  SampleOrder() = default;
  // Samples of this rank in an epoch from `position` on.
  [[nodiscard]] std::uint64_t EpochSamples(std::uint64_t position) const;
  [[nodiscard]] std::uint64_t FirstAtOrAfter(std::uint64_t position) const;
  [[nodiscard]] std::uint64_t Batches(std::uint64_t samples) const {
    return drop_last_ ? samples / batch_ : (samples + batch_ - 1) / batch_;
  }

  std::uint64_t samples_ = 0;
  std::uint64_t seed_ = 0;
  std::uint64_t rank_ = 0;
  std::uint64_t world_ = 1;
  std::uint64_t batch_ = 1;
  std::uint64_t batches_ = 0;
  std::uint64_t first_batches_ = 0;  // in the epoch in which the run resumes
  StreamPosition resume_;
  bool shuffle_ = true;
  bool drop_last_ = false;
};

}  // namespace penstock::loader
