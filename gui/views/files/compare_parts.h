// SPDX-License-Identifier: Apache-2.0
//
// The panels of the compare view; one file each.
#pragma once

#include "gui/model/files/compare_notes.h"
#include "gui/views/workspace.h"

namespace penstock::gui {

// The colour of what is better or worse; muted where nothing is judged.
[[nodiscard]] Rgb JudgedColour(const Ui& ui, Tone tone);
// The colour of a side: A is muted, B has the accent.
[[nodiscard]] Rgb SideColour(const Ui& ui, bool b);

// Draws the time of a sample in each stage for both sides, and how sure the difference is.
void DrawCompareStages(const Ui& ui, const CompareAnswer& answer, Area area);
// Settings that differ, and findings that are new or gone. Long values are wrapped.
[[nodiscard]] float CompareSettingsHeight(const Ui& ui, const std::vector<SettingChange>& settings,
                                          float width);
void DrawCompareSettings(const Ui& ui, const std::vector<SettingChange>& settings, Area area);
void DrawCompareFindings(const Ui& ui, const CompareAnswer& answer, Area area);

}  // namespace penstock::gui
