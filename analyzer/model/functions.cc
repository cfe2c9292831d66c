// SPDX-License-Identifier: Apache-2.0
#include "analyzer/model/functions.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <tuple>

#include <fmt/core.h>

#include "analyzer/model/call_paths.h"
#include "analyzer/model/follow_correction.h"
#include "analyzer/model/function_sums.h"
#include "analyzer/model/slow_units.h"
#include "traces/call_trees.h"
#include "traces/library_paths.h"

namespace penstock::analyzer {
namespace {

using traces::CallTree;
using traces::StageId;
using Trees = CallTreeList;

bool FollowedLines(const CallTree& tree) {
  return (tree.unit.flags & wire::kUnitLines) != 0;
}

bool IsChosen(const CallTree& tree) {
  return (tree.unit.flags & wire::kUnitChosen) != 0;
}

// Sorts the rows by share and drops those with less than `least`.
template <class Row>
void LargestFirst(std::vector<Row>& rows, double least) {
  rows.erase(
      std::remove_if(rows.begin(), rows.end(), [&](const Row& row) { return row.share < least; }),
      rows.end());
  std::stable_sort(rows.begin(), rows.end(),
                   [](const Row& a, const Row& b) { return a.share > b.share; });
}

// `share`: the fraction of the profile's time that one nanosecond is.
std::vector<CalledTime> CalledOf(const CalledSums& sums, double share, double units) {
  std::vector<CalledTime> times;
  for (const auto& [called, part] : sums) {
    times.push_back({.name = std::string(called.first),
                     .file = std::string(called.second),
                     .share = part.time * share,
                     .count = part.count / units});
  }
  LargestFirst(times, 0.001);
  return times;
}

FunctionTime TimeOf(const FunctionKey& key, const FunctionSum& sum, double whole, double units) {
  FunctionTime time;
  time.file = std::get<0>(key);
  time.line = std::get<1>(key);
  time.name = std::get<2>(key);
  time.is_library = time.file.empty() || IsLibrary(time.file);
  time.share = sum.time / whole;
  time.own = sum.own / whole;
  time.total = sum.total / whole;
  time.count = sum.count / units;
  time.called = CalledOf(sum.called, 1 / whole, units);
  return time;
}

// A function with many lines is slowed down if its lines are followed. So units with lines tell
// how the function's time is split among its lines, and units without lines tell its whole time.
void AddLines(const FunctionSum& sum, double units, FunctionTime& time) {
  if (sum.time <= 0) return;
  for (const auto& [line, part] : sum.lines) {
    time.lines.push_back({.line = line,
                          .share = time.share * part.time / sum.time,
                          .own = time.share * part.own / sum.time,
                          .count = part.count / units,
                          .called = CalledOf(part.called, time.share / sum.time, units)});
  }
  LargestFirst(time.lines, 0.001);
}

struct Corrections {
  FollowCorrection plain;
  FollowCorrection lined;  // for the split among lines
};

// Followed units without and with followed lines. Following lines makes units slower.
struct UnitSet {
  Trees plain;
  Trees lined;

  [[nodiscard]] Trees All() const {
    Trees all = plain;
    all.insert(all.end(), lined.begin(), lined.end());
    return all;
  }
};

UnitSet SetOf(const Trees& trees) {
  UnitSet set;
  for (const CallTree* tree : trees) (FollowedLines(*tree) ? set.lined : set.plain).push_back(tree);
  return set;
}

// Units that took much longer than the others.
struct SlowPart {
  Trees trees;
  double share = 0;  // of the stage's time
};

// `taken`: at least one unit. `cut`: the longest unit with lines that was cut; nullptr: none. A
// function whose lines were never followed in a whole unit gets its lines from `cut`, if `cut`
// holds at least half of the function's mean time in a unit. `given`: the corrections of the units;
// nullopt: computed from the units of `taken`, since slow units have neighbours of ordinary length.
FunctionProfile ProfileOf(const traces::Trace& trace, StageId stage, const Trees& taken,
                          const CallTree* cut, const SlowPart& slow = {},
                          const std::optional<Corrections>& given = std::nullopt) {
  constexpr double kLeastBeforeCut = 0.5;
  const UnitSet set = SetOf(taken);
  const UnitSet slow_set = SetOf(slow.trees);
  const Trees& slow_plain = slow_set.plain.empty() ? slow_set.lined : slow_set.plain;
  const FollowedUnits all(set.plain.empty() ? set.lined : set.plain, slow_plain, slow.share);
  const FollowedUnits lined(set.lined, slow_set.lined, slow.share);
  const InterpretedParts parts = PartsOf(trace, set.lined);
  const FollowCorrection correction =
      given ? given->plain : CorrectionOf(trace, all.ordinary, parts);
  const FunctionSums sums = SumOf(trace, all, correction);
  const FunctionSums with_lines =
      SumOf(trace, lined, given ? given->lined : CorrectionOf(trace, set.lined, parts));
  const FunctionSums before_cut =
      SumOf(trace, {cut == nullptr ? Trees{} : Trees{cut}, {}, 0}, correction);
  FunctionProfile profile;
  profile.stage = stage;
  profile.units = taken.size() + (all.weight > 0 ? slow.trees.size() : 0);
  profile.lined = set.lined.size() + (all.weight > 0 ? slow_set.lined.size() : 0);
  profile.unit_time = sums.whole / sums.units * 1e-9;
  for (const CallTree* tree : all.ordinary) {
    profile.spread += tree->unit.spread / 100.0 / static_cast<double>(all.ordinary.size());
  }
  if (sums.whole <= 0) return profile;
  const double whole = sums.whole / (1 - all.unseen);
  for (const auto& [key, sum] : sums.functions) {
    profile.functions.push_back(TimeOf(key, sum, whole, sums.units));
    const auto found = with_lines.functions.find(key);
    if (found != with_lines.functions.end()) {
      AddLines(found->second, with_lines.units, profile.functions.back());
    }
    const auto part = before_cut.functions.find(key);
    if (!profile.functions.back().lines.empty() || part == before_cut.functions.end()) continue;
    if (part->second.time >= kLeastBeforeCut * sum.time / sums.units) {
      AddLines(part->second, 1, profile.functions.back());
      profile.functions.back().of_cut = true;
    }
  }
  LargestFirst(profile.functions, 0.001);
  profile.paths = PathsOf(trace, all, correction);
  return profile;
}

double MedianTime(const Trees& trees) {
  std::vector<double> times;
  for (const CallTree* tree : trees) times.push_back(Nanoseconds(tree->total()));
  if (times.empty()) return 0;
  std::sort(times.begin(), times.end());
  return times[times.size() / 2];
}

// Appends the trees that took longer than `most` nanoseconds to `slow`, the rest to `others`
// (nullptr: nowhere).
void SplitAt(double most, const Trees& trees, Trees& slow, Trees* others) {
  for (const CallTree* tree : trees) {
    if (Nanoseconds(tree->total()) > most) {
      slow.push_back(tree);
    } else if (others != nullptr) {
      others->push_back(tree);
    }
  }
}

// A unit that took more than this many times the median does not count like the others: it may have
// waited once for a core or for storage.
constexpr double kMuchLonger = 3;

// The part of a stage's time in units that took much longer than the median. 0 for steps: long ones
// are pauses, which are told apart.
double SlowShare(StageId stage, const StageTotals& totals) {
  if (stage == StageId::kStep) return 0;
  return totals.durations.ShareAbove(kMuchLonger * totals.durations.Quantile(0.5));
}

double MeanTime(const StageTotals& totals) {
  if (totals.count == 0) return 0;
  return Seconds(totals.wall + totals.inside) / static_cast<double>(totals.count);
}

constexpr std::size_t kFewestToSplit = 3;

// Returns the units of `drawn` without those that took much longer than their median. Appends
// these, and the chosen units that took so long, to `slow`.
Trees TakeSlow(const Trees& drawn, const Trees& chosen, Trees& slow) {
  if (drawn.size() < kFewestToSplit) return drawn;
  const double most = kMuchLonger * MedianTime(drawn);
  Trees ordinary;
  SplitAt(most, drawn, slow, &ordinary);
  SplitAt(most, chosen, slow, nullptr);
  return ordinary;
}

// Finds the slow units and compares them with the others. The drawn units alone decide from which
// time on a unit is slow. A chosen unit counts only if it is slow.
SlowUnits SlowOf(const traces::Trace& trace, StageId stage, const Trees& drawn_trees,
                 const Trees& chosen_trees) {
  constexpr std::size_t kFewest = 12;
  constexpr std::size_t kFewestBesideChosen = 4;
  constexpr std::size_t kFewestSlow = 3;
  constexpr double kMostSlowed = 2.5;  // slowdown by following lines before Python 3.12, see
                                       // FollowCorrection
  const UnitSet drawn = SetOf(drawn_trees);
  const UnitSet chosen = SetOf(chosen_trees);
  if (drawn.plain.size() < (chosen.plain.empty() ? kFewest : kFewestBesideChosen)) return {};
  const double most = SlowUnits::kSlow * MedianTime(drawn.plain);
  const double most_lined = std::max(
      most, drawn.lined.empty() ? kMostSlowed * most : SlowUnits::kSlow * MedianTime(drawn.lined));
  UnitSet slow;
  UnitSet others;
  SplitAt(most, drawn.plain, slow.plain, &others.plain);
  SplitAt(most, chosen.plain, slow.plain, nullptr);
  if (slow.plain.size() < kFewestSlow) return {};
  SplitAt(most_lined, drawn.lined, slow.lined, &others.lined);
  SplitAt(most_lined, chosen.lined, slow.lined, nullptr);
  // Slow units have neighbours of ordinary length, which do not tell how long the slow ones would
  // have taken if not followed. So the correction of the other units is used for all.
  const InterpretedParts parts = PartsOf(trace, drawn.lined);
  Corrections corrections{CorrectionOf(trace, others.plain, parts),
                          CorrectionOf(trace, others.lined, parts)};
  // The other units are shorter than their neighbours because the slow units were removed. This
  // says nothing about the cost of events.
  corrections.plain.costs = corrections.lined.costs = 1;
  return SlowAgainstOthers(ProfileOf(trace, stage, slow.All(), nullptr, {}, corrections),
                           ProfileOf(trace, stage, others.All(), nullptr, {}, corrections));
}

}  // namespace

bool IsLibrary(std::string_view file) {
  if (file.find("/penstock_hooks/") != std::string_view::npos) return true;
  return std::any_of(std::begin(traces::kLibraryPaths), std::end(traces::kLibraryPaths),
                     [&](const char* part) { return file.find(part) != std::string_view::npos; });
}

std::string PlaceOf(std::string_view file, std::uint32_t line) {
  const std::string_view name = file.substr(file.rfind('/') + 1);
  return line > 0 ? fmt::format("{}:{}", name, line) : std::string(name);
}

FunctionProfiles ProfileFunctions(const traces::Trace& trace, const StageTable& stages,
                                  const SampleTimeLists& samples) {
  traces::CallTrees read = traces::ReadCallTrees(trace);
  const std::vector<TimeNs> times = TimesOfNeighbours(read.trees, samples);
  for (std::size_t i = 0; i < read.trees.size(); ++i) {
    if (times[i].value > 0 && !IsChosen(read.trees[i])) read.trees[i].unit.ordinary = times[i];
  }
  FunctionProfiles profiles;
  for (const StageId stage : {StageId::kSample, StageId::kCollate, StageId::kStep}) {
    Trees trees;
    Trees chosen;
    const CallTree* cut = nullptr;
    for (const CallTree& tree : read.trees) {
      if (tree.unit.stage != stage || !tree.complete || tree.nodes.empty()) continue;
      if ((tree.unit.flags & wire::kUnitStall) != 0) continue;
      if ((tree.unit.flags & wire::kUnitCut) == 0) {
        (IsChosen(tree) ? chosen : trees).push_back(&tree);
      } else if (!IsChosen(tree) && FollowedLines(tree) &&
                 (cut == nullptr || cut->total() < tree.total())) {
        cut = &tree;
      }
    }
    if (trees.empty()) continue;
    SlowPart slow{{}, SlowShare(stage, stages[stage])};
    if (trees.size() < kFewestToSplit) slow.share = 0;  // the units were not split
    profiles.push_back(ProfileOf(trace, stage, TakeSlow(trees, chosen, slow.trees), cut, slow));
    profiles.back().slow = SlowOf(trace, stage, trees, chosen);
    profiles.back().mean_time = MeanTime(stages[stage]);
    profiles.back().all = stages[stage].count;
  }
  return profiles;
}

}  // namespace penstock::analyzer
