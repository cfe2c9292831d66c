// SPDX-License-Identifier: Apache-2.0
//
// Finds whether the epochs of the main loader repeat each other: which of its transforms returned
// the same result for the same sample in every epoch. Compares the digests of some samples
// (traces/FORMAT.md). Values; pure. Equal digests are evidence, not proof: a change that affects
// fewer than one sample in ten may be missed.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/model/run_model.h"
#include "traces/trace.h"

namespace penstock::analyzer {

// This many comparisons must agree. If a transform changes one sample in ten, a pair agrees by
// chance with probability 0.82 (the transform changed both, or neither). Then all of 16 pairs agree
// in 4 % of the runs. Two epochs of a thousand samples give 30 pairs, which all agree in 0.3 %.
inline constexpr std::size_t kSamePairs = 16;

enum class Sameness { kUnknown, kSame, kDifferent };

struct EpochComparison {
  std::size_t digests = 0;  // finished samples with digests in the trace
  std::size_t samples = 0;  // finished samples with digests in several epochs
  std::size_t pairs = 0;   // comparisons of a sample in a later epoch with itself in an earlier one
  std::size_t epochs = 0;  // epochs of these comparisons
  Sameness finished = Sameness::kUnknown;  // the sample as the dataset returned it
  std::size_t finished_pairs = 0;          // comparisons of two digests of finished samples
  // The outermost transforms in their order, up to the last one whose results were always the same.
  std::vector<std::string> prefix;
  std::size_t prefix_pairs = 0;  // comparisons that agreed on the last transform of `prefix`

  // Whether there were too few comparisons to tell if results depend on chance.
  [[nodiscard]] bool unknown() const { return finished == Sameness::kUnknown && prefix.empty(); }
};

// Requires: run.has_loader(). Cost: one pass over the events.
[[nodiscard]] EpochComparison CompareEpochs(const traces::Trace& trace, const RunModel& run);

// Whether the name of a transform says that its result depends on chance. Then its digests do not
// count.
[[nodiscard]] bool NamesChance(std::string_view transform);

// How many seconds the first `length` outermost transforms of the samples take in the epochs after
// the first, without decodes inside them. Requires: run.has_loader(). Cost: one pass over the
// spans.
[[nodiscard]] double PrefixTime(const traces::Trace& trace, const RunModel& run,
                                std::size_t length);

// How workers of the main loader divide the samples. kByIndex: the dataset is not iterable, so each
// index is made once. kShards: an iterable dataset that asked which worker it runs in; it gives
// each worker its own samples. kRepeats: an iterable dataset that did not ask, so each worker
// delivers every sample.
enum class Sharding { kByIndex, kShards, kRepeats, kUnknown };
[[nodiscard]] Sharding ShardingOf(const traces::Trace& trace, const RunModel& run);

}  // namespace penstock::analyzer
