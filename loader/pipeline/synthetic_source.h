// SPDX-License-Identifier: Apache-2.0
//
// A data set without files, whose samples are only numbers, for pipelines with synthetic stages.
// Immutable, thread-safe.
#pragma once

#include <cstdint>
#include <string_view>

#include "loader/source/source.h"

namespace penstock::loader {

class SyntheticSource final : public Source {
 public:
  // Requires: samples > 0, classes > 0. The label of a sample is its index modulo `classes`.
  SyntheticSource(std::uint64_t samples, std::uint64_t classes)
      : samples_(samples), classes_(classes) {}

  [[nodiscard]] std::uint64_t size() const override { return samples_; }
  [[nodiscard]] Result<SampleRef> At(std::uint64_t index, SampleScratch& scratch) const override;
  [[nodiscard]] std::string_view kind() const override { return "synthetic"; }
  [[nodiscard]] std::uint64_t classes() const override { return classes_; }

 private:
  std::uint64_t samples_;
  std::uint64_t classes_;
};

}  // namespace penstock::loader
