// SPDX-License-Identifier: Apache-2.0
#include "gui/model/panels/memory_words.h"

#include <cmath>

#include "analyzer/report/memory_report.h"
#include "analyzer/words/format.h"

namespace penstock::gui {
namespace {

using analyzer::BytesText;
using analyzer::Growth;
using analyzer::MemoryForecast;
using analyzer::MemoryModel;
using analyzer::TimeAheadText;

MemoryLine GrowthLine(const MemoryModel& memory, Language language) {
  const auto rate = [](const Growth& growth) { return BytesText(60 * growth.per_second.estimate); };
  const bool copied = memory.growth.copied.certain();
  const bool fresh = memory.growth.fresh.certain();
  const MemoryTone tone = copied || fresh ? MemoryTone::kWarn : MemoryTone::kPlain;
  if (copied && fresh) {
    return {Filled(Text::kMemoryGrowsBoth, language, rate(memory.growth.copied),
                   rate(memory.growth.fresh)),
            tone};
  }
  if (copied) {
    const Text text = memory.attributed ? Text::kMemoryGrowsCopied : Text::kMemoryGrows;
    return {Filled(text, language, rate(memory.growth.copied)), tone};
  }
  if (fresh) return {Filled(Text::kMemoryGrowsFresh, language, rate(memory.growth.fresh)), tone};
  return {std::string(TextOf(Text::kMemoryGrowsNot, language)), tone};
}

}  // namespace

std::vector<MemoryLine> MemoryLines(const Analysis& analysis, Language language) {
  std::vector<MemoryLine> lines;
  const analyzer::Diagnosis& diagnosis = analysis.report.diagnosis;
  if (!diagnosis.loader) return lines;
  const MemoryModel& memory = diagnosis.loader->memory;
  const std::vector<MemoryForecast> forecasts = analyzer::MemoryForecasts(diagnosis);
  if (!forecasts.empty() && forecasts.front().out_of_memory) {
    const analyzer::Interval& out = *forecasts.front().out_of_memory;
    lines.push_back(
        {Filled(Text::kMemoryRunsOut, language, TimeAheadText(out.estimate), TimeAheadText(out.low),
                std::isfinite(out.high) ? TimeAheadText(out.high) : std::string("∞")),
         MemoryTone::kBad});
  }
  if (!forecasts.empty() && !forecasts.front().fits_shared) {
    lines.push_back({Filled(Text::kMemoryShmNeeds, language, BytesText(forecasts.front().shared),
                            BytesText(memory.shared.size)),
                     MemoryTone::kBad});
  }
  if (!memory.known) return lines;
  lines.push_back(GrowthLine(memory, language));
  const Text recorded =
      memory.growth.of_epoch() ? Text::kMemoryRecorded : Text::kMemoryRecordedSoFar;
  std::string text;
  for (const MemoryForecast& forecast : forecasts) {
    if (forecast.worker.estimate <= 0) continue;
    text +=
        (text.empty() ? "" : " · ") +
        Filled(forecast.suggested ? Text::kMemorySuggested : recorded, language, forecast.workers,
               BytesText(forecast.worker.estimate), BytesText(forecast.total.estimate));
  }
  if (!text.empty()) lines.push_back({std::move(text), MemoryTone::kPlain});
  return lines;
}

}  // namespace penstock::gui
