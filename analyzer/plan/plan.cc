// SPDX-License-Identifier: Apache-2.0
#include "analyzer/plan/plan.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>

#include "analyzer/diagnosis/base.h"
#include "analyzer/diagnosis/summary.h"
#include "analyzer/model/loader_memory.h"
#include "analyzer/model/loop_use.h"
#include "analyzer/plan/describe_step.h"
#include "analyzer/plan/experiments.h"
#include "analyzer/plan/gains_beyond.h"
#include "analyzer/plan/levers.h"
#include "analyzer/plan/predict_combination.h"
#include "analyzer/plan/search.h"
#include "analyzer/plan/step_findings.h"
#include "analyzer/plan/step_gains.h"
#include "analyzer/simulate/simulate.h"
#include "analyzer/words/one_loader.h"
#include "analyzer/words/plan.h"

namespace penstock::analyzer {
namespace {

constexpr double kMissed = 1.05;        // a search is repeated if the whole combination gains this
                                        // many times as much as its steps
constexpr double kOtherCeiling = 1.01;  // less is no limit of its own for a reader
constexpr double kAtLimit = 1.05;       // if the headroom is smaller, the step is the limit, as in
                                        // attribution
// A long recording is shortened to this many batches or samples to name the bottleneck of a step.
constexpr std::size_t kNamedBatches = 512;
constexpr std::size_t kNamedTasks = 4096;

// One change of a plan: a lever, or an argument of the loader.
struct Move {
  enum Kind { kWorkers, kPrefetch, kLever } kind = kLever;
  std::size_t lever = 0;
};

// The best combination of a search, and the changes in it that are worth a step.
struct Found {
  Combination end;
  std::vector<Move> moves;
  Combination reached;    // with these moves
  double speedup = 1;     // the same
  double promised = 1;    // with the whole combination
  LeverSet left_out = 0;  // levers of the combination that are worth no step
};

// What the plan does not examine, or which part of the program it is about. `gain`: of the loop
// over the main loader.
std::optional<Statement> OpenOf(const Diagnosis& diagnosis, std::optional<double> gain) {
  if (!diagnosis.loader->pipeline.beside.empty()) return Say<words::kPlanOfSeveral>();
  const double share = PartOfLoop(diagnosis.run);
  if (share >= kNearlyAllOfLoop) return std::nullopt;
  if (diagnosis.loader->steady.change) gain.reset();  // the share is that of the whole run
  if (gain) gain = 1 / (1 - share + share / *gain);
  const std::string& name = diagnosis.run.loader().name;
  return Say<words::kPlanOfOneLoader>(GiveIf<"loader">(!name.empty(), name), Give<"share">(share),
                                      Give<"gain">(gain));
}

class Planner {
 public:
  Planner(const Diagnosis& diagnosis, const std::vector<Finding>& findings,
          const PlanRequest& request)
      : diagnosis_(diagnosis),
        loader_(*diagnosis.loader),
        findings_(findings),
        levers_(FindLevers(diagnosis, findings, request.outside)),
        budget_(BudgetWith(diagnosis, request)),
        space_(loader_, levers_, budget_),
        base_(loader_.pipeline),
        predictor_(diagnosis, levers_, space_) {}

  [[nodiscard]] const Levers& levers() const { return levers_; }
  void Fill(Plan& plan);
  // Predicts a plan that has only `steps`.
  void FillWith(const std::vector<PlanStep>& steps, Plan& plan);

 private:
  static Budget BudgetWith(const Diagnosis& diagnosis, const PlanRequest& request) {
    Budget budget = BudgetOf(diagnosis.run.host);
    if (request.budget_ram > 0) budget.ram = request.budget_ram;
    return budget;
  }
  [[nodiscard]] Combination With(const Move& move, Combination one) const;
  [[nodiscard]] std::vector<Move> MovesTo(const Combination& end) const;
  [[nodiscard]] std::vector<Move> InOrder(std::vector<Move> moves);
  [[nodiscard]] std::vector<PlanStep> Steps(const std::vector<Move>& moves);
  void Describe(const Move& move, PlanStep& step) const;
  [[nodiscard]] std::optional<Pipeline> Changed(const Combination& one) const {
    return predictor_.Changed(one);
  }
  [[nodiscard]] Prediction Predict(const Combination& one) { return predictor_.Predict(one); }
  [[nodiscard]] std::vector<Move> Worthwhile(const std::vector<Move>& moves);
  [[nodiscard]] Combination Reached(const std::vector<Move>& moves) const;
  [[nodiscard]] double CeilingOf(const std::vector<Move>& moves) const;
  [[nodiscard]] Found Measure(const Combination& end);
  [[nodiscard]] Found Search(const Combination& suggested, LeverSet without, int most) {
    return Measure(SearchPlan(space_, levers_, suggested, without, most));
  }
  void Finish(const std::vector<Move>& moves, Plan& plan);

  const Diagnosis& diagnosis_;
  const LoaderDiagnosis& loader_;
  const std::vector<Finding>& findings_;
  Levers levers_;
  Budget budget_;
  PlanSpace space_;
  const Pipeline& base_;
  Combination end_;
  CombinationPredictor predictor_;
};

Combination Planner::With(const Move& move, Combination one) const {
  if (move.kind == Move::kWorkers) {
    one.workers = end_.workers;
    if (one.workers == 0 || space_.recorded().workers == 0) one.prefetch = end_.prefetch;
  }
  if (move.kind == Move::kPrefetch) one.prefetch = end_.prefetch;
  if (move.kind == Move::kLever) one.levers |= LeverSet{1} << move.lever;
  return one;
}

std::vector<Move> Planner::MovesTo(const Combination& end) const {
  std::vector<Move> moves;
  const Combination now = space_.recorded();
  if (end.workers != now.workers) moves.push_back({Move::kWorkers, 0});
  if (end.workers > 0 && now.workers > 0 && end.prefetch != now.prefetch) {
    moves.push_back({Move::kPrefetch, 0});
  }
  for (std::size_t i = 0; i < levers_.all.size(); ++i) {
    if ((end.levers >> i & 1) != 0) moves.push_back({Move::kLever, i});
  }
  return moves;
}

// Orders the moves. The next move is always the cheapest of those that gain as much as the best
// move, within 2 %.
std::vector<Move> Planner::InOrder(std::vector<Move> moves) {
  std::vector<Move> order;
  Combination at = space_.recorded();
  while (!moves.empty()) {
    std::vector<double> times;
    for (const Move& move : moves) {
      const Combination next = With(move, at);
      const double time = space_.Fits(next) ? space_.Time(next) : 0;
      times.push_back(time > 0 ? time : std::numeric_limits<double>::infinity());
    }
    const double best = *std::min_element(times.begin(), times.end());
    std::size_t chosen = moves.size();
    for (std::size_t i = 0; i < moves.size(); ++i) {
      if (times[i] > best * (1 + kPlanTolerance)) continue;
      if (chosen == moves.size() || space_.Cheaper(With(moves[i], at), With(moves[chosen], at))) {
        chosen = i;
      }
    }
    at = With(moves[chosen], at);
    order.push_back(moves[chosen]);
    moves.erase(moves.begin() + static_cast<std::ptrdiff_t>(chosen));
  }
  return order;
}

void Planner::Describe(const Move& move, PlanStep& step) const {
  switch (move.kind) {
    case Move::kLever:
      return DescribeLever(levers_.all[move.lever], step);
    case Move::kWorkers:
      return DescribeWorkers(diagnosis_, space_.recorded(), end_, step);
    case Move::kPrefetch:
      return DescribePrefetch(diagnosis_, space_.recorded(), end_, step);
  }
}

std::vector<PlanStep> Planner::Steps(const std::vector<Move>& moves) {
  std::vector<PlanStep> steps;
  std::vector<Attribution> after;
  Combination at = space_.recorded();
  const Setting recorded = space_.SettingOf(at);
  PlanCost needs{.ram = RamOf(base_, recorded, loader_.facts), .workers = recorded.workers};
  double before = 1;
  for (const Move& move : moves) {
    at = With(move, at);
    PlanStep step;
    Describe(move, step);
    step.predicted = Predict(at);
    step.setting = space_.SettingOf(at);
    step.findings =
        FindingsOfStep(step.id, step.setting.workers > space_.recorded().workers, findings_);
    if (move.kind == Move::kLever && !levers_.all[move.lever].also.empty()) {
      step.findings.push_back(levers_.all[move.lever].also);
    }
    DescribeNeeds(loader_, needs, step);
    needs = step.cost;
    const auto pipeline = Changed(at);
    after.push_back(pipeline ? Attribute(Shortened(*pipeline, kNamedBatches, kNamedTasks))
                             : Attribution{});
    step.gain = step.predicted.speedup / before;
    before = step.predicted.speedup;
    steps.push_back(std::move(step));
  }
  const double ceiling = std::max(diagnosis_.ceiling, CeilingOf(moves));
  NameLimits(after, ceiling / std::max(1e-9, diagnosis_.base_rate()), steps);
  return steps;
}

// Leaves out moves whose gain lies within the confidence interval of their prediction, and moves
// that do not fit. Keeps them if a later move gains, or fits, only together with them.
std::vector<Move> Planner::Worthwhile(const std::vector<Move>& moves) {
  std::vector<Move> kept;
  std::vector<Move> pending;
  Combination reached = space_.recorded();  // with all moves kept so far
  double speedup = 1;
  for (const Move& move : moves) {
    const Combination alone = With(move, reached);
    if (space_.Fits(alone) && Gains(Predict(alone).speedup / speedup, Predict(alone))) {
      kept.push_back(move);
      reached = alone;
      speedup = Predict(alone).speedup;
      continue;
    }
    Combination before = reached;
    for (const Move& other : pending) before = With(other, before);
    const Combination all = With(move, before);
    if (pending.empty() || !space_.Fits(all) ||
        !GainsTogether(speedup, Predict(before).speedup, Predict(all))) {
      pending.push_back(move);
      continue;
    }
    kept.insert(kept.end(), pending.begin(), pending.end());
    kept.push_back(move);
    pending.clear();
    reached = all;
    speedup = Predict(all).speedup;
  }
  return kept;
}

Combination Planner::Reached(const std::vector<Move>& moves) const {
  Combination at = space_.recorded();
  for (const Move& move : moves) at = With(move, at);
  return at;
}

// The ceiling with the copies to the device as they are after `moves`.
double Planner::CeilingOf(const std::vector<Move>& moves) const {
  const auto end = Changed(Reached(moves));
  return end ? CeilingOnBase(diagnosis_, base_, *end) : diagnosis_.ceiling;
}

// What is worth a step on the way to `end`.
Found Planner::Measure(const Combination& end) {
  end_ = end;
  Found found{.end = end, .moves = Worthwhile(InOrder(MovesTo(end))), .reached = {}};
  found.reached = Reached(found.moves);
  found.speedup = Predict(found.reached).speedup;
  found.promised = Predict(end).speedup;
  found.left_out = end.levers & ~found.reached.levers;
  return found;
}

void Planner::FillWith(const std::vector<PlanStep>& steps, Plan& plan) {
  std::vector<Move> moves;
  for (const PlanStep& step : steps) {
    if (step.id == "num_workers") {
      moves.push_back({Move::kWorkers, 0});
      end_.workers = step.setting.workers;
    } else if (step.id == "prefetch_factor") {
      moves.push_back({Move::kPrefetch, 0});
    }
    end_.prefetch = step.setting.prefetch;
    for (std::size_t i = 0; i < levers_.all.size(); ++i) {
      if (levers_.all[i].id == step.id) moves.push_back({Move::kLever, i});
    }
  }
  plan.ceiling = diagnosis_.ceiling;
  plan.other_copies = false;
  plan.rest.clear();
  plan.left.clear();
  Finish(moves, plan);
  const double left = plan.no_ceiling ? 0 : plan.ceiling / std::max(1e-9, plan.end());
  if (moves.empty()) {
    plan.verdict = Say<words::kPlanNoneChosen>();
  } else if (Changed(Reached(moves)) && !space_.Fits(Reached(moves))) {
    plan.verdict = Say<words::kPlanChosenNoRoom>();
  } else {
    plan.verdict = Say<words::kPlanChosen>(
        Give<"gain">(plan.steps.back().predicted.speedup), GiveIf<"left">(left >= kAtLimit, left),
        Give<"least">(diagnosis_.ceiling_is_least()),
        Give<"open">(OpenOf(diagnosis_, plan.steps.back().predicted.speedup)));
  }
}

void Planner::Finish(const std::vector<Move>& moves, Plan& plan) {
  plan.steps = Steps(moves);
  for (std::size_t i = 0; i < plan.steps.size(); ++i) {
    plan.steps[i].with_next = GainsWithNext(plan.steps, i);
  }
  plan.simulations = space_.simulations();
  const double end = CeilingOf(moves);
  if (end > plan.ceiling && (end > kOtherCeiling * plan.ceiling || plan.end() > plan.ceiling)) {
    plan.ceiling = end;
    plan.other_copies = true;
  }
}

void Planner::Fill(Plan& plan) {
  plan.now = diagnosis_.base_interval();
  plan.limited_by = loader_.attribution.bottleneck;
  plan.also_limits = AsGood(diagnosis_.gains, diagnosis_.headroom(), plan.limited_by);
  plan.no_ceiling = loader_.attribution.all_data();
  plan.whole_run = diagnosis_.whole_run;
  plan.ceiling = diagnosis_.ceiling;
  const double headroom = diagnosis_.headroom();
  const bool least = diagnosis_.ceiling_is_least();
  if (!least && std::max(headroom, loader_.attribution.headroom) < kAtLimit) {
    plan.verdict = Say<words::kPlanAtLimit>(Give<"gain">(headroom - 1));
    return;
  }
  const Suggestion& suggestion = loader_.suggestion;
  const int extra = base_.sample_tasks ? 1 : 0;
  const Combination suggested{0, suggestion.workers, suggestion.prefetch + extra};
  Found best = Search(suggested, 0, kMostSimulations);
  // A lever whose gain has a wide interval is worth no step, but may have kept others out.
  LeverSet out = best.left_out;
  for (int again = 0; again < 2 && out != 0 && best.promised > kMissed * best.speedup; ++again) {
    const Found other = Search(suggested, out, kMostAgain);
    out |= other.left_out;
    if (other.speedup > best.speedup) best = other;
  }
  // Without its moves of little gain, it may gain no more than the suggested arguments alone.
  const Found plain = Measure(suggested);
  const bool as_good = best.speedup <= plain.speedup * (1 + kPlanTolerance);
  if (!plain.moves.empty() && as_good && space_.Cheaper(plain.reached, best.reached)) best = plain;
  end_ = best.end;
  Finish(best.moves, plan);
  plan.rest = GainsBeyond(Reached(best.moves), plan.steps, findings_, levers_, space_, predictor_);
  plan.left = FindingsLeftBy(plan, diagnosis_, findings_, levers_, end_.levers);
  const double gain = plan.steps.empty() ? 1 : plan.steps.back().predicted.speedup;
  const double left = plan.ceiling / std::max(1e-9, plan.end());
  const auto open = Give<"open">(
      OpenOf(diagnosis_, plan.steps.empty() ? std::nullopt : std::optional<double>(gain)));
  if (plan.steps.empty()) {
    plan.verdict = plan.no_ceiling ? Say<words::kPlanNothingOpen>(open)
                                   : Say<words::kPlanNothing>(
                                         Give<"crowded">(base_.crowded && base_.workers > 0),
                                         Give<"headroom">(headroom), Give<"least">(least), open);
  } else if (plan.no_ceiling) {
    plan.verdict = Say<words::kPlanEndsOpen>(Give<"gain">(gain), open);
  } else {
    plan.verdict =
        Say<words::kPlanEnds>(Give<"gain">(gain), GiveIf<"left">(least || left >= kAtLimit, left),
                              Give<"one">(plan.steps.size() == 1), Give<"least">(least), open);
  }
}

}  // namespace

Plan BuildPlan(const traces::Trace& trace, const Diagnosis& diagnosis,
               const std::vector<Finding>& findings, const PlanRequest& request) {
  Plan plan;
  plan.unit = RateUnit(diagnosis);
  plan.missing = NotEnough(diagnosis);
  if (plan.missing.empty()) plan.missing = diagnosis.loader->suggestion.missing;
  if (!plan.missing.empty()) return plan;
  Planner planner(diagnosis, findings, request);
  planner.Fill(plan);
  if (!plan.verdict.Is(words::kPlanAtLimit) && !request.outside) {
    plan.experiments = FindExperiments(trace, diagnosis, findings, planner.levers(), request);
  }
  return plan;
}

Plan WithSteps(const Plan& plan, const std::vector<bool>& chosen, const Diagnosis& diagnosis,
               const std::vector<Finding>& findings, const PlanRequest& request) {
  if (std::find(chosen.begin(), chosen.end(), false) == chosen.end()) return plan;
  Plan changed = plan;
  std::vector<PlanStep> steps;
  for (std::size_t i = 0; i < plan.steps.size(); ++i) {
    if (chosen[i]) steps.push_back(plan.steps[i]);
  }
  if (!plan.steps.empty()) Planner(diagnosis, findings, request).FillWith(steps, changed);
  return changed;
}

}  // namespace penstock::analyzer
