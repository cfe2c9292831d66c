// SPDX-License-Identifier: Apache-2.0
//
// Sources without files, and functions that run a pipeline to its end and compare runs.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "loader/pipeline/digest.h"
#include "loader/pipeline/pipeline.h"
#include "loader/pipeline/synthetic_source.h"

namespace penstock::loader::test {

// Samples that are only numbers; `trouble` may refuse some, or throw.
class DoubleSource final : public Source {
 public:
  using Trouble = std::function<Result<void>(std::uint64_t index)>;

  explicit DoubleSource(std::uint64_t samples, Trouble trouble = nullptr)
      : plain_(samples, 10), trouble_(std::move(trouble)) {}

  [[nodiscard]] std::uint64_t size() const override { return plain_.size(); }
  [[nodiscard]] Result<SampleRef> At(std::uint64_t index, SampleScratch& scratch) const override {
    if (trouble_) {
      if (Result<void> fine = trouble_(index); !fine) return tl::unexpected<Error>(fine.error());
    }
    return plain_.At(index, scratch);
  }
  [[nodiscard]] std::string_view kind() const override { return "double"; }
  [[nodiscard]] std::uint64_t classes() const override { return plain_.classes(); }

 private:
  SyntheticSource plain_;
  Trouble trouble_;
};

// Everything that a run delivered.
struct Delivered {
  std::vector<EpochDigest> digests;
  std::vector<std::uint64_t> ids;
  std::vector<std::int64_t> labels;
  std::vector<std::uint64_t> sizes;     // of the batches
  std::vector<std::uint64_t> epochs;    // of the batches
  std::vector<StreamPosition> resumes;  // after each batch
  std::string error;                    // that Start() or Next() gave
  ErrorKind error_kind = ErrorKind::kUsage;
  PipelineStats stats;
};

// Options of a pipeline that touches no file: augmentation of a grey image alone.
[[nodiscard]] PipelineOptions Synthetic(unsigned workers, unsigned batch);
[[nodiscard]] AugmentProgram Program(const char* ops = "random_crop=6,flip,brightness=0.5-1.5");
[[nodiscard]] Delivered RunAll(const Source& source, const PipelineOptions& options,
                               const AugmentProgram& program = Program());

// Expects equal samples and errors.
void ExpectSame(const Delivered& a, const Delivered& b, const std::string& what);

// Counts the calls of operator new, by any thread, while the second half of the epochs is
// delivered.
[[nodiscard]] std::uint64_t AllocationsInSteadyState(const Source& source,
                                                     const PipelineOptions& options,
                                                     const AugmentProgram& program);

}  // namespace penstock::loader::test
