// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <limits>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analyzer/stats/quantile.h"
#include "analyzer/words/format.h"
#include "gui/model/panels/workers.h"

namespace penstock::gui {
namespace {

constexpr std::string_view kNotKnown = "–";

std::string AmongRanks(const MemoryCurve& curve, std::string name, Language language) {
  return curve.rank < 0 ? name : Filled(Text::kRankN, language, curve.rank) + " " + name;
}

}  // namespace

std::string MemoryNoteText(const analyzer::Statement& note, const std::string& loader,
                           Language language) {
  std::string text = analyzer::Typeset(Render(note, language));
  return loader.empty() ? text : Filled(Text::kNamed, language, loader, text);
}

std::string NameOfCurve(const MemoryCurve& curve, Language language) {
  if (curve.consumer) {
    return AmongRanks(curve, std::string(TextOf(Text::kTrainingProcess, language)), language);
  }
  if (curve.worker_id < 0) {
    const bool named = !curve.name.empty();
    return AmongRanks(curve, named ? curve.name : std::string(TextOf(Text::kProgram, language)),
                      language);
  }
  std::string name = NameOfWorker(curve, language);
  if (!curve.loader.empty()) name += " · " + curve.loader;
  return AmongRanks(curve, std::move(name), language);
}

std::string KindOfCurve(const MemoryCurve& curve, Language language) {
  if (curve.consumer || curve.worker_id < 0) return NameOfCurve(curve, language);
  return AmongRanks(
      curve,
      curve.loader.empty() ? Filled(Text::kWorkerN, language, curve.worker_id) : curve.loader,
      language);
}

std::vector<CurveStyle> StylesOf(const WorkersModel& model, MemoryKind kind,
                                 std::optional<std::uint32_t> chosen, Language language) {
  const std::vector<MemoryCurve>& curves = model.Of(kind);
  const auto is_chosen = [&](const MemoryCurve& curve) { return curve.process == chosen; };
  const bool one = std::any_of(curves.begin(), curves.end(), is_chosen);
  const double alike = one ? 0 : model.alike(kind);
  std::map<std::string, std::size_t> colours;  // by KindOfCurve()
  std::vector<CurveStyle> styles(curves.size());
  if (alike > 0) {
    for (CurveStyle& style : styles) style.colour = 0;
    styles.front().legend = Filled(Text::kMemoryAlike, language, curves.size(),
                                   analyzer::BytesText(static_cast<std::uint64_t>(alike)));
    return styles;
  }
  for (std::size_t i = 0; i < curves.size(); ++i) {
    const MemoryCurve& curve = curves[i];
    CurveStyle& style = styles[i];
    const std::string of = KindOfCurve(curve, language);
    bool first = true;
    if (!curve.trainer) {
      const auto [known, fresh] = colours.try_emplace(of, colours.size());
      style.colour = known->second;
      first = fresh;
    }
    style.dim = one && !is_chosen(curve);
    if (one && !style.dim) style.legend = NameOfCurve(curve, language);
    if (!one && first) style.legend = of;
  }
  return styles;
}

std::string ReadingsText(const WorkersModel& model, MemoryKind kind, Language language) {
  if (kind == MemoryKind::kRss) return "";  // is read often enough, without a walk of page tables
  std::vector<double> gaps;
  double from = std::numeric_limits<double>::infinity();
  for (const MemoryCurve& curve : model.Of(kind)) {
    if (curve.gap > 0) gaps.push_back(curve.gap);
    from = std::min(from, curve.from);
  }
  const double gap = gaps.empty() ? 0 : analyzer::Median(std::move(gaps));
  if (gap < 1) return "";
  if (from < 0) return Filled(Text::kMemorySeldomInPart, language, analyzer::DurationText(gap));
  return Filled(Text::kMemorySeldom, language, analyzer::DurationText(gap),
                analyzer::DurationText(from));
}

std::string MemoryText(const WorkerLine& worker) {
  if (worker.memory < 0) return std::string(kNotKnown);
  const std::string bytes = analyzer::BytesText(static_cast<std::uint64_t>(worker.memory));
  if (worker.memory_kind == MemoryKind::kUss) return bytes + " USS";
  return bytes + (worker.memory_kind == MemoryKind::kPss ? " PSS" : " RSS");
}

std::string AgainstText(const WorkerLine& worker, Language language) {
  if (worker.slowdown > 0) return fmt::format("{:.2f}×", worker.slowdown);
  if (worker.batches >= kFewBatches) return std::string(kNotKnown);
  return Filled(Text::kFewerBatches, language, kFewBatches);
}

std::string GrowthText(const WorkerLine& worker, Language language) {
  if (worker.memory < 0) return std::string(kNotKnown);
  if (worker.growth_short) return std::string(TextOf(Text::kTooShort, language));
  if (!worker.growth_known) return std::string(kNotKnown);
  if (worker.growth <= 0) return std::string(TextOf(Text::kNoGrowth, language));
  const auto a_minute = static_cast<std::uint64_t>(worker.growth * 60);
  return Filled(Text::kPerMinute, language, "+" + analyzer::BytesText(a_minute));
}

Text LifeRestName(const analyzer::RunModel& run) {
  return run.has_loader() && !run.loader().probes.empty() ? Text::kLifeRestProbed : Text::kLifeRest;
}

std::string StandsOutText(const WorkersModel& model, Language language) {
  if (model.slowest <= 0) return "";
  const WorkerLine& slow = model.workers[model.straggler];
  if (slow.slow) {
    return Filled(Text::kWorkerStandsOut, language, slow.worker_id,
                  fmt::format("{:.1f}", slow.slowdown));
  }
  const std::string times = fmt::format("{:.2f}", slow.slowdown);
  return model.some_few ? Filled(Text::kWorkerNoneOfMany, language, kFewBatches, times)
                        : Filled(Text::kWorkerNoneStandsOut, language, times);
}

}  // namespace penstock::gui
