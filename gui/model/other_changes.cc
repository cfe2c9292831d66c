// SPDX-License-Identifier: Apache-2.0
#include "gui/model/other_changes.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include <fmt/core.h>

#include "analyzer/diagnosis/summary.h"
#include "analyzer/words/format.h"
#include "traces/host_facts.h"

namespace penstock::gui {
namespace {

struct NamedOption {
  std::string_view option;
  Text name;
};
// All options that TryChanges() tries.
constexpr std::array kNamedOptions = {NamedOption{"--ram-cache", Text::kRamCache},
                                      NamedOption{"--pack", Text::kPacked},
                                      NamedOption{"--decoder simplejpeg", Text::kFasterDecoder},
                                      NamedOption{"--transfer u8", Text::kPixelsAsBytes},
                                      NamedOption{"--gpu augment", Text::kAugmentOnGpu},
                                      NamedOption{"--gpu decode,augment", Text::kDecodeOnGpu}};

std::string NameOfOption(const std::string& option, Language language) {
  for (const NamedOption& named : kNamedOptions) {
    if (named.option == option) return std::string(TextOf(named.name, language));
  }
  return option;
}

}  // namespace

OtherChanges OtherChangesOf(const analyzer::Report& report, Language language) {
  constexpr std::size_t kMostShown = 3;
  using analyzer::ShortNumber;
  OtherChanges changes;
  const std::string unit = Render(analyzer::RateUnit(report.diagnosis), language);
  std::string others;
  for (std::size_t i = 0; i < report.changes.size(); ++i) {
    const analyzer::TriedChange& tried = report.changes[i];
    if (i >= kMostShown) {
      if (!others.empty()) others += TextOf(Text::kListComma, language);
      others += NameOfOption(tried.option, language);
      continue;
    }
    const Forecast forecast = ForecastOf(report.diagnosis, tried.predicted);
    OtherChange change;
    change.name = NameOfOption(tried.option, language);
    change.option = tried.option;
    change.command =
        traces::QuoteCommand({"penstock", "whatif", report.trace}) + " " + tried.option;
    change.rate = fmt::format("{} {}{}{}", ShortNumber(forecast.after.estimate), unit,
                              TextOf(Text::kComma, language),
                              Filled(Text::kInterval, language, ShortNumber(forecast.after.low),
                                     ShortNumber(forecast.after.high)));
    change.gain = GainText(forecast.speedup);
    change.effect = forecast.effect;
    for (const analyzer::Statement& note : tried.notes) {
      change.notes +=
          (change.notes.empty() ? "" : "\n") + analyzer::Typeset(Render(note, language));
    }
    changes.shown.push_back(std::move(change));
  }
  if (!others.empty()) {
    changes.more = Filled(Text::kMoreChanges, language, report.changes.size() - kMostShown, others);
  }
  return changes;
}

Text HeadingOfGains(const analyzer::Report& report, bool planned) {
  if (!planned) return Text::kSuggestion;
  return report.changes.empty() ? Text::kIfFree : Text::kPlanEachAlone;
}

}  // namespace penstock::gui
