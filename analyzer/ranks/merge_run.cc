// SPDX-License-Identifier: Apache-2.0
#include "analyzer/ranks/merge_run.h"

#include <algorithm>
#include <limits>
#include <map>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "traces/merge.h"
#include "traces/trace_builder.h"

namespace penstock::analyzer {
namespace {

struct Opened {
  std::string name;
  std::unique_ptr<traces::Trace> trace;
  ClockView clock;
  std::vector<std::int32_t> ranks;
};

std::int32_t LowestRank(const Opened& one) {
  return one.ranks.empty() ? std::numeric_limits<std::int32_t>::max() : one.ranks.front();
}

Result<Opened> Open(const std::string& path) {
  auto trace = traces::OpenTrace(path);
  PENSTOCK_TRY(trace);
  Opened opened;
  opened.name = path;
  opened.trace = std::move(*trace);
  const RunModel run = BuildRunModel(*opened.trace);
  opened.clock = ViewClock(*opened.trace, run);
  for (const RankPlace& place : run.ranks.places) opened.ranks.push_back(place.rank);
  return opened;
}

Result<void> CheckRanks(std::span<const Opened> all) {
  std::map<std::int32_t, const Opened*> holders;
  for (const Opened& one : all) {
    for (const std::int32_t rank : one.ranks) {
      const auto [at, first] = holders.emplace(rank, &one);
      if (first) continue;
      return Fail(ErrorKind::kInput,
                  fmt::format("{}: holds rank {}, as {} does; give the traces of one run", one.name,
                              rank, at->second->name));
    }
  }
  return {};
}

}  // namespace

Result<std::vector<MergedPart>> MergeRun(std::span<const std::string> paths, AlignMethod method,
                                         traces::Packer& out) {
  std::set<std::filesystem::path> seen;
  std::vector<Opened> all;
  for (const std::string& path : paths) {
    std::error_code error;
    if (!seen.insert(std::filesystem::weakly_canonical(path, error)).second) {
      return Fail(ErrorKind::kUsage, fmt::format("{}: is given twice", path));
    }
    Result<Opened> opened = Open(path);
    PENSTOCK_TRY(opened);
    all.push_back(std::move(*opened));
  }
  std::stable_sort(all.begin(), all.end(),
                   [](const Opened& a, const Opened& b) { return LowestRank(a) < LowestRank(b); });
  PENSTOCK_TRY(CheckRanks(all));
  std::vector<ClockView> clocks;
  for (Opened& one : all) clocks.push_back(std::move(one.clock));
  const std::vector<Alignment> alignments = AlignClocks(clocks, method);
  std::vector<traces::MergePart> parts;
  std::vector<MergedPart> merged;
  for (std::size_t i = 0; i < all.size(); ++i) {
    parts.push_back({all[i].trace.get(), all[i].name, alignments[i].shift, alignments[i].Facts()});
    merged.push_back({all[i].name, all[i].ranks, alignments[i]});
  }
  PENSTOCK_TRY(traces::MergeTraces(parts, out));
  return merged;
}

Result<std::unique_ptr<traces::Trace>> OpenMerged(std::span<const std::string> paths,
                                                  AlignMethod method) {
  traces::TraceBuilder builder;
  const auto merged = MergeRun(paths, method, builder);
  PENSTOCK_TRY(merged);
  return builder.Build();
}

}  // namespace penstock::analyzer
