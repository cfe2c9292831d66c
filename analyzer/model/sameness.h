// SPDX-License-Identifier: Apache-2.0
//
// Whether the epochs of the main loader repeat each other: which of its transforms returned the
// same result for the same sample in every epoch, by the digests of some samples
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
// chance with probability 0.82 (the transform changed both, or neither). Then 16 pairs all agree in
// 4 % of the runs, and the 30 pairs of two epochs of a thousand samples in 0.3 %.
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

  // Too little could be compared to tell whether results depend on chance.
  [[nodiscard]] bool unknown() const { return finished == Sameness::kUnknown && prefix.empty(); }
};

// Requires: run.has_loader(). Cost: one pass over the events.
[[nodiscard]] EpochComparison CompareEpochs(const traces::Trace& trace, const RunModel& run);

// Whether the name of a transform says that it leaves something to chance. Its digests then do not
// count.
[[nodiscard]] bool NamesChance(std::string_view transform);

// How many seconds the first `length` outermost transforms of the samples take in the epochs after
// the first, without decodes inside them. Requires: run.has_loader(). Cost: one pass over the
// spans.
[[nodiscard]] double PrefixTime(const traces::Trace& trace, const RunModel& run,
                                std::size_t length);

// How workers of the main loader divide the samples. kByIndex: the dataset is not iterable, so each
// index is made once. An iterable dataset asks which worker it runs in if it gives each worker its
// own samples (kShards). If it does not ask, each worker delivers every sample (kRepeats).
enum class Sharding { kByIndex, kShards, kRepeats, kUnknown };
[[nodiscard]] Sharding ShardingOf(const traces::Trace& trace, const RunModel& run);

}  // namespace penstock::analyzer
