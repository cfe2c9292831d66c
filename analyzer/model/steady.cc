// SPDX-License-Identifier: Apache-2.0
#include "analyzer/model/steady.h"

#include <algorithm>
#include <span>

#include "analyzer/stats/quantile.h"
#include "analyzer/stats/shift.h"

namespace penstock::analyzer {
namespace {

// A rate from fewer intervals is not reliable. The report says so and lowers its confidence.
constexpr std::size_t kFewestBatches = 16;

// Finds the long steps between batches of one epoch. Most of them are pauses. A long step raises
// the mean and the deviation, and thus hides shorter long steps. So the search is repeated without
// the steps that were found, until it finds no more.
std::vector<bool> FindLongSteps(const LoaderRun& run) {
  std::vector<std::size_t> places;
  std::vector<double> steps;
  std::vector<double> intervals;
  for (const Epoch& epoch : run.epochs) {
    for (std::size_t i = epoch.first; i + 1 < epoch.first + epoch.count; ++i) {
      places.push_back(i);
      steps.push_back(run.batches[i].step());
      intervals.push_back(run.batches[i].step() + run.batches[i].wait());
    }
  }
  // A long step that is shorter than three ordinary turns of the loop is jitter.
  const double jitter = 3 * std::max(Median(steps), Median(std::move(intervals)));
  double limit = 0;
  std::vector<double> ordinary = steps;
  for (std::size_t before = 0; before != ordinary.size();) {
    before = ordinary.size();
    const Summary summary = Summarize(ordinary);
    limit = std::max(summary.mean + 3 * summary.sd, jitter);
    std::erase_if(ordinary, [limit](double step) { return step > limit; });
  }
  const auto is_long = [limit](double step) { return step > limit; };
  // If more than one step in twenty is long, long steps are a regular part of the loop and not
  // pauses. The first steps of a run are pauses if they are long, for example because they compile.
  const auto first = std::find_if_not(steps.begin(), steps.end(), is_long);
  const auto count = static_cast<std::size_t>(std::count_if(first, steps.end(), is_long));
  const bool regular = count * 20 > std::max<std::size_t>(steps.size(), 20);
  std::vector<bool> pauses(run.batches.size(), false);
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const bool leads = steps.begin() + static_cast<std::ptrdiff_t>(i) < first;
    pauses[places[i]] = is_long(steps[i]) && (leads || !regular);
  }
  return pauses;
}

// The first batch after `i` that follows a pause; `end` if no batch before `end` follows one.
std::size_t NextPause(const std::vector<bool>& paused, std::size_t i, std::size_t end) {
  const auto at = [&paused](std::size_t k) {
    return paused.begin() + static_cast<std::ptrdiff_t>(k);
  };
  const auto next = std::find(at(i), at(end - 1), true);
  return static_cast<std::size_t>(next - paused.begin()) + 1;
}

// Mean seconds that the loop waits for a batch once its queues are filled. 0 if this is less than a
// twentieth of an ordinary turn of the loop, because such a loop is not limited by its data.
double UsualWait(const LoaderRun& run, double usual_step) {
  double wait = 0;
  double steps = 0;
  double count = 0;
  for (const Epoch& epoch : run.epochs) {
    const std::size_t warm = std::max<std::size_t>(1, WarmUp(run.config, epoch.count));
    for (std::size_t i = epoch.first + warm; i < epoch.first + epoch.count; ++i) {
      wait += run.batches[i].wait();
      steps += std::min(run.batches[i].step(), usual_step);
      ++count;
    }
  }
  return wait > 0 && wait >= 0.05 * (wait + steps) ? wait / count : 0;
}

// The first batch whose turn counts after a pause. Batch `i` follows this pause, and `next` follows
// the next one. During the pause the workers filled the queue. If the loop usually waits for data,
// the queue is empty again once a wait is as long as usual. At most half of the batches up to
// `next` are left out.
std::size_t AfterPause(const LoaderRun& run, std::size_t i, std::size_t next, double usual_wait) {
  const std::size_t most = i + (next - i) / 2;
  std::size_t from = i + WarmUp(run.config, next - i);
  if (from == i || usual_wait == 0) return from;
  while (from < most && run.batches[from].wait() < usual_wait) ++from;
  return std::min(from + 1, most);
}

// Whether, after most pauses, the queue lasts for more than half of the time to the next pause.
// Then the loop still hardly waits halfway, because it takes batches that the workers made during
// the pause.
bool QueueOutlastsPauses(const LoaderRun& run, const std::vector<bool>& paused, double usual_wait) {
  constexpr double kHardly = 0.5;  // of the usual wait
  if (usual_wait == 0 || run.config.credits() <= 0) return false;
  std::size_t batches = 0;
  for (const Epoch& epoch : run.epochs) {
    const std::size_t end = epoch.first + epoch.count;
    for (std::size_t i = epoch.first + 1; i < end; ++i) {
      if (!paused[i - 1]) continue;
      const std::size_t next = NextPause(paused, i, end);
      const std::size_t half = (next - i) / 2;
      const std::size_t last = (half + 3) / 4;  // the last quarter of the batches up to halfway
      double wait = 0;
      for (std::size_t k = i + half - last; k < i + half; ++k) wait += run.batches[k].wait();
      if (wait < kHardly * usual_wait * static_cast<double>(last)) batches += next - i;
    }
  }
  return 2 * batches > run.batches.size();
}

// The long steps that are pauses. If the batches that workers make during a long step last nearly
// until the next long step, long steps are a regular part of the loop. Without them, the loop could
// not keep up the rate that it has between them.
std::vector<bool> FindPauses(const LoaderRun& run, double usual_wait) {
  std::vector<bool> paused = FindLongSteps(run);
  if (QueueOutlastsPauses(run, paused, usual_wait)) {
    const auto first = std::find(paused.begin(), paused.end(), false);
    std::fill(first, paused.end(), false);
  }
  return paused;
}

// Whether the batch was delivered while experiments slowed the loop down.
bool IsProbed(const std::optional<std::pair<std::int64_t, std::int64_t>>& probed,
              const Batch& batch) {
  return probed && batch.delivered > probed->first && batch.delivered <= probed->second;
}

// Adds the window from..to, without the time of experiments.
void AddWindow(std::int64_t from, std::int64_t to,
               const std::optional<std::pair<std::int64_t, std::int64_t>>& probed,
               std::vector<std::pair<std::int64_t, std::int64_t>>& windows) {
  if (from >= to) return;
  if (!probed || probed->second <= from || probed->first >= to) {
    windows.emplace_back(from, to);
    return;
  }
  if (from < probed->first) windows.emplace_back(from, probed->first);
  if (probed->second < to) windows.emplace_back(probed->second, to);
}

// One turn of the loop, from one delivery to the next. If only the pause of a turn counts,
// `interval`, `wait` and `amount` are 0.
struct SteadyTurn {
  std::size_t batch = 0;
  double interval = 0;  // seconds, without `pause`
  double wait = 0;
  double amount = 0;  // samples
  double pause = 0;
};

double RateOver(std::span<const SteadyTurn> turns) {
  double time = 0;
  double amount = 0;
  for (const SteadyTurn& turn : turns) {
    time += std::max(0.0, turn.interval);
    amount += turn.amount;
  }
  return time > 0 ? amount / time : 0;
}

double TimeOver(std::span<const SteadyTurn> turns) {
  double time = 0;
  for (const SteadyTurn& turn : turns) time += std::max(0.0, turn.interval);
  return time;
}

// Workers deliver in bursts, so rates are compared over blocks of at least as many batches as may
// be in flight.
std::optional<RegimeChange> FindRegimeChange(const LoaderRun& run,
                                             std::span<const SteadyTurn> turns) {
  constexpr std::size_t kBlocks = 64;
  constexpr std::size_t kFewestTurns = 32;  // turns on each side
  constexpr double kShortest = 2;           // seconds on each side
  const auto credits = static_cast<std::size_t>(std::max(1, run.config.credits()));
  const std::size_t block = std::max(credits, (turns.size() + kBlocks - 1) / kBlocks);
  std::vector<double> rates;
  for (std::size_t i = 0; i + block <= turns.size(); i += block) {
    rates.push_back(RateOver(turns.subspan(i, block)));
  }
  std::vector<std::size_t> places = {0};
  for (const std::size_t shift : FindShifts(rates)) places.push_back(block * shift);
  const auto enough = [](std::span<const SteadyTurn> part) {
    return part.size() >= kFewestTurns && TimeOver(part) >= kShortest;
  };
  // A part that is too short for a rate of its own belongs to the part before it.
  while (places.size() > 1 && !enough(turns.subspan(places.back()))) places.pop_back();
  const std::size_t at = places.back();
  const auto after = turns.subspan(at);
  std::span<const SteadyTurn> before;
  while (!enough(before) && places.size() > 1) {
    places.pop_back();
    before = turns.subspan(places.back(), at - places.back());
  }
  if (!enough(before)) return std::nullopt;
  const double ratio = RateOver(after) / RateOver(before);  // short parts included
  if (std::max(ratio, 1 / ratio) < ShiftOptions{}.ratio) return std::nullopt;
  const std::size_t first = turns[at].batch;
  return RegimeChange{first, run.batches[first > 0 ? first - 1 : 0].delivered, RateOver(before),
                      RateOver(after)};
}

// Keeps only the windows and turns after the change.
void KeepRegime(const RegimeChange& change,
                std::vector<std::pair<std::int64_t, std::int64_t>>& windows,
                std::vector<SteadyTurn>& turns) {
  std::erase_if(turns, [&](const SteadyTurn& turn) { return turn.batch < change.batch; });
  std::erase_if(windows, [&](const auto& window) { return window.second <= change.at; });
  if (!windows.empty()) windows.front().first = std::max(windows.front().first, change.at);
}

// Whether reading and decoding take much less of each batch in the last third of the batches in the
// windows than in the first third.
bool FillsCache(const LoaderRun& run, const std::vector<bool>& in_window) {
  constexpr double kLess = 0.5;
  constexpr double kMuch = 0.05;  // of making a batch
  std::vector<const Batch*> batches;
  for (std::size_t i = 0; i < in_window.size(); ++i) {
    if (in_window[i] && run.batches[i].was_fetched()) batches.push_back(&run.batches[i]);
  }
  const std::size_t third = batches.size() / 3;
  const auto cost = [&](std::size_t from) {
    double sum = 0;
    for (std::size_t i = from; i < from + third; ++i) {
      sum += batches[i]->read.wall + batches[i]->decode.wall;
    }
    return sum;
  };
  double made = 0;
  for (std::size_t i = 0; i < third; ++i) made += batches[i]->fetch.wall;
  const double first = cost(0);
  return first > kMuch * made && cost(batches.size() - third) < kLess * first;
}

}  // namespace

double UsualStep(const LoaderRun& run) {
  std::vector<double> steps;
  steps.reserve(run.batches.size());
  for (const Batch& batch : run.batches) steps.push_back(batch.step());
  return Median(std::move(steps));
}

double SamplesOf(const LoaderRun& run, const Batch& batch) {
  return static_cast<double>(batch.samples > 0 ? batch.samples : run.samples_per_batch);
}

std::size_t WarmUp(const LoaderConfig& config, std::size_t batches) {
  const auto credits = static_cast<std::size_t>(std::max(0, config.credits()));
  return std::min(credits, batches / 2);
}

SteadyLoop MeasureLoop(const LoaderRun& run) {
  SteadyLoop loop;
  const auto probed = ProbedTime(run.probes);
  loop.steady.assign(run.batches.size(), false);
  for (const Epoch& epoch : run.epochs) {
    const std::size_t warm = std::max<std::size_t>(1, WarmUp(run.config, epoch.count));
    for (std::size_t i = epoch.first + warm; i < epoch.first + epoch.count; ++i) {
      if (IsProbed(probed, run.batches[i])) continue;
      loop.steady[i] = true;
      loop.time += run.batches[i - 1].step() + run.batches[i].wait();
      loop.wait += run.batches[i].wait();
    }
  }
  return loop;
}

const Batch* StepBefore(const LoaderRun& run, const SteadyState& steady, std::size_t i) {
  if (i == 0 || steady.paused[i - 1]) return nullptr;
  const Batch& before = run.batches[i - 1];
  return before.key.generation == run.batches[i].key.generation ? &before : nullptr;
}

SteadyState FindSteadyState(const LoaderRun& run) {
  SteadyState state;
  state.in_window.assign(run.batches.size(), false);
  const double usual = UsualStep(run);
  const double usual_wait = UsualWait(run, usual);
  state.paused = FindPauses(run, usual_wait);
  const auto probed = ProbedTime(run.probes);
  std::vector<SteadyTurn> steady_turns;
  for (const Epoch& epoch : run.epochs) {
    // The first batch of an epoch follows no step, so it is left out. If the epoch has no other
    // batch, this batch counts with its wait.
    const std::size_t warm =
        std::max(WarmUp(run.config, epoch.count), std::min<std::size_t>(1, epoch.count / 2));
    if (epoch.count <= warm) continue;
    const Batch& first = run.batches[epoch.first + (warm > 0 ? warm - 1 : 0)];
    std::int64_t window = warm > 0 ? first.delivered : first.wait_start;
    const std::size_t end = epoch.first + epoch.count;
    std::size_t counts_from = 0;  // AfterPause()
    for (std::size_t i = epoch.first + warm; i < end; ++i) {
      const Batch& batch = run.batches[i];
      if (IsProbed(probed, batch)) continue;
      const bool follows = i > epoch.first;
      const Batch& before = run.batches[follows ? i - 1 : i];
      double interval = batch.wait() + (follows ? before.step() : 0);
      // The samples of this turn count. So the turn keeps the time of an ordinary step, and only
      // the rest is the pause.
      const bool paused = follows && state.paused[i - 1];
      const double pause = paused ? std::max(0.0, before.step() - usual) : 0;
      interval -= pause;
      if (paused) counts_from = AfterPause(run, i, NextPause(state.paused, i, end), usual_wait);
      if (paused && counts_from > i) {
        AddWindow(window, before.delivered, probed, state.windows);
        window = run.batches[counts_from - 1].delivered;
      }
      if (i < counts_from) {
        if (pause > 0) steady_turns.push_back({i, 0, 0, 0, pause});
        continue;
      }
      if (!(interval > 0) && !(pause > 0)) continue;
      steady_turns.push_back({i, interval, batch.wait(), SamplesOf(run, batch), pause});
    }
    AddWindow(window, run.batches[end - 1].delivered, probed, state.windows);
  }
  if (run.use != LoopUse::kInterleaved) state.change = FindRegimeChange(run, steady_turns);
  if (state.change) KeepRegime(*state.change, state.windows, steady_turns);
  std::vector<double> amounts;
  for (const SteadyTurn& turn : steady_turns) {
    const Batch& batch = run.batches[turn.batch];
    if (turn.pause > 0) {
      state.pauses.push_back({turn.pause, turn.batch - 1});
      state.pauses_time += turn.pause;
    }
    if (!(turn.interval > 0)) continue;
    state.in_window[turn.batch] = true;
    state.intervals.push_back(turn.interval);
    state.waits.push_back(turn.wait);
    amounts.push_back(turn.amount);
    state.time += turn.interval;
    state.wait += turn.wait;
    state.samples += turn.amount;
    if (state.from == kNever) state.from = batch.wait_start;
    state.to = batch.delivered;
  }
  // If every epoch has only one batch, the length of a turn of the loop is not known.
  bool turns = false;
  for (const Epoch& epoch : run.epochs) turns |= epoch.count > 1;
  if (!turns) {
    state.in_window.assign(run.batches.size(), false);
    state.change.reset();
    state.intervals.clear();
    state.waits.clear();
    amounts.clear();
    state.time = state.wait = state.samples = 0;
  }
  state.batches = state.intervals.size();
  state.steady = state.batches >= kFewestBatches;
  BootstrapOptions options;
  options.block = static_cast<std::size_t>(std::max(1, run.config.credits()));
  state.rate = BootstrapRate(amounts, state.intervals, options);
  if (run.use != LoopUse::kInterleaved) {
    state.drift = FindDrift(amounts, state.intervals, options);
  }
  if (state.drift) {
    state.rate.low = std::min(state.rate.low, state.drift->last);
    state.rate.high = std::max(state.rate.high, state.drift->last);
    state.fills_cache = state.drift->rises() && FillsCache(run, state.in_window);
  }
  return state;
}

}  // namespace penstock::analyzer
