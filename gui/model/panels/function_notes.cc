// SPDX-License-Identifier: Apache-2.0
#include <string>
#include <vector>

#include "analyzer/words/format.h"
#include "gui/model/panels/functions.h"
#include "gui/model/words/texts.h"

namespace penstock::gui {
namespace {

Text FollowedText(traces::StageId stage) {
  if (stage == traces::StageId::kCollate) return Text::kFollowedBatches;
  return stage == traces::StageId::kStep ? Text::kFollowedSteps : Text::kFollowedSamples;
}

// "augment 70 %, decode 22 %".
std::string SharesText(const std::vector<StageShare>& shares, analyzer::Language language) {
  std::string text;
  for (const StageShare& one : shares) {
    if (!text.empty()) text += TextOf(Text::kListComma, language);
    text += std::string(TextOf(one.name, language)) + " " + analyzer::PercentText(one.share);
  }
  return text;
}

}  // namespace

UnitNote UnitNoteOf(const UnitProfile& profile, analyzer::Language language) {
  constexpr std::size_t kFew = 8;
  const std::size_t timed = profile.timed();
  const bool few = timed < kFew;
  const bool of_loop = profile.stage == traces::StageId::kStep;
  const std::string units = profile.all < timed
                                ? std::to_string(timed)
                                : Filled(Text::kStageCallsShown, language, timed, profile.all);
  UnitNote note{Filled(FollowedText(profile.stage), language,
                       analyzer::DurationText(profile.unit_time), units),
                few || profile.unusual};
  const auto add = [&note](const std::string& part) { note.text += "  ·  " + part; };
  if (few) add(std::string(TextOf(Text::kUnitFew, language)));
  // The mean of all steps has pauses in it.
  if (profile.mean_time > 0 && (profile.unusual || !of_loop)) {
    add(Filled(profile.unusual ? Text::kUnitUnusual : Text::kUnitMean, language,
               analyzer::DurationText(profile.mean_time)));
  }
  // The shares of unusual units are not of that time.
  if (!profile.unusual) {
    add(Filled(of_loop ? Text::kUnitOfLoop : Text::kUnitOfWorkers, language,
               analyzer::PercentText(profile.of_stage)));
  }
  if (profile.core_wait > 0) {
    add(Filled(Text::kUnitCoreWait, language, analyzer::PercentText(profile.core_wait)));
  }
  if (note.warns && !profile.of_all.empty()) {
    add(Filled(Text::kUnitAllSamples, language, SharesText(profile.of_all, language)));
  }
  return note;
}

std::string LinesNoteOf(const UnitProfile& profile, const FunctionLine& function,
                        analyzer::Language language) {
  if (!function.lined || function.of_cut) return "";
  if (profile.lined == 0 || profile.lined >= profile.units) return "";
  return Filled(Text::kSourceLinesFrom, language, profile.lined, profile.units);
}

std::string SourceNoteOf(const FunctionLine& function, analyzer::Language language) {
  const auto text = [language](Text one) { return std::string(TextOf(one, language)); };
  if (function.id.file.empty()) return text(Text::kSourceCompiled);
  switch (function.state) {
    case SourceState::kChanged:
      return text(Text::kSourceChanged);
    case SourceState::kUndated:
      return text(Text::kSourceUndated);
    case SourceState::kUnreadable:
      return text(Text::kSourceUnreadable);
    case SourceState::kMissing:
      return text(Text::kSourceMissing);
    case SourceState::kAsRun:
      break;
  }
  return "";
}

std::string UnlinedNoteOf(const UnitProfile& profile, const FunctionLine& function,
                          analyzer::Language language) {
  if (function.lined) return "";
  const Text why = !function.takes_most ? Text::kSourceUnlined
                   : profile.lined == 0 ? Text::kSourceUnlinedYet
                                        : Text::kSourceUnlinedLate;
  return std::string(TextOf(why, language));
}

}  // namespace penstock::gui
