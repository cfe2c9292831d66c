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
using Trees = std::vector<const CallTree*>;

bool FollowedLines(const CallTree& tree) {
  return (tree.unit.flags & wire::kUnitLines) != 0;
}

// A node of a tree, and the function and line that its time is charged to.
struct Placed {
  double own = 0;                // nanoseconds
  std::size_t owner = kNoCall;   // node of the function that its time is charged to
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
      // Inside a called function, time is charged to that call; the owner's line stays the same.
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

struct LineSum {
  double time = 0;
  double own = 0;
  double count = 0;
};

struct FunctionSum {
  double time = 0;
  double own = 0;
  double total = 0;
  double count = 0;
  std::map<std::pair<std::string_view, std::string_view>, CalledSum> called;
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
    if (here.called != kNoCall) {
      const CallNode& called = tree.nodes[here.called];
      CalledSum& sum = function.called[{trace_.String(called.name), trace_.String(called.file)}];
      sum.time += here.own;
      if (here.called == at) sum.count += static_cast<double>(node.count);
    }
    if (here.line != kNoCall) {
      LineSum& line = function.lines[tree.nodes[here.line].line];
      line.time += here.own;
      if (interpreted) line.own += here.own;
      if (here.line == at) line.count += static_cast<double>(node.count);
    }
    AddTotals(tree, placed, at);
  }

  // Charges a node's time to its own function and each one above it; to a recursive one only once.
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

template <class Row>
void LargestFirst(std::vector<Row>& rows, double least) {
  rows.erase(
      std::remove_if(rows.begin(), rows.end(), [&](const Row& row) { return row.share < least; }),
      rows.end());
  std::stable_sort(rows.begin(), rows.end(),
                   [](const Row& a, const Row& b) { return a.share > b.share; });
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
  for (const auto& [called, part] : sum.called) {
    time.called.push_back({.name = std::string(called.first),
                           .file = std::string(called.second),
                           .share = part.time / whole,
                           .count = part.count / units});
  }
  LargestFirst(time.called, 0.001);
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
                          .count = part.count / units});
  }
  LargestFirst(time.lines, 0.001);
}

// The paths of all trees, merged. Paths with less than 0.5 % of the time are part of their parents.
std::vector<CallPath> PathsOf(const traces::Trace& trace, const Trees& trees,
                              const FollowCorrection& correction) {
  constexpr double kLeast = 0.005;
  struct Node {
    const CallNode* call = nullptr;
    std::size_t parent = kNoCall;
    double time = 0;
    double count = 0;
  };
  std::vector<Node> nodes;
  std::map<std::pair<std::size_t, FunctionKey>, std::size_t> known;
  double whole = 0;
  for (const CallTree* tree : trees) {
    const std::vector<double> times = OwnTimes(trace, *tree, correction);
    whole += Nanoseconds(tree->own()) * correction.interpreter;
    std::vector<std::size_t> place(tree->nodes.size(), kNoCall);
    for (std::size_t i = 0; i < tree->nodes.size(); ++i) {
      const CallNode& call = tree->nodes[i];
      const std::size_t above = call.parent == kNoCall ? kNoCall : place[call.parent];
      whole += times[i];
      place[i] = above;
      if (call.kind != CallKind::kLine) {
        const FunctionKey key = KeyOf(trace, call);
        const auto [found, added] = known.try_emplace({above, key}, nodes.size());
        if (added) nodes.push_back({&call, above, 0, 0});
        place[i] = found->second;
        nodes[place[i]].count += static_cast<double>(call.count);
      }
      if (place[i] != kNoCall) nodes[place[i]].time += times[i];
    }
  }
  for (std::size_t i = nodes.size(); i-- > 0;) {
    if (nodes[i].parent != kNoCall) nodes[nodes[i].parent].time += nodes[i].time;
  }
  std::vector<CallPath> paths;
  std::vector<std::size_t> place(nodes.size(), kNoCall);
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    const Node& node = nodes[i];
    if (whole <= 0 || node.time < kLeast * whole) continue;
    place[i] = paths.size();
    paths.push_back({.name = std::string(trace.String(node.call->name)),
                     .file = std::string(trace.String(node.call->file)),
                     .line = node.call->line,
                     .parent = node.parent == kNoCall ? place[i] : place[node.parent],
                     .total = node.time / whole,
                     .count = node.count / static_cast<double>(trees.size())});
  }
  return paths;
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

// `cut`: the longest unit with lines that was cut; nullptr: none. A function whose lines were never
// followed in a whole unit gets its lines from there, if most of its time came before the cut.
// `given`: how the units are corrected; nullopt: computed from them. The split among lines always
// uses a correction computed from the units with lines.
FunctionProfile ProfileOf(const traces::Trace& trace, StageId stage, const Trees& taken,
                          const CallTree* cut,
                          const std::optional<FollowCorrection>& given = std::nullopt) {
  constexpr double kMostOf = 0.5;
  Trees lined;
  Trees plain;
  for (const CallTree* tree : taken) {
    (FollowedLines(*tree) ? lined : plain).push_back(tree);
  }
  const Trees& trees = plain.empty() ? lined : plain;
  const InterpretedParts parts = PartsOf(trace, lined);
  const FollowCorrection correction = given ? *given : CorrectionOf(trace, trees, parts);
  const Sums sums = SumOf(trace, trees, correction);
  const Sums with_lines = SumOf(trace, lined, CorrectionOf(trace, lined, parts));
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
    if (part->second.time >= kMostOf * sum.time / units) {
      AddLines(part->second, 1, profile.functions.back());
    }
  }
  LargestFirst(profile.functions, 0.001);
  profile.paths = PathsOf(trace, trees, correction);
  return profile;
}

// Units whose lines were followed are slower for that reason, so they are left out.
SlowUnits SlowOf(const traces::Trace& trace, StageId stage, const Trees& all) {
  constexpr std::size_t kFewest = 12;
  constexpr std::size_t kFewestSlow = 3;
  std::vector<std::pair<double, const CallTree*>> plain;
  Trees lined;
  for (const CallTree* tree : all) {
    if (FollowedLines(*tree)) {
      lined.push_back(tree);
    } else {
      plain.emplace_back(Nanoseconds(tree->total()), tree);
    }
  }
  if (plain.size() < kFewest) return {};
  std::sort(plain.begin(), plain.end());
  const double most = SlowUnits::kSlow * plain[plain.size() / 2].first;
  Trees slow;
  Trees others;
  for (const auto& [time, tree] : plain) (time > most ? slow : others).push_back(tree);
  if (slow.size() < kFewestSlow) return {};
  // Neighbours do not tell how long a slow unit would have taken if not followed, so the others'
  // correction is used.
  FollowCorrection correction = CorrectionOf(trace, others, PartsOf(trace, lined));
  correction.costs = 1;  // the others are shorter than their neighbours because they were chosen so
  return SlowAgainstOthers(ProfileOf(trace, stage, slow, nullptr, correction),
                           ProfileOf(trace, stage, others, nullptr, correction));
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
    const CallTree* cut = nullptr;
    for (const CallTree& tree : read.trees) {
      if (tree.unit.stage != stage || !tree.complete || tree.nodes.empty()) continue;
      if ((tree.unit.flags & wire::kUnitCut) == 0) {
        trees.push_back(&tree);
      } else if (FollowedLines(tree) && (cut == nullptr || cut->total() < tree.total())) {
        cut = &tree;
      }
    }
    if (trees.empty()) continue;
    profiles.push_back(ProfileOf(trace, stage, WithoutOutliers(trees), cut));
    profiles.back().slow = SlowOf(trace, stage, trees);
  }
  return profiles;
}

}  // namespace penstock::analyzer
