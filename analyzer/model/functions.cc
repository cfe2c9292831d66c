// SPDX-License-Identifier: Apache-2.0
#include "analyzer/model/functions.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

#include <fmt/core.h>

#include "analyzer/model/call_paths.h"
#include "analyzer/model/follow_correction.h"
#include "analyzer/model/slow_units.h"
#include "traces/call_trees.h"
#include "traces/library_paths.h"

namespace penstock::analyzer {
namespace {

using traces::CallKind;
using traces::CallNode;
using traces::CallTree;
using traces::kNoCall;
using traces::StageId;
using Trees = CallTreeList;

bool FollowedLines(const CallTree& tree) {
  return (tree.unit.flags & wire::kUnitLines) != 0;
}

bool IsChosen(const CallTree& tree) {
  return (tree.unit.flags & wire::kUnitChosen) != 0;
}

// A node of a tree, and the function and line that its time counts for.
struct Placed {
  double own = 0;                // nanoseconds
  std::size_t owner = kNoCall;   // node of the function that its time counts for
  std::size_t called = kNoCall;  // node of the function that the owner called on the way here
  std::size_t line = kNoCall;    // node of the owner's line
};

std::vector<Placed> Place(const traces::Trace& trace, const CallTree& tree,
                          const FollowCorrection& correction) {
  const std::vector<double> own = OwnTimes(trace, tree, correction);
  std::vector<Placed> placed(tree.nodes.size());
  for (std::size_t i = 0; i < tree.nodes.size(); ++i) {
    const CallNode& node = tree.nodes[i];
    Placed& here = placed[i];
    here.own = own[i];
    if (node.parent != kNoCall) {
      const Placed& above = placed[node.parent];
      here.owner = above.owner;
      here.called = above.called;
      here.line = above.line;
    }
    if (node.kind == CallKind::kLine) {
      // Inside a called function, the owner's line stays the line of the call.
      if (here.called == kNoCall) here.line = i;
      continue;
    }
    const bool library = node.kind == CallKind::kBuiltin || IsLibrary(trace.String(node.file));
    const bool above_is_library =
        here.owner != kNoCall && IsLibrary(trace.String(tree.nodes[here.owner].file));
    if (!library || here.owner == kNoCall ||
        (above_is_library && node.kind != CallKind::kBuiltin)) {
      here = {.own = here.own, .owner = i};
    } else if (here.called == kNoCall) {
      here.called = i;
    }
  }
  return placed;
}

struct CalledSum {
  double time = 0;
  double count = 0;
};

using CalledSums = std::map<std::pair<std::string_view, std::string_view>, CalledSum>;

struct LineSum {
  double time = 0;
  double own = 0;
  double count = 0;
  CalledSums called;
};

struct FunctionSum {
  double time = 0;
  double own = 0;
  double total = 0;
  double count = 0;
  CalledSums called;
  std::map<std::uint32_t, LineSum> lines;
};

struct Sums {
  double whole = 0;
  std::map<FunctionKey, FunctionSum> functions;
};

class Summing {
 public:
  explicit Summing(const traces::Trace& trace) : trace_(trace) {}

  void Add(const CallTree& tree, const FollowCorrection& correction) {
    const std::vector<Placed> placed = Place(trace_, tree, correction);
    sums_.whole += Nanoseconds(tree.own()) * correction.interpreter;
    for (std::size_t i = 0; i < placed.size(); ++i) AddNode(tree, placed, i);
  }

  [[nodiscard]] Sums Take() && { return std::move(sums_); }

 private:
  void AddNode(const CallTree& tree, const std::vector<Placed>& placed, std::size_t at) {
    const CallNode& node = tree.nodes[at];
    const Placed& here = placed[at];
    sums_.whole += here.own;
    if (here.owner == kNoCall) return;
    FunctionSum& function = sums_.functions[KeyOf(trace_, tree.nodes[here.owner])];
    function.time += here.own;
    if (here.owner == at) function.count += static_cast<double>(node.count);
    const bool interpreted = here.called == kNoCall && node.kind != CallKind::kBuiltin;
    if (interpreted) function.own += here.own;
    const auto charge_called = [&](CalledSums& sums) {
      if (here.called == kNoCall) return;
      const CallNode& called = tree.nodes[here.called];
      CalledSum& sum = sums[{trace_.String(called.name), trace_.String(called.file)}];
      sum.time += here.own;
      if (here.called == at) sum.count += static_cast<double>(node.count);
    };
    charge_called(function.called);
    if (here.line != kNoCall) {
      LineSum& line = function.lines[tree.nodes[here.line].line];
      charge_called(line.called);
      line.time += here.own;
      if (interpreted) line.own += here.own;
      if (here.line == at) line.count += static_cast<double>(node.count);
    }
    AddTotals(tree, placed, at);
  }

  // Adds a node's time to the totals of its function and of each function above it. A recursive
  // function gets the time only once.
  void AddTotals(const CallTree& tree, const std::vector<Placed>& placed, std::size_t at) {
    std::set<FunctionKey> charged;
    for (std::size_t i = at; i != kNoCall; i = tree.nodes[i].parent) {
      if (placed[i].owner != i) continue;
      const FunctionKey key = KeyOf(trace_, tree.nodes[i]);
      if (charged.insert(key).second) sums_.functions[key].total += placed[at].own;
    }
  }

  const traces::Trace& trace_;
  Sums sums_;
};

Sums SumOf(const traces::Trace& trace, const Trees& trees, const FollowCorrection& correction) {
  Summing summing(trace);
  for (const CallTree* tree : trees) summing.Add(*tree, correction);
  return std::move(summing).Take();
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

// Leaves out units that took more than three times the median. Such a unit may have waited once for
// a core or for storage, and would count as much as several other units.
Trees WithoutOutliers(Trees trees) {
  constexpr double kMost = 3;
  if (trees.size() < 3) return trees;
  std::vector<double> times;
  for (const CallTree* tree : trees) times.push_back(Nanoseconds(tree->total()));
  std::nth_element(times.begin(), times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2),
                   times.end());
  const double median = times[times.size() / 2];
  trees.erase(std::remove_if(trees.begin(), trees.end(),
                             [&](const CallTree* tree) {
                               return Nanoseconds(tree->total()) > kMost * median;
                             }),
              trees.end());
  return trees;
}

struct Corrections {
  FollowCorrection plain;
  FollowCorrection lined;  // for the split among lines
};

// `taken`: at least one unit. `cut`: the longest unit with lines that was cut; nullptr: none. A
// function whose lines were never followed in a whole unit gets its lines from `cut`, if `cut`
// holds at least half of the function's mean time in a unit. `given`: the corrections of the units;
// nullopt: computed from the units.
FunctionProfile ProfileOf(const traces::Trace& trace, StageId stage, const Trees& taken,
                          const CallTree* cut,
                          const std::optional<Corrections>& given = std::nullopt) {
  constexpr double kLeastBeforeCut = 0.5;
  Trees lined;
  Trees plain;
  for (const CallTree* tree : taken) {
    (FollowedLines(*tree) ? lined : plain).push_back(tree);
  }
  const Trees& trees = plain.empty() ? lined : plain;
  const InterpretedParts parts = PartsOf(trace, lined);
  const FollowCorrection correction = given ? given->plain : CorrectionOf(trace, trees, parts);
  const Sums sums = SumOf(trace, trees, correction);
  const Sums with_lines =
      SumOf(trace, lined, given ? given->lined : CorrectionOf(trace, lined, parts));
  const Sums before_cut = SumOf(trace, cut == nullptr ? Trees{} : Trees{cut}, correction);
  const auto units = static_cast<double>(trees.size());
  FunctionProfile profile;
  profile.stage = stage;
  profile.units = plain.size() + lined.size();
  profile.unit_time = sums.whole / units * 1e-9;
  for (const CallTree* tree : trees) profile.spread += tree->unit.spread / 100.0 / units;
  if (sums.whole <= 0) return profile;
  for (const auto& [key, sum] : sums.functions) {
    profile.functions.push_back(TimeOf(key, sum, sums.whole, units));
    const auto found = with_lines.functions.find(key);
    if (found != with_lines.functions.end()) {
      AddLines(found->second, static_cast<double>(lined.size()), profile.functions.back());
    }
    const auto part = before_cut.functions.find(key);
    if (!profile.functions.back().lines.empty() || part == before_cut.functions.end()) continue;
    if (part->second.time >= kLeastBeforeCut * sum.time / units) {
      AddLines(part->second, 1, profile.functions.back());
    }
  }
  LargestFirst(profile.functions, 0.001);
  profile.paths = PathsOf(trace, trees, correction);
  return profile;
}

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
  return SlowAgainstOthers(ProfileOf(trace, stage, slow.All(), nullptr, corrections),
                           ProfileOf(trace, stage, others.All(), nullptr, corrections));
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

FunctionProfiles ProfileFunctions(const traces::Trace& trace) {
  const traces::CallTrees read = traces::ReadCallTrees(trace);
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
    profiles.push_back(ProfileOf(trace, stage, WithoutOutliers(trees), cut));
    profiles.back().slow = SlowOf(trace, stage, trees, chosen);
  }
  return profiles;
}

}  // namespace penstock::analyzer
