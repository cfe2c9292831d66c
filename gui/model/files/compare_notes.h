// SPDX-License-Identifier: Apache-2.0
//
// What the compare view says below its figures: how much a figure has changed, and whether that is
// better. Too few batches tell nothing, and a figure of one program is neither better nor worse
// than that of another. Pure.
#pragma once

#include <string>

#include "gui/model/cards.h"
#include "gui/model/files/compare.h"

namespace penstock::gui {

struct CompareNote {
  std::string text;
  Tone tone = Tone::kPlain;  // kGood, kBad, or kPlain where nothing is judged
};
[[nodiscard]] CompareNote NoteOfRate(const CompareAnswer& answer, Language language);
[[nodiscard]] CompareNote NoteOfWait(const CompareAnswer& answer, Language language);

// The word for the change of a stage: less, more, within noise, too few batches to tell.
[[nodiscard]] Text WordOfChange(const CompareAnswer& answer, const analyzer::Change& change);
// Less time in a stage is better.
[[nodiscard]] Tone ToneOfStage(const CompareAnswer& answer, const analyzer::Change& change);
// A finding that only A has is good news only where B is faster: a run that computes half as much
// has no full cores either.
[[nodiscard]] Tone ToneOfGoneFindings(const CompareAnswer& answer);
// A rule reports from a threshold on, so what one run alone has may be in the other too. Empty if
// both runs have the same findings.
[[nodiscard]] std::string NoteOfFindings(const CompareAnswer& answer, Language language);
// Names the rules that found something in both, each once: "2 in both: slow storage, a cold page
// cache". Empty if there are none.
[[nodiscard]] std::string FindingsInBoth(const CompareAnswer& answer, Language language);

}  // namespace penstock::gui
