// SPDX-License-Identifier: Apache-2.0
#include "analyzer/diagnosis/feed.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <string>

namespace penstock::analyzer {
namespace {

constexpr std::size_t kEnoughMade = 64;  // samples, or pictures, in the steady part
constexpr double kFewestWaits = 8;     // with fewer, a thread does not take samples again and again
constexpr double kHardly = 0.05;       // share of the time: kineto's and xprof's threshold of note
constexpr double kWorthNaming = 1.05;  // the gain that corresponds to kHardly

enum FeedPart : std::size_t { kReads, kDecodes, kAugments, kTokens, kCollates, kFeedParts };
constexpr std::array<Factor, kFeedParts> kFeedFactors = {
    Factor::kRead, Factor::kDecode, Factor::kAugment, Factor::kTokenize, Factor::kCollate};

// What a thread did in the steady part. Units: seconds, but `waits` counts.
struct FeedSide {
  const ThreadUse* thread = nullptr;
  std::array<double, kFeedParts> parts{};
  double blocked = 0;
  double waits = 0;

  [[nodiscard]] double data() const { return std::accumulate(parts.begin(), parts.end(), 0.0); }
};

struct FeedWindow {
  std::size_t first = 0, end = 0;  // slices
  double length = 0;               // seconds
};

double SecondsIn(const std::vector<float>& slices, const FeedWindow& steady) {
  double sum = 0;
  for (std::size_t i = steady.first; i < std::min(steady.end, slices.size()); ++i) {
    sum += static_cast<double>(slices[i]);
  }
  return sum;
}

// Leaves out the first fifth of the samples, when queues fill, and the last 3 %, when makers have
// nothing left to do.
FeedWindow FindFeedWindow(const std::vector<std::uint32_t>& counts, double slice,
                          std::size_t& made) {
  constexpr double kFilled = 0.2;
  constexpr double kDraining = 0.97;
  double total = 0;
  for (const std::uint32_t count : counts) total += count;
  FeedWindow steady;
  double sum = 0;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    sum += counts[i];
    if (sum < kFilled * total) steady.first = i + 1;
    if (sum < kDraining * total) steady.end = i + 1;
  }
  for (std::size_t i = steady.first; i < steady.end; ++i) made += counts[i];
  if (steady.end > steady.first) {
    steady.length = static_cast<double>(steady.end - steady.first) * slice;
  }
  return steady;
}

std::vector<FeedSide> SidesOf(const ThreadsUse& use, const FeedWindow& steady) {
  std::vector<FeedSide> sides;
  for (const ThreadUse& thread : use.threads) {
    FeedSide side;
    side.thread = &thread;
    side.parts = {SecondsIn(thread.read, steady), SecondsIn(thread.decode, steady),
                  SecondsIn(thread.augment, steady), SecondsIn(thread.tokenize, steady),
                  SecondsIn(thread.collate, steady)};
    side.blocked = std::min(SecondsIn(thread.blocked, steady), steady.length);
    side.waits = SecondsIn(thread.waits, steady);
    sides.push_back(side);
  }
  return sides;
}

// The recorded processes that all makers run in or descend from; the outermost comes first.
struct Family {
  std::vector<ProcessId> line;
  bool unseen = false;  // `line` lacks the command that was recorded: it did nothing visible
};

Family SharedAncestors(const traces::Trace& trace, const std::vector<FeedSide>& makers) {
  std::map<std::uint32_t, std::uint32_t> by_pid;
  for (std::uint32_t i = 0; i < trace.processes().size(); ++i) {
    by_pid.emplace(trace.processes()[i].pid, i);
  }
  const auto line_of = [&](std::uint32_t at) {
    std::vector<ProcessId> line;
    for (int steps = 0; steps < 64; ++steps) {
      line.insert(line.begin(), ProcessId{at});
      const auto parent = by_pid.find(trace.processes()[at].parent);
      if (parent == by_pid.end() || parent->second == at) break;
      at = parent->second;
    }
    return line;
  };
  Family family;
  std::vector<ProcessId>& shared = family.line;
  for (const FeedSide& maker : makers) {
    const std::vector<ProcessId> line = line_of(maker.thread->process.value);
    if (&maker == &makers.front()) shared = line;
    std::size_t same = 0;
    while (same < std::min(shared.size(), line.size()) && shared[same] == line[same]) ++same;
    shared.resize(same);
  }
  const std::string root = TextFact(trace.facts(), "record.root_pid");
  family.unseen = !shared.empty() && !root.empty() &&
                  root != std::to_string(trace.processes()[shared.front().value].pid);
  return family;
}

// Whether a thread takes samples again and again: it waits often, and does other things in between.
bool Alternates(const FeedSide& side, double length) {
  constexpr double kDoes = 0.0005;
  return side.waits >= (side.thread->first ? kFewestWaits / 2 : kFewestWaits) &&
         length - side.blocked >= kDoes * length;
}

// The loop, which is the thread that takes the samples. It is the first thread of the outermost
// process that makes or takes samples. If the first thread only waits for another thread, the
// candidates are the threads that wait again and again and make no data. The loop is then the
// candidate that does most besides waiting. If there is no candidate, the loop is looked for in the
// next process.
struct LoopFound {
  std::optional<FeedSide> loop;
  bool unseen = false;  // the loop did nothing visible, so it hardly waited
  bool joined = false;  // the first thread waits all the time for a thread that may be the loop
};

LoopFound FindLoop(const std::vector<FeedSide>& sides, const std::vector<FeedSide>& makers,
                   const Family& family, double length) {
  constexpr double kJoins = 0.5;
  bool outer = family.unseen;
  bool joined = false;
  bool once = false;
  for (const ProcessId process : family.line) {
    const FeedSide* first = nullptr;
    const FeedSide* best = nullptr;
    bool concerned = std::any_of(makers.begin(), makers.end(), [process](const FeedSide& maker) {
      return maker.thread->process == process;
    });
    double most = 0;
    for (const FeedSide& side : sides) {
      if (side.thread->process != process) continue;
      if (side.thread->first) first = &side;
      if (!Alternates(side, length)) continue;
      concerned = true;
      const double does = length - side.blocked - side.data();
      const bool makes = std::any_of(makers.begin(), makers.end(), [&](const FeedSide& maker) {
        return maker.thread == side.thread;
      });
      if (side.thread->first || makes || does <= most) continue;
      best = &side;
      most = does;
    }
    if (!concerned) {
      outer = true;
      continue;
    }
    if (first == nullptr) return {std::nullopt, true, false};
    // A process that another one started is a maker if its first thread waits, and if this thread
    // spends most of its other time making data.
    const bool makes = first->data() > length - first->blocked - first->data();
    if (outer && makes && first->blocked >= kHardly * length) return {std::nullopt, true, false};
    const bool joins = first->blocked >= kJoins * length && !Alternates(*first, length);
    if (!joins) return {*first, false, false};
    if (best != nullptr) return {*best, false, false};
    outer = joined = true;
    once = first->waits < kFewestWaits / 2;
  }
  return {std::nullopt, !joined, once};
}

// What the makers did in the steady part, summed over all makers. Units: seconds.
struct FeedMaking {
  double active = 0;
  std::array<double, kFeedParts> parts{};
  double cpu = 0;       // CPU time of all parts except reading
  double own_cpu = -1;  // other CPU time of the makers' processes; < 0: not known
  std::size_t makers = 0;
  bool certain = true;  // false: some maker may have waited in calls that are not recorded
};

FeedMaking MakingOf(const std::vector<FeedSide>& makers, const FeedWindow& window,
                    const FeedSide* loop, const ThreadsUse& use, const RunModel& run) {
  const double length = window.length;
  constexpr double kSurelyBusy = 0.7;
  FeedMaking making;
  for (const FeedSide& maker : makers) {
    const double active = length - maker.blocked;
    making.active += active;
    for (std::size_t k = 0; k < kFeedParts; ++k) making.parts[k] += maker.parts[k];
    making.cpu += SecondsIn(maker.thread->cpu, window);
    const bool seen = maker.waits > 0 || maker.thread->python;
    if (!seen && maker.data() < kSurelyBusy * active) making.certain = false;
  }
  making.makers = makers.size();
  std::set<std::uint32_t> processes;
  for (const FeedSide& maker : makers) processes.insert(maker.thread->process.value);
  const std::int64_t from =
      use.begin + static_cast<std::int64_t>(static_cast<double>(window.first) * use.slice * 1e9);
  const std::optional<double> cpu =
      run.CpuRate([&](ProcessId process) { return processes.count(process.value) > 0; }, from,
                  from + static_cast<std::int64_t>(length * 1e9));
  if (!cpu) return making;
  // CPU time of the stages. If the loop runs in a maker's process, its CPU time is part of the
  // counters, but is not known. So the time in which it did not wait, which is the most it can be,
  // is added.
  double others = making.cpu;
  if (loop != nullptr && processes.count(loop->thread->process.value) > 0) {
    others += std::max(0.0, length - loop->blocked);
  }
  making.own_cpu = std::max(0.0, *cpu * length - others);
  return making;
}

// Seconds in which the loop waited while some maker was active.
double WaitForMakers(const FeedSide& loop, const std::vector<FeedSide>& makers,
                     const ThreadsUse& use, const FeedWindow& steady) {
  double waited = 0;
  for (std::size_t i = steady.first; i < std::min(steady.end, loop.thread->blocked.size()); ++i) {
    const double blocked =
        std::min<double>(use.slice, static_cast<double>(loop.thread->blocked[i]));
    if (blocked <= 0) continue;
    double active = 0;
    for (const FeedSide& maker : makers) {
      const std::vector<float>& own = maker.thread->blocked;
      active += std::max(0.0, use.slice - (own.empty() ? 0.0 : static_cast<double>(own[i])));
    }
    waited += std::min(blocked, active);
  }
  return waited;
}

// Sets the bottleneck, and the gains of the run if one cost of the loop or of the makers were free.
// Units of times: shares of the steady part. All makers compute on at most `cores` cores.
//
// The caller counts one core for all threads of an interpreter. Source: ours, two threads that
// decode and resize with Pillow, which releases the interpreter. Leaving out steps of 3 ms made the
// rate 1.1 times as high, leaving out steps of 5 ms 1.8 times. With two cores this function
// predicts 1.4 and 3.3, with one core 1.3 and 2.0.
void FindGains(Feed& feed, const FeedMaking& making, const FeedSide* loop, double length,
               double cores) {
  const auto share = [length](double seconds) { return seconds / length; };
  const double makers = std::max<double>(1, static_cast<double>(making.makers));
  const double make = making.makers > 0 ? share(making.active) / makers : 0;
  const double step = std::max(0.0, 1 - feed.wait - feed.own - feed.other);
  const double take = step + feed.other + feed.own;
  const double now = std::max(std::max(make, take), 1e-3);
  const auto gain = [now](double made, double taken) {
    return now / std::max({made, taken, now * 1e-3});
  };
  // The makers' CPU time outside the stages belongs to code of the program's own. In the rest of
  // their time, makers wait for cores and for the interpreter. Each part gets its share of this
  // waiting.
  double known = 0;
  for (const double part : making.parts) known += share(part) / makers;
  double rest = std::max(0.0, make - known);
  if (making.own_cpu >= 0) rest = std::min(rest, share(making.own_cpu) / makers);
  const double scale = known + rest > 0 ? make / (known + rest) : 1;
  const double computed = share(making.cpu + std::max(0.0, making.own_cpu));
  for (std::size_t k = 0; k < kFeedParts; ++k) {
    double made = scale * share(making.parts[k]) / makers;
    if (k == kAugments && rest * scale > made) feed.own_code = true;
    if (k == kAugments && feed.own_code) made += rest * scale;
    const double own = loop != nullptr ? share(loop->parts[k]) : 0;
    feed.gains.push_back({kFeedFactors[k], gain(make - made, take - own)});
  }
  // Counters that are read at other moments may show more than the cores can give.
  const double made = std::min(now, std::max(make, computed / cores));
  feed.gains.push_back({Factor::kCompute, gain(made, take - step)});
  feed.gains.push_back({Factor::kPrefetch, 1 / now});
  feed.headroom = 1 / std::max(1e-3, step + feed.other);
  std::stable_sort(feed.gains.begin(), feed.gains.end(),
                   [](const Gain& a, const Gain& b) { return a.speedup > b.speedup; });
  const Gain& most = feed.gains.front();
  feed.bottleneck = most.speedup >= kWorthNaming ? most.factor : Factor::kNone;
  // A loop that makes its data itself may gain more if all data are free than if one part is.
  if (feed.bottleneck == Factor::kCompute && making.makers == 0 && feed.headroom > most.speedup) {
    for (const Gain& part : feed.gains) {
      if (part.factor == Factor::kCompute || part.factor == Factor::kPrefetch) continue;
      if (part.speedup >= kWorthNaming) feed.bottleneck = part.factor;
      break;
    }
  }
}

// The loop, and the threads that make data beside it.
struct FeedParties {
  std::optional<FeedSide> loop;
  bool unseen = false;  // the loop exists, but did nothing visible
  bool joined = false;  // the loop may be a thread that the first thread waits for
  std::vector<FeedSide> makers;
  double blocked = 0;  // seconds, sum over all threads
};

FeedParties FindParties(const ThreadsUse& use, const FeedWindow& window,
                        const traces::Trace& trace) {
  const std::vector<FeedSide> sides = SidesOf(use, window);
  FeedParties found;
  double data = 0;
  for (const FeedSide& side : sides) {
    data += side.data();
    found.blocked += side.blocked;
  }
  for (const FeedSide& side : sides) {
    if (side.data() < std::max(0.01 * window.length, 0.02 * data)) continue;
    found.makers.push_back(side);
  }
  const Family family = SharedAncestors(trace, found.makers);
  const LoopFound taker = FindLoop(sides, found.makers, family, window.length);
  found.loop = taker.loop;
  found.unseen = taker.unseen;
  found.joined = taker.joined;
  found.makers.erase(std::remove_if(found.makers.begin(), found.makers.end(),
                                    [&](const FeedSide& side) {
                                      return found.loop && side.thread == found.loop->thread;
                                    }),
                     found.makers.end());
  return found;
}

// Finds where the loop's time goes.
void FindTaking(Feed& feed, const FeedParties& parties, const ThreadsUse& use,
                const FeedWindow& window) {
  if (!parties.loop) return;
  const FeedSide& loop = *parties.loop;
  feed.own = std::min(1.0, loop.data() / window.length);
  const double waited = std::min(loop.blocked, WaitForMakers(loop, parties.makers, use, window));
  feed.wait = std::min(1 - feed.own, waited / window.length);
  const double most = std::max(0.0, 1 - feed.own - feed.wait);
  feed.other = std::clamp(loop.blocked / window.length - feed.wait, 0.0, most);
}

FeedDoubt DoubtIn(const Feed& feed, const FeedParties& parties, const FeedMaking& making) {
  // The makers wait, presumably for the loop, for more than a tenth of the time.
  const bool held = feed.makers > 0 && feed.active < 1 - 2 * kHardly;
  // Waits are recorded in Python only. A loop that makes all of its data itself has no waits. One
  // that makes most of its data itself may have none, if its makers keep pace with it.
  constexpr double kMostly = 0.5;
  const bool itself =
      parties.loop && parties.loop->thread->python && (feed.makers == 0 || feed.own >= kMostly);
  if (!making.certain || (!itself && parties.blocked <= 0)) return FeedDoubt::kNoBlock;
  const bool idle = feed.makers > 0 && feed.active < 0.5;  // no matter what the makers wait for
  const bool surely = (held && parties.unseen) || (idle && parties.joined);
  if (!parties.loop && !surely) return FeedDoubt::kNoLoop;
  if (feed.makers > 0 && !held && feed.wait + feed.own < kHardly) return FeedDoubt::kTie;
  return FeedDoubt::kNone;
}

}  // namespace

Feed FindFeed(const ThreadsUse& use, const RunModel& run, const traces::Trace& trace) {
  Feed feed;
  if (use.empty()) return feed;
  const auto any = [](const std::vector<std::uint32_t>& counts) {
    return std::any_of(counts.begin(), counts.end(), [](std::uint32_t count) { return count > 0; });
  };
  feed.samples = any(use.samples);
  const auto& counts = feed.samples ? use.samples : any(use.pictures) ? use.pictures : use.decodes;
  const FeedWindow window = FindFeedWindow(counts, use.slice, feed.made);
  feed.doubt = FeedDoubt::kFew;
  if (feed.made < kEnoughMade || window.length <= 0) return feed;
  feed.from = static_cast<double>(window.first) * use.slice;
  feed.to = feed.from + window.length;
  feed.rate = static_cast<double>(feed.made) / window.length;
  const FeedParties parties = FindParties(use, window, trace);
  const FeedSide* const loop = parties.loop ? &*parties.loop : nullptr;
  const FeedMaking making = MakingOf(parties.makers, window, loop, use, run);
  feed.makers = parties.makers.size();
  std::set<std::uint32_t> processes;
  for (const FeedSide& maker : parties.makers) processes.insert(maker.thread->process.value);
  const std::size_t with_makers = processes.size();
  if (loop != nullptr) processes.erase(loop->thread->process.value);
  feed.processes = processes.size();
  if (feed.makers > 0) {
    feed.active = making.active / static_cast<double>(feed.makers) / window.length;
  }
  FindTaking(feed, parties, use, window);
  feed.doubt = DoubtIn(feed, parties, making);
  if (feed.doubt == FeedDoubt::kNone) {
    const double interpreters = std::max<double>(1, static_cast<double>(with_makers));
    FindGains(feed, making, loop, window.length, std::min(run.host_cores(), interpreters));
  }
  return feed;
}

}  // namespace penstock::analyzer
