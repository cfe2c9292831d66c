// SPDX-License-Identifier: Apache-2.0
#include "analyzer/model/epoch_log.h"

#include <algorithm>

namespace penstock::analyzer {

std::int64_t EpochLog::StartOf(Iterator iterator, std::int64_t first_wait) const {
  // The longest time from the end of a startup span to the loop's first request for a batch.
  constexpr std::int64_t kSlack = 1'000'000;
  std::int64_t start = first_wait;
  const auto found = times_.find(iterator);
  if (found != times_.end() && found->second.start) start = std::min(start, *found->second.start);
  for (const Startup& startup : startups_) {
    const Iterator& made = startup.iterator;
    const bool may_be = made.consumer == iterator.consumer &&
                        (made.generation == 0 || made.generation == iterator.generation);
    if (may_be && startup.from <= start && startup.to + kSlack >= start) start = startup.from;
  }
  return start;
}

bool EpochLog::Ended(Iterator iterator) const {
  const auto found = times_.find(iterator);
  return found != times_.end() && found->second.ended;
}

double EpochLog::StopOf(Iterator iterator) const {
  const auto found = times_.find(iterator);
  return found != times_.end() ? static_cast<double>(found->second.stop) * 1e-9 : 0;
}

}  // namespace penstock::analyzer
