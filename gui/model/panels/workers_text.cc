// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <string>
#include <string_view>

#include "analyzer/words/format.h"
#include "gui/model/panels/workers.h"

namespace penstock::gui {
namespace {

constexpr std::string_view kNotKnown = "–";

}  // namespace

std::string MemoryNoteText(const analyzer::Statement& note, const std::string& loader,
                           Language language) {
  std::string text = analyzer::Typeset(Render(note, language));
  return loader.empty() ? text : Filled(Text::kNamed, language, loader, text);
}

std::string NameOfCurve(const MemoryCurve& curve, Language language) {
  if (curve.consumer) return std::string(TextOf(Text::kTrainingProcess, language));
  if (curve.worker_id < 0) return curve.name;
  const std::string name = NameOfWorker(curve, language);
  return curve.loader.empty() ? name : name + " · " + curve.loader;
}

std::string KindOfCurve(const MemoryCurve& curve, Language language) {
  if (curve.consumer || curve.worker_id < 0) return NameOfCurve(curve, language);
  return curve.loader.empty() ? Filled(Text::kWorkerN, language, curve.worker_id) : curve.loader;
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
