// SPDX-License-Identifier: Apache-2.0
#include "gui/model/files/compare_notes.h"

#include <algorithm>
#include <set>
#include <utility>

#include <fmt/core.h>

#include "analyzer/words/rule_names.h"

namespace penstock::gui {
namespace {

bool OfTwoPrograms(const CompareAnswer& answer) {
  return answer.comparison.of_two_programs();
}

Tone ToneOf(const CompareAnswer& answer, const analyzer::Change& change, bool better) {
  if (!change.significant || OfTwoPrograms(answer)) return Tone::kPlain;
  return better ? Tone::kGood : Tone::kBad;
}

// `range`: the change with its confidence interval, in words.
CompareNote NoteOf(const CompareAnswer& answer, const analyzer::Change& change, bool better,
                   std::string range, Language language) {
  if (!answer.comparison.enough)
    return {std::string(TextOf(Text::kNotTold, language)), Tone::kPlain};
  if (OfTwoPrograms(answer)) {
    return {std::string(TextOf(Text::kOfTwoPrograms, language)), Tone::kPlain};
  }
  CompareNote note{std::move(range), ToneOf(answer, change, better)};
  if (!change.significant) {
    note.text += "  ·  " + std::string(TextOf(Text::kWithinNoise, language));
  }
  return note;
}

}  // namespace

CompareNote NoteOfRate(const CompareAnswer& answer, Language language) {
  const analyzer::Change& rate = answer.comparison.throughput;
  const auto times = [](double ratio) { return fmt::format("{:.2f}", ratio); };
  return NoteOf(answer, rate, rate.ratio.estimate > 1,
                Filled(Text::kTimesRange, language, times(rate.ratio.estimate),
                       times(rate.ratio.low), times(rate.ratio.high)),
                language);
}

CompareNote NoteOfWait(const CompareAnswer& answer, Language language) {
  const analyzer::Change& wait = answer.comparison.wait;
  const auto points = [](double value) { return fmt::format("{:+.0f}", value); };
  const double shown = analyzer::ShownPoints(wait);
  return NoteOf(answer, wait, wait.after < wait.before,
                Filled(Text::kPointsRange, language, points(shown),
                       points(std::min(shown, 100 * wait.ratio.low)),
                       points(std::max(shown, 100 * wait.ratio.high))),
                language);
}

Text WordOfChange(const CompareAnswer& answer, const analyzer::Change& change) {
  if (!answer.comparison.enough) return Text::kNotTold;
  if (!change.significant) return Text::kWithinNoise;
  return change.after < change.before ? Text::kLess : Text::kMore;
}

Tone ToneOfStage(const CompareAnswer& answer, const analyzer::Change& change) {
  return ToneOf(answer, change, change.ratio.estimate < 1);
}

Tone ToneOfGoneFindings(const CompareAnswer& answer) {
  const analyzer::Change& rate = answer.comparison.throughput;
  const Tone tone = ToneOf(answer, rate, rate.ratio.estimate > 1);
  return tone == Tone::kGood ? tone : Tone::kPlain;
}

std::string NoteOfFindings(const CompareAnswer& answer, Language language) {
  if (answer.gone.empty() && answer.fresh.empty()) return "";
  return std::string(TextOf(Text::kFindingsOfOne, language));
}

std::string FindingsInBoth(const CompareAnswer& answer, Language language) {
  std::set<std::string_view> seen;
  std::string names;
  for (const analyzer::Finding& finding : answer.in_both) {
    if (!seen.insert(finding.id).second) continue;
    if (!names.empty()) names += TextOf(Text::kListComma, language);
    names += Render(analyzer::RuleName(finding.id), language);
  }
  return seen.empty() ? "" : Filled(Text::kFindingsSame, language, seen.size(), names);
}

}  // namespace penstock::gui
