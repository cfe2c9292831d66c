// SPDX-License-Identifier: Apache-2.0
#include "gui/model/panels/whatif.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include <fmt/core.h>

#include "analyzer/predict/predict.h"
#include "analyzer/words/format.h"
#include "analyzer/words/needs.h"
#include "gui/model/overview.h"
#include "traces/host_facts.h"

namespace penstock::gui {

using analyzer::Diagnosis;

WhatIf Recorded(const Diagnosis& diagnosis) {
  const analyzer::LoaderRun& run = diagnosis.run.loader();
  WhatIf what;
  what.workers = run.config.num_workers;
  what.prefetch = std::max(1, run.config.prefetch_factor);
  what.batch = std::max(1, static_cast<int>(run.samples_per_batch));
  what.step = -1;
  what.pin = diagnosis.loader->facts.pinned;
  what.persistent = diagnosis.loader->facts.persistent;
  return what;
}

WhatIf Suggested(const Diagnosis& diagnosis) {
  WhatIf what = Recorded(diagnosis);
  const analyzer::Suggestion& suggestion = diagnosis.loader->suggestion;
  if (!suggestion.changes) return what;
  what.workers = suggestion.workers;
  what.prefetch = std::max(1, suggestion.prefetch);
  what.persistent = suggestion.persistent_workers;
  return what;
}

namespace {

// The greatest number of workers that can be chosen.
int MostWorkers(const Diagnosis& diagnosis) {
  const double cores = diagnosis.loader->pipeline.cores;
  const int most = std::max({static_cast<int>(std::ceil(2 * cores)),
                             Recorded(diagnosis).workers + 2, Suggested(diagnosis).workers, 4});
  return std::min(most, 128);
}

}  // namespace

WhatIfLimits LimitsOf(const Diagnosis& diagnosis) {
  WhatIfLimits limits;
  const WhatIf recorded = Recorded(diagnosis);
  limits.workers = MostWorkers(diagnosis);
  limits.prefetch = std::max(16, recorded.prefetch);
  limits.batch = std::max(4 * recorded.batch, 8);
  limits.recorded_step = MeanStep(diagnosis);
  limits.step = std::max(0.01, 4 * limits.recorded_step);
  if (!diagnosis.loader->pipeline.beside.empty()) {
    limits.unchanged = analyzer::Say<analyzer::words::kNeedsOneLoaderForThat>();
  }
  return limits;
}

analyzer::GridRequest RequestOf(const Diagnosis& diagnosis, const WhatIf& chosen,
                                std::vector<int> workers) {
  const WhatIf recorded = Recorded(diagnosis);
  analyzer::GridRequest request;
  request.options = false;  // the view has controls instead
  request.workers = std::move(workers);
  request.prefetch = {chosen.prefetch};
  if (chosen.batch != recorded.batch) request.batch = chosen.batch;
  if (chosen.step >= 0) request.step = chosen.step;
  if (chosen.pin != recorded.pin) request.pin = chosen.pin;
  if (chosen.persistent != recorded.persistent) request.persistent = chosen.persistent;
  request.changes = chosen.changes;
  request.device_costs = analyzer::BuiltInDeviceCosts(diagnosis.loader->material.gpu);
  for (std::size_t i = 0; i < kScalable.size(); ++i) {
    if (chosen.speed[i] > 0 && chosen.speed[i] != 1) {
      request.scale.emplace_back(kScalable[i], 1 / chosen.speed[i]);
    }
  }
  return request;
}

std::string WhatIfCommand(const Diagnosis& diagnosis, const WhatIf& chosen,
                          const std::string& trace, const std::string& loader) {
  if (trace.empty()) return "";
  const WhatIf recorded = Recorded(diagnosis);
  const analyzer::Changes& changes = chosen.changes;
  std::vector<std::string> words = {"penstock", "whatif", trace};
  const auto add = [&](bool given, const char* option, const std::string& value) {
    if (given) words.insert(words.end(), {option, value});
  };
  const auto add_flag = [&](bool given, const char* option) {
    if (given) words.emplace_back(option);
  };
  add(!loader.empty(), "--loader", loader);
  add(true, "--workers", std::to_string(chosen.workers));
  add(true, "--prefetch", std::to_string(chosen.prefetch));
  add(chosen.batch != recorded.batch, "--batch", std::to_string(chosen.batch));
  add(chosen.step >= 0, "--step-ms", fmt::format("{:.7g}", chosen.step * 1e3));
  add(chosen.pin != recorded.pin, "--pin", chosen.pin ? "1" : "0");
  add(chosen.persistent != recorded.persistent, "--persistent", chosen.persistent ? "1" : "0");
  std::string speeds;
  for (std::size_t i = 0; i < kScalable.size(); ++i) {
    if (chosen.speed[i] == 1) continue;
    speeds += fmt::format("{}{}={:.3g}", speeds.empty() ? "" : ",",
                          analyzer::FactorName(kScalable[i]), chosen.speed[i]);
  }
  add(!speeds.empty(), "--speedup", speeds);
  add(!changes.decoder.empty(), "--decoder", changes.decoder);
  add(!changes.transfer.empty(), "--transfer", changes.transfer);
  add(changes.resize > 0, "--offline-resize", fmt::format("{:.0f}", changes.resize));
  add_flag(changes.ram_cache, "--ram-cache");
  add_flag(changes.pack, "--pack");
  add_flag(changes.alone, "--alone");
  add(changes.cores > 0, "--cores", fmt::format("{:.4g}", changes.cores));
  add(changes.core_speed != 1, "--core-speed", fmt::format("{:.3g}", changes.core_speed));
  const char* both = changes.gpu_decode ? "decode,augment" : "augment";
  add(changes.gpu_decode || changes.gpu_augment, "--gpu", both);
  return traces::QuoteCommand(words);
}

analyzer::Predicted<WhatIfAnswer> Ask(const Diagnosis& diagnosis, const WhatIf& chosen) {
  if (auto missing = analyzer::NotEnough(diagnosis); !missing.empty()) {
    return analyzer::Refuse(std::move(missing));
  }
  const bool tasks = diagnosis.run.loader().config.sample_tasks;
  // About twenty points at most: more would be too slow to follow the slider.
  const int most = MostWorkers(diagnosis);
  const int stride = std::max(1, (most + 15) / 16);
  std::set<int> counts = {chosen.workers, Recorded(diagnosis).workers};
  for (int w = tasks ? 1 : 0; w <= most; w += stride) counts.insert(w);
  const auto grid = analyzer::PredictGrid(
      diagnosis, RequestOf(diagnosis, chosen, {counts.begin(), counts.end()}));
  PENSTOCK_TRY(grid);
  for (const analyzer::LeftOut& one : grid->left_out) {
    if (one.workers == chosen.workers) return analyzer::Refuse(one.why);
  }
  WhatIfAnswer answer;
  answer.curve = grid->configurations;
  answer.unit = grid->unit;
  answer.notes = grid->notes;
  answer.measured = grid->recorded;
  answer.measured_within = diagnosis.base_interval();
  answer.whole_run = grid->whole_run;
  answer.batches_alone = chosen.workers > 0 && !(diagnosis.loader->facts.worker_bytes > 0);
  answer.rough_memory = chosen.workers > 0 && diagnosis.loader->facts.read.few();
  answer.budget = analyzer::BudgetOf(diagnosis.run.host).ram;
  answer.ranks = diagnosis.run.host.ranks;
  for (const analyzer::Configuration& one : answer.curve) {
    if (one.workers == chosen.workers) answer.chosen = one;
  }
  answer.effect = EffectOf(answer.measured, answer.chosen.predicted.rate);
  if (answer.chosen.recorded) answer.recorded = diagnosis.base_interval();
  analyzer::LoaderConfig config = diagnosis.run.loader().config;
  if (config.batch_size > 0) config.batch_size = chosen.batch;
  config.pin_memory = chosen.pin;
  analyzer::Suggestion suggestion;
  suggestion.workers = chosen.workers;
  suggestion.prefetch = chosen.prefetch;
  suggestion.persistent_workers = chosen.persistent;
  suggestion.changes = true;
  answer.code = analyzer::LoaderCode(config, suggestion);
  return answer;
}

WhatIfMemory ShownMemory(const WhatIfAnswer& answer, Language language) {
  const std::uint64_t bytes = answer.chosen.predicted.ram;
  const bool batches_alone = bytes > 0 && answer.batches_alone;
  WhatIfMemory memory;
  memory.name = batches_alone ? Text::kMemoryOfBatches : Text::kMemory;
  memory.value = bytes > 0 ? analyzer::BytesText(bytes) : "-";
  if (bytes > 0 && answer.rough_memory) {
    memory.value = Filled(Text::kIoAbout, language, memory.value);
  }
  const auto add = [&](const std::string& said) {
    memory.line += (memory.line.empty() ? "" : "  ·  ") + said;
  };
  if (!answer.chosen.fits) add(std::string(TextOf(Text::kTooMuchMemory, language)));
  if (answer.budget > 0) {
    const std::string budget = analyzer::BytesText(static_cast<std::uint64_t>(answer.budget));
    add(answer.ranks > 1 ? Filled(Text::kMemoryBudgetOfRank, language, budget, answer.ranks)
                         : Filled(Text::kMemoryBudget, language, budget));
  }
  if (batches_alone) add(std::string(TextOf(Text::kWorkersMemoryUnknown, language)));
  return memory;
}

std::vector<CurvePoint> PointsOf(const WhatIfAnswer& answer, int recorded, Language language) {
  const auto point = [language](Text name, int workers, double rate, bool is_recorded) {
    std::string text = fmt::format("{} {}", TextOf(name, language), analyzer::ShortNumber(rate));
    return CurvePoint{workers, rate, is_recorded, std::move(text), 0, 0};
  };
  std::vector<CurvePoint> points = {point(Text::kRecordedPoint, recorded, answer.measured, true)};
  points.front().low = answer.measured_within.low;
  points.front().high = answer.measured_within.high;
  if (!answer.recorded) {
    const analyzer::Configuration& chosen = answer.chosen;
    points.push_back(
        point(Text::kChosenPoint, chosen.workers, chosen.predicted.rate.estimate, false));
  }
  return points;
}

std::string AxisText(double rate) {
  return rate >= 1e4 ? fmt::format("{:.4g}k", rate / 1e3) : fmt::format("{:.4g}", rate);
}

double ShownStep(double milliseconds) {
  return std::round(milliseconds * 10) * 1e-4;
}

}  // namespace penstock::gui
