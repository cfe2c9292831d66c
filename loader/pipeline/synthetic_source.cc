// SPDX-License-Identifier: Apache-2.0
#include "loader/pipeline/synthetic_source.h"

#include <array>
#include <charconv>

namespace penstock::loader {

Result<SampleRef> SyntheticSource::At(std::uint64_t index, SampleScratch& scratch) const {
  std::array<char, 24> digits{};
  const auto [end, error] = std::to_chars(digits.data(), digits.data() + digits.size(), index);
  scratch.name.assign("synthetic:");
  scratch.name.append(digits.data(), end);
  SampleRef ref;
  ref.name = scratch.name;
  ref.label = static_cast<std::int64_t>(index % classes_);
  return ref;
}

}  // namespace penstock::loader
