// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <cstddef>

#include "analyzer/model/reads.h"

namespace penstock::analyzer {
namespace {

constexpr std::size_t kFewestGaps = 64;

}  // namespace

ReadRate MeasureRate(std::vector<ReadSpan> reads) {
  ReadRate rate;
  std::sort(reads.begin(), reads.end(), [](const ReadSpan& a, const ReadSpan& b) {
    return a.end != b.end ? a.end < b.end : a.start < b.start;
  });
  struct Gap {
    double seconds;
    double bytes;
  };
  std::vector<Gap> gaps;
  double seconds = 0;
  double bytes = 0;
  for (std::size_t i = 1; i < reads.size(); ++i) {
    const std::int64_t before = reads[i - 1].end;
    const bool waited = reads[i].start < before;  // it waited when the read before it ended
    if (!waited || reads[i].bytes == 0) continue;
    gaps.push_back(
        {static_cast<double>(reads[i].end - before) * 1e-9, static_cast<double>(reads[i].bytes)});
    seconds += gaps.back().seconds;
    bytes += gaps.back().bytes;
  }
  rate.gaps = gaps.size();
  rate.waiting =
      reads.empty() ? 0 : static_cast<double>(gaps.size()) / static_cast<double>(reads.size());
  if (gaps.size() < kFewestGaps || !(seconds > 0)) return rate;
  rate.per_byte = seconds / bytes;
  double off = 0;
  for (const Gap& gap : gaps) off += std::abs(gap.seconds - rate.per_byte * gap.bytes);
  rate.off = off / seconds;
  return rate;
}

}  // namespace penstock::analyzer
