// SPDX-License-Identifier: Apache-2.0
#include "analyzer/model/functions.h"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

#include <fmt/core.h>

#include "analyzer/model/slow_units.h"
#include "traces/call_trees.h"

namespace penstock::analyzer {
namespace {

using traces::CallKind;
using traces::CallNode;
using traces::CallTree;
using traces::kNoCall;
using traces::StageId;

// File, first line, name.
using FunctionKey = std::tuple<std::string_view, std::uint32_t, std::string_view>;
using Trees = std::vector<const CallTree*>;

double Nanoseconds(TimeNs time) {
  return static_cast<double>(time.value);
}

bool FollowedLines(const CallTree& tree) {
  return (tree.unit.flags & wire::kUnitLines) != 0;
}

// Before Python 3.12, following a unit slows down its interpreted code, but not builtins. Returns
// the factor that corrects the interpreter's time. Neighbouring units tell how long the followed
// ones would have taken if not followed; one factor for all units evens out differences between
// samples. The factor is kept within 0.3 and 1: slowdowns of 1.3 to 2.4 times were measured
// (factors of 0.77 to 0.42), and neighbours may be shorter by chance.
double InterpreterScale(const Trees& trees) {
  constexpr double kLeast = 0.3;
  double ordinary = 0;
  double builtin = 0;
  double interpreted = 0;
  for (const CallTree* tree : trees) {
    if ((tree->unit.flags & wire::kUnitSlowed) == 0 || tree->unit.ordinary.value <= 0) continue;
    ordinary += Nanoseconds(tree->unit.ordinary);
    interpreted += Nanoseconds(tree->own());
    for (const CallNode& node : tree->nodes) {
      (node.kind == CallKind::kBuiltin ? builtin : interpreted) += Nanoseconds(node.own);
    }
  }
  if (interpreted <= 0 || ordinary <= 0) return 1;
  return std::clamp((ordinary - builtin) / interpreted, kLeast, 1.0);
}

// A node of a tree, and the function and line that its time is charged to.
struct Placed {
  double own = 0;                // nanoseconds
  std::size_t owner = kNoCall;   // node of the function that its time is charged to
  std::size_t called = kNoCall;  // node of the function that the owner called on the way here
  std::size_t line = kNoCall;    // node of the owner's line
};

std::vector<Placed> Place(const traces::Trace& trace, const CallTree& tree, double scale) {
  const double factor = (tree.unit.flags & wire::kUnitSlowed) != 0 ? scale : 1;
  std::vector<Placed> placed(tree.nodes.size());
  for (std::size_t i = 0; i < tree.nodes.size(); ++i) {
    const CallNode& node = tree.nodes[i];
    Placed& here = placed[i];
    here.own = Nanoseconds(node.own) * (node.kind == CallKind::kBuiltin ? 1 : factor);
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

  void Add(const CallTree& tree, double scale) {
    const std::vector<Placed> placed = Place(trace_, tree, scale);
    const double factor = (tree.unit.flags & wire::kUnitSlowed) != 0 ? scale : 1;
    sums_.whole += Nanoseconds(tree.own()) * factor;
    for (std::size_t i = 0; i < placed.size(); ++i) AddNode(tree, placed, i);
  }

  [[nodiscard]] Sums Take() && { return std::move(sums_); }

 private:
  FunctionKey KeyOf(const CallNode& node) const {
    return {trace_.String(node.file), node.line, trace_.String(node.name)};
  }

  void AddNode(const CallTree& tree, const std::vector<Placed>& placed, std::size_t at) {
    const CallNode& node = tree.nodes[at];
    const Placed& here = placed[at];
    sums_.whole += here.own;
    if (here.owner == kNoCall) return;
    FunctionSum& function = sums_.functions[KeyOf(tree.nodes[here.owner])];
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
      const FunctionKey key = KeyOf(tree.nodes[i]);
      if (charged.insert(key).second) sums_.functions[key].total += placed[at].own;
    }
  }

  const traces::Trace& trace_;
  Sums sums_;
};

Sums SumOf(const traces::Trace& trace, const Trees& trees, double scale) {
  Summing summing(trace);
  for (const CallTree* tree : trees) summing.Add(*tree, scale);
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
std::vector<CallPath> PathsOf(const traces::Trace& trace, const Trees& trees, double scale) {
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
    const double factor = (tree->unit.flags & wire::kUnitSlowed) != 0 ? scale : 1;
    whole += Nanoseconds(tree->own()) * factor;
    std::vector<std::size_t> place(tree->nodes.size(), kNoCall);
    for (std::size_t i = 0; i < tree->nodes.size(); ++i) {
      const CallNode& call = tree->nodes[i];
      const std::size_t above = call.parent == kNoCall ? kNoCall : place[call.parent];
      const double own = Nanoseconds(call.own) * (call.kind == CallKind::kBuiltin ? 1 : factor);
      whole += own;
      place[i] = above;
      if (call.kind != CallKind::kLine) {
        const FunctionKey key{trace.String(call.file), call.line, trace.String(call.name)};
        const auto [found, added] = known.try_emplace({above, key}, nodes.size());
        if (added) nodes.push_back({&call, above, 0, 0});
        place[i] = found->second;
        nodes[place[i]].count += static_cast<double>(call.count);
      }
      if (place[i] != kNoCall) nodes[place[i]].time += own;
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

// `given`: the scale of the interpreter's time; nullopt: computed from the units. The split among
// lines always uses a scale computed from the units with lines.
FunctionProfile ProfileOf(const traces::Trace& trace, StageId stage, const Trees& taken,
                          std::optional<double> given = std::nullopt) {
  Trees lined;
  Trees plain;
  for (const CallTree* tree : taken) {
    (FollowedLines(*tree) ? lined : plain).push_back(tree);
  }
  const Trees& trees = plain.empty() ? lined : plain;
  const double scale = given.value_or(InterpreterScale(trees));
  const Sums sums = SumOf(trace, trees, scale);
  const Sums with_lines = SumOf(trace, lined, InterpreterScale(lined));
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
    if (found == with_lines.functions.end()) continue;
    AddLines(found->second, static_cast<double>(lined.size()), profile.functions.back());
  }
  LargestFirst(profile.functions, 0.001);
  profile.paths = PathsOf(trace, trees, scale);
  return profile;
}

// Units whose lines were followed are slower for that reason, so they are left out.
SlowUnits SlowOf(const traces::Trace& trace, StageId stage, const Trees& all) {
  constexpr std::size_t kFewest = 12;
  constexpr std::size_t kFewestSlow = 3;
  std::vector<std::pair<double, const CallTree*>> plain;
  for (const CallTree* tree : all) {
    if (!FollowedLines(*tree)) plain.emplace_back(Nanoseconds(tree->total()), tree);
  }
  if (plain.size() < kFewest) return {};
  std::sort(plain.begin(), plain.end());
  const double most = SlowUnits::kSlow * plain[plain.size() / 2].first;
  Trees slow;
  Trees others;
  for (const auto& [time, tree] : plain) (time > most ? slow : others).push_back(tree);
  if (slow.size() < kFewestSlow) return {};
  // Neighbours do not tell how long a slow unit would have taken if not followed, so the others'
  // scale is used.
  const double scale = InterpreterScale(others);
  return SlowAgainstOthers(ProfileOf(trace, stage, slow, scale),
                           ProfileOf(trace, stage, others, scale));
}

}  // namespace

bool IsLibrary(std::string_view file) {
  constexpr std::array<std::string_view, 4> kWithin = {"/site-packages/", "/dist-packages/",
                                                       "/penstock_hooks/", "/lib/python3."};
  constexpr std::array<std::string_view, 2> kBegins = {"<frozen ", "<__array_function__"};
  return std::any_of(kWithin.begin(), kWithin.end(),
                     [&](auto part) { return file.find(part) != std::string_view::npos; }) ||
         std::any_of(kBegins.begin(), kBegins.end(),
                     [&](auto part) { return file.substr(0, part.size()) == part; });
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
    for (const CallTree& tree : read.trees) {
      const bool whole = tree.complete && (tree.unit.flags & wire::kUnitCut) == 0;
      if (tree.unit.stage == stage && whole && !tree.nodes.empty()) trees.push_back(&tree);
    }
    if (trees.empty()) continue;
    profiles.push_back(ProfileOf(trace, stage, WithoutOutliers(trees)));
    profiles.back().slow = SlowOf(trace, stage, trees);
  }
  return profiles;
}

}  // namespace penstock::analyzer
