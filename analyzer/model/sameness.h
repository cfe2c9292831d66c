// SPDX-License-Identifier: Apache-2.0
//
// Whether the epochs of the main loader repeat each other: which of its transforms returned the
// same for the same sample in every epoch, by the digests of some samples (traces/FORMAT.md).
// Values; pure. Digests that are equal are evidence, no proof: a change that comes to fewer than
// one sample in ten may be missed.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/model/run_model.h"
#include "traces/trace.h"

namespace penstock::analyzer {

// So many comparisons have to agree. Where a change meets a tenth of the samples, a pair agrees by
// chance with 0.82 (both epochs had it, or neither): 16 pairs all do in 4 % of the runs, the 30 of
// two epochs of a thousand samples in 0.3 %.
inline constexpr std::size_t kSamePairs = 16;

enum class Sameness { kUnknown, kSame, kDifferent };

struct EpochComparison {
  std::size_t digests = 0;  // finished samples that the trace has something about
  std::size_t samples = 0;  // of them, met in several epochs
  std::size_t pairs = 0;    // a sample in a later epoch with itself in an earlier one
  std::size_t epochs = 0;   // that they are of
  Sameness finished = Sameness::kUnknown;  // the sample as the dataset returned it
  // The outermost transforms, as they follow each other, up to the last whose results were always
  // the same.
  std::vector<std::string> prefix;
  std::size_t prefix_pairs = 0;  // that agreed on the last of them

  // Nothing could be compared: not even that there is chance is known.
  [[nodiscard]] bool unknown() const { return finished == Sameness::kUnknown && prefix.empty(); }
};

// Requires: run.has_loader(). Cost: one pass over the events.
[[nodiscard]] EpochComparison CompareEpochs(const traces::Trace& trace, const RunModel& run);

// What a transform is called that leaves something to chance, whatever its digests say.
[[nodiscard]] bool NamesChance(std::string_view transform);

// Seconds that the first `length` outermost transforms of each sample take in the epochs after the
// first, without decodes inside them. Requires: run.has_loader(). Cost: one pass over the spans.
[[nodiscard]] double PrefixTime(const traces::Trace& trace, const RunModel& run,
                                std::size_t length);

// Whether each worker of the main loader gives every sample, by whether the dataset asked which
// worker it is in.
enum class Sharding { kByIndex, kShards, kRepeats, kUnknown };
[[nodiscard]] Sharding ShardingOf(const traces::Trace& trace, const RunModel& run);

}  // namespace penstock::analyzer
